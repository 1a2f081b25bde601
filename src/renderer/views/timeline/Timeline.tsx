import { MessageSquare, Plus } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Entity, Space, TimelineMessage } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, IconButton, say } from '../../parts';
import { go, move, useNavigation, useQuery } from '../../state';
import { ToCommit } from '../NoCommit';
import { Chat } from './Chat';
import { NewSpace } from './NewSpace';
import { Reader } from './Reader';
import { Writer } from './Writer';

/** Spaces of the project, or the selected context in the same form. */
export function TimelineView({ project }: { project: string }) {
  const { commit, space } = useNavigation(({ route }) => route);
  const [round, setRound] = useState(0);
  const [making, setMaking] = useState(false);
  const again = useCallback(() => setRound((n) => n + 1), []);
  const query = useQuery(`${project} spaces ${round}`, async () => {
    const [spaces, entities] = await Promise.all([api.space.list({}), api.space.entities({})]);
    const me = entities.find((entity) => entity.type === 'human');
    const mine = me ? await api.space.list({ entityId: me.entityId }) : [];
    const unread = new Map(mine.map((one) => [one.spaceId, one.unread]));
    return { spaces: spaces.map((one) => ({ ...one, unread: unread.get(one.spaceId) ?? 0 })), entities };
  });
  return (
    <Answer query={query} what="The spaces of this project cannot be shown" loading="Reading spaces">
      {({ spaces, entities }) => {
        const chosen = spaces.find((one) => one.spaceId === space);
        return (
          <section className="timeline" aria-label="Timeline">
            <SpaceList spaces={spaces} chosen={chosen} hasContext={commit !== undefined} onNew={() => setMaking(true)} />
            {chosen ? (
              <SpaceShown key={chosen.spaceId} project={project} space={chosen} round={round} onChange={again} />
            ) : commit ? (
              <ContextShown key={commit} project={project} commit={commit} />
            ) : (
              <Empty
                title="Nothing is chosen"
                picture={<MessageSquare size={48} strokeWidth={1} />}
                actions={
                  <>
                    <ToCommit />
                    <Button icon={Plus} onClick={() => setMaking(true)}>
                      Make a space
                    </Button>
                  </>
                }
              >
                A space is where people and agents write to each other. Any imported context reads the same way.
              </Empty>
            )}
            {making && (
              <NewSpace
                known={entities}
                onClose={() => setMaking(false)}
                onMade={(made) => {
                  setMaking(false);
                  again();
                  move({ space: made.spaceId });
                }}
              />
            )}
          </section>
        );
      }}
    </Answer>
  );
}

function SpaceList(props: { spaces: readonly (Space & { unread: number })[]; chosen: Space | undefined; hasContext: boolean; onNew: () => void }) {
  const { spaces, chosen, hasContext, onNew } = props;
  return (
    <nav className="space-list" aria-label="Spaces">
      <header>
        <h3 className="grow">Spaces</h3>
        <IconButton small icon={Plus} label="Make a space" onClick={onNew} />
      </header>
      <ul>
        {hasContext && (
          <li>
            <button type="button" aria-current={chosen === undefined ? 'true' : undefined} onClick={() => move({ space: undefined })}>
              <span className="ellipsis">This context</span>
              <span className="muted ellipsis">as a timeline</span>
            </button>
          </li>
        )}
        {spaces.map((space) => (
          <li key={space.spaceId}>
            <button type="button" aria-current={space === chosen ? 'true' : undefined} onClick={() => move({ space: space.spaceId })}>
              <span className="space-name">
                <span className="ellipsis grow">{space.name ?? space.spaceId}</span>
                {space.unread > 0 && space !== chosen && (
                  <span className="badge" title={`${space.unread} unread`}>
                    {space.unread}
                  </span>
                )}
              </span>
              <span className="muted ellipsis">
                {say.plural(space.messages, 'message')}
                {space.lastMessageAt && ` · ${say.when(space.lastMessageAt)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const nameOf = (entity: Entity): string => entity.name;

/** How many messages of a space the chat shows; the window of an agent is its own. */
const chatLimit = 2_000;

function SpaceShown({ project, space, round, onChange }: { project: string; space: Space; round: number; onChange: () => void }) {
  const agents = space.members.filter((member) => member.type === 'agent');
  const people = space.members.filter((member) => member.type === 'human');
  // Who reads: an agent as it would now, or one of its runs as it was called.
  const [reader, setReader] = useState(agents[0] && `agent ${agents[0].entityId}`);
  const [budget, setBudget] = useState(50);
  const [pointed, setPointed] = useState<string>();
  // One person sits here: the first human of the space is who reads and writes.
  const me = people[0]?.entityId;

  const key = `${project} ${space.spaceId} ${round}`;
  const query = useQuery(key, async () => {
    const [{ messages }, { memberships }, runs] = await Promise.all([
      api.space.messages({ spaceId: space.spaceId, limit: chatLimit }),
      api.space.get({ spaceId: space.spaceId }),
      api.run.list({}),
    ]);
    const here = new Set(space.members.map((member) => member.entityId));
    return { messages, memberships, runs: runs.filter((run) => here.has(run.entityId)) };
  });
  const [form, id] = reader?.split(' ', 2) ?? [];
  const preview = useQuery(id === undefined ? null : `${key} ${reader} ${budget}`, () =>
    form === 'run' ? api.run.timeline({ runId: id ?? '', budget }) : api.run.preview({ spaceId: space.spaceId, entityId: id ?? '', budget }),
  );

  // What is shown is read: the person's own mark follows, and is never set back.
  const newest = query.status === 'done' ? query.data.messages.at(-1)?.messageId : undefined;
  const [dividerAfter, setDivider] = useState<string | null>();
  const mark = query.status === 'done' ? query.data.memberships.find((one) => one.entityId === me)?.lastSeenMessageId : undefined;
  useEffect(() => {
    if (mark !== undefined && dividerAfter === undefined) setDivider(mark);
  }, [mark, dividerAfter]);
  useEffect(() => {
    if (me && newest && newest !== mark && mark !== undefined)
      void api.space.read({ spaceId: space.spaceId, entityId: me, lastMessageId: newest }).catch(() => undefined);
  }, [me, newest, mark, space.spaceId]);

  return (
    <>
      <div className="timeline-chat">
        <header className="timeline-head">
          <h2 className="ellipsis">{space.name ?? space.spaceId}</h2>
          <span className="muted ellipsis grow">{space.members.map(nameOf).join(', ')}</span>
        </header>
        <Answer query={query} what="This space cannot be read" loading="Reading messages">
          {({ messages, runs }) => (
            <>
              <Chat
                messages={messages.map(
                  (message): TimelineMessage => ({
                    id: message.messageId,
                    at: message.at,
                    sender: message.sender,
                    text: message.text,
                    ...(message.origin && { origin: message.origin }),
                  }),
                )}
                selfId={undefined}
                dividerAfter={me === undefined ? undefined : dividerAfter}
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
          <Empty title="No agent is here">An agent that joins this space would read it; what it reads stands here.</Empty>
        ) : (
          <>
            <header className="timeline-head">
              <label className="timeline-field">
                <span className="muted">Read by</span>
                <select className="field" value={reader} onChange={(event) => setReader(event.target.value)}>
                  <optgroup label="If it were called now">
                    {agents.map((agent) => (
                      <option key={agent.entityId} value={`agent ${agent.entityId}`}>
                        {agent.name}
                      </option>
                    ))}
                  </optgroup>
                  {query.status === 'done' && query.data.runs.length > 0 && (
                    <optgroup label="As a run was called">
                      {query.data.runs.slice(0, 50).map((run) => (
                        <option key={run.runId} value={`run ${run.runId}`}>
                          {space.members.find((member) => member.entityId === run.entityId)?.name}, {say.when(run.invokedAt)} ({run.runId})
                        </option>
                      ))}
                    </optgroup>
                  )}
                </select>
              </label>
              <label className="timeline-field">
                <span className="muted">Window</span>
                <input
                  className="field timeline-budget"
                  type="number"
                  min={1}
                  max={10_000}
                  value={budget}
                  onChange={(event) => setBudget(Math.max(1, Math.min(10_000, Number(event.target.value) || 1)))}
                />
              </label>
            </header>
            <Answer query={preview} what="What the agent reads cannot be shown" loading="Rendering">
              {({ input, rendered }) => <Reader rendered={rendered} input={input} pointed={pointed} onPoint={setPointed} />}
            </Answer>
          </>
        )}
      </div>
    </>
  );
}

function ContextShown({ project, commit }: { project: string; commit: NonNullable<ReturnType<typeof useNavigation.getState>['route']['commit']> }) {
  const [pointed, setPointed] = useState<string>();
  const query = useQuery(`${project} ${commit} transcript`, (signal) => api.timeline.transcript({ id: commit }, { signal }));
  return (
    <Answer
      query={query}
      what="This context cannot be shown as a timeline"
      loading="Reading the context"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
    >
      {({ input, rendered }) => <ContextTimeline input={input} rendered={rendered} pointed={pointed} onPoint={setPointed} />}
    </Answer>
  );
}

type Transcript = Awaited<ReturnType<typeof api.timeline.transcript>>;

function ContextTimeline({
  input,
  rendered,
  pointed,
  onPoint,
}: Transcript & { pointed: string | undefined; onPoint: (id: string | undefined) => void }) {
  const messages = useMemo(() => input.history?.messages ?? [], [input]);
  return (
    <>
      <div className="timeline-chat">
        <header className="timeline-head">
          <h2 className="ellipsis">{input.spaces[0]?.name ?? 'This context'}</h2>
          <span className="muted ellipsis grow">{input.spaces[0]?.members.map((member) => member.name ?? 'Unknown').join(', ')}</span>
        </header>
        <Chat
          messages={messages}
          selfId={input.identity.entityId}
          dividerAfter={undefined}
          pointed={pointed}
          onPoint={onPoint}
          onOpen={(id) => go({ view: 'context', entry: id.slice('msg-'.length) as never })}
        />
      </div>
      <div className="timeline-reader">
        <header className="timeline-head">
          <span className="muted">What an agent would read of it</span>
        </header>
        <Reader rendered={rendered} input={input} pointed={pointed} onPoint={onPoint} />
      </div>
    </>
  );
}
