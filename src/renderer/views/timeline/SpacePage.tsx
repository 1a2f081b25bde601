import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Entity, Run, Space, TimelineMessage } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer } from '../../parts';
import { useEvery, useKeptQuery } from '../../state';
import { Beside } from './Beside';
import { Chat } from './Chat';
import { makeList } from './lines';
import { firstUnread, loadSpace, readerOf, type SpaceData } from './space';
import { Writer } from './Writer';

interface SpacePageProps {
  readonly project: string;
  readonly space: Space;
  /** A value that changes when the space must be reloaded. */
  readonly round: string;
  readonly onChange: () => void;
  readonly known: readonly Entity[];
}

/** A space as chat, and the timeline that one of its agents reads. */
export function SpacePage({ project, space, round, onChange, known }: SpacePageProps) {
  const person = readerOf(space);
  const [pointed, setPointed] = useState<string>();
  const [replyTo, setReplyTo] = useState<TimelineMessage>();
  const nameOf = (id: string): string => known.find(({ entityId }) => entityId === id)?.name ?? id;
  const key = `${project} ${space.spaceId} ${round}`;
  const query = useKeptQuery(space.spaceId, key, () => loadSpace(space));
  const data = query.status === 'done' ? query.data : undefined;
  useOpenRuns(space, data, onChange);
  const list = useMemo(() => makeList(data?.messages ?? []), [data]);
  const { dividerBefore, readAll } = useReadMark(space.spaceId, person, data);
  return (
    <>
      <div className="stack shrinks">
        <header className="timeline-head gap-12 rigid line-below row small">
          <h2 className="ellipsis">{space.name ?? space.spaceId}</h2>
          <span className="muted ellipsis grow">{space.members.map(({ name }) => name).join(', ')}</span>
        </header>
        <Answer query={query} what="Cannot load this space" loading="Loading the messages">
          {({ notes, runs }) => (
            <>
              <Chat
                {...{ list, pointed, notes, nameOf }}
                selfId={undefined}
                dividerBefore={dividerBefore}
                onPoint={setPointed}
                onReply={setReplyTo}
                onLatest={readAll}
              />
              <Writer space={space} runs={runs.filter((run) => run.endedAt === null)} replyTo={replyTo} onReplyTo={setReplyTo} onPosted={onChange} />
            </>
          )}
        </Answer>
      </div>
      <Beside {...{ project, space, known, data, pointed, nameOf, onChange }} queryKey={key} onPoint={setPointed} />
    </>
  );
}

/** The first message that was unread when the space was opened, and a function that marks all as read, when the newest is seen. */
function useReadMark(spaceId: string, person: string | undefined, data: SpaceData | undefined) {
  const newest = data?.messages.at(-1)?.id;
  const mark = data?.memberships.find(({ entityId }) => entityId === person)?.lastSeenMessageId;
  const [first, setFirst] = useState<string | null>();
  useEffect(() => {
    if (mark !== undefined && first === undefined) setFirst(mark);
  }, [mark, first]);
  const readAll = useCallback(() => {
    if (person && newest && newest !== mark && mark !== undefined)
      void api.space.read({ spaceId, entityId: person, lastMessageId: newest }).catch(() => undefined);
  }, [person, newest, mark, spaceId]);
  const opened = first === undefined ? mark : first;
  const isKnown = person !== undefined && data !== undefined && opened !== undefined;
  return { dividerBefore: isKnown ? firstUnread(data.messages, opened, person) : undefined, readAll };
}

/** Milliseconds between two checks of the open runs of a space. */
const everyMs = 2_000;

const writeState = (lastMessage: string | undefined, runs: readonly Run[]): string =>
  JSON.stringify([lastMessage, runs.map(({ runId, status }) => `${runId} ${status}`).sort()]);

/** Reloads a space when an open run has changed something. Polls, because the engine does not report the changes of jobs to the window. */
function useOpenRuns({ spaceId, members }: Space, data: SpaceData | undefined, onChange: () => void): void {
  const open = data?.runs.filter(({ endedAt }) => endedAt === null) ?? [];
  const shown = writeState(data?.messages.at(-1)?.id, open);
  const isOpen = open.length > 0;
  const look = async (): Promise<void> => {
    const [{ messages }, running, waiting] = await Promise.all([
      api.space.messages({ spaceId, limit: 1 }),
      api.run.list({ status: 'running' }),
      api.run.list({ status: 'waiting_reply' }),
    ]);
    const ids = new Set(members.map(({ entityId }) => entityId));
    const now = [...running, ...waiting].filter(({ entityId }) => ids.has(entityId));
    if (writeState(messages.at(-1)?.messageId, now) !== shown) onChange();
  };
  useEvery(everyMs, isOpen, () => look().catch(() => {}));
}
