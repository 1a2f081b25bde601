import { useEffect, useState } from 'react';
import type { Entity, Run, Space, TimelineMessage } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty } from '../../parts';
import { useQuery } from '../../state';
import { Chat } from './Chat';
import { Reader } from './Reader';
import { ReaderChoice } from './ReaderChoice';
import { Writer } from './Writer';

/** The chat shows at most this many messages. The timeline of an agent has a limit of its own. */
const chatLimit = 2_000;

interface SpacePageProps {
  readonly project: string;
  readonly space: Space;
  /** Changes when the space must be loaded again. */
  readonly round: number;
  readonly onChange: () => void;
}

/** A space as chat, and the timeline that one of its agents reads. */
export function SpacePage({ project, space, round, onChange }: SpacePageProps) {
  const agents = space.members.filter(({ type }) => type === 'agent');
  // The first person of the space is the one who reads and writes in this window.
  const person = space.members.find(({ type }) => type === 'human')?.entityId;
  const [reader, setReader] = useState(agents[0] && `agent ${agents[0].entityId}`);
  const [budget, setBudget] = useState(50);
  const [pointed, setPointed] = useState<string>();
  const key = `${project} ${space.spaceId} ${round}`;
  const query = useQuery(key, () => loadSpace(space));
  const data = query.status === 'done' ? query.data : undefined;
  const dividerAfter = useReadMark(space.spaceId, person, data);
  const [form, id = ''] = reader?.split(' ', 2) ?? [];
  const timeline = useQuery(reader === undefined ? null : `${key} ${reader} ${budget}`, () =>
    form === 'run' ? api.run.timeline({ runId: id, budget }) : api.run.preview({ spaceId: space.spaceId, entityId: id, budget }),
  );
  return (
    <>
      <div className="timeline-chat">
        <header className="timeline-head">
          <h2 className="ellipsis">{space.name ?? space.spaceId}</h2>
          <span className="muted ellipsis grow">{space.members.map(nameOf).join(', ')}</span>
        </header>
        <Answer query={query} what="Cannot load this space" loading="Loading the messages">
          {({ messages, runs }) => (
            <>
              <Chat
                messages={messages}
                selfId={undefined}
                dividerAfter={person === undefined ? undefined : dividerAfter}
                pointed={pointed}
                onPoint={setPointed}
              />
              <Writer space={space} runs={runs.filter((run) => run.endedAt === null)} onPosted={onChange} />
            </>
          )}
        </Answer>
      </div>
      <div className="timeline-reader">
        {reader === undefined ? (
          <Empty title="No agent in this space">The timeline that an agent reads appears here once an agent is a member.</Empty>
        ) : (
          <>
            <ReaderChoice
              space={space}
              agents={agents}
              runs={data?.runs ?? []}
              reader={reader}
              onReader={setReader}
              budget={budget}
              onBudget={setBudget}
            />
            <Answer query={timeline} what="Cannot render the timeline" loading="Rendering">
              {({ input, rendered }) => <Reader rendered={rendered} input={input} pointed={pointed} onPoint={setPointed} />}
            </Answer>
          </>
        )}
      </div>
    </>
  );
}

const nameOf = (entity: Entity): string => entity.name;

interface SpaceData {
  readonly messages: readonly TimelineMessage[];
  readonly memberships: readonly { readonly entityId: string; readonly lastSeenMessageId: string | null }[];
  readonly runs: readonly Run[];
}

async function loadSpace({ spaceId, members }: Space): Promise<SpaceData> {
  const [{ messages }, { memberships }, runs] = await Promise.all([
    api.space.messages({ spaceId, limit: chatLimit }),
    api.space.get({ spaceId }),
    api.run.list({}),
  ]);
  const ids = new Set(members.map((member) => member.entityId));
  return {
    messages: messages.map(
      ({ messageId, at, sender, text, origin }): TimelineMessage => ({ id: messageId, at, sender, text, ...(origin && { origin }) }),
    ),
    memberships,
    runs: runs.filter((run) => ids.has(run.entityId)),
  };
}

/** Marks shown messages as read by the person. Returns the mark from before the space was opened: later messages are new. */
function useReadMark(spaceId: string, person: string | undefined, data: SpaceData | undefined): string | null | undefined {
  const newest = data?.messages.at(-1)?.id;
  const mark = data?.memberships.find(({ entityId }) => entityId === person)?.lastSeenMessageId;
  const [first, setFirst] = useState<string | null>();
  useEffect(() => {
    if (mark !== undefined && first === undefined) setFirst(mark);
  }, [mark, first]);
  useEffect(() => {
    if (person && newest && newest !== mark && mark !== undefined)
      void api.space.read({ spaceId, entityId: person, lastMessageId: newest }).catch(() => undefined);
  }, [person, newest, mark, spaceId]);
  return first;
}
