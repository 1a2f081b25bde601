import { useMemo, useState } from 'react';
import type { ContextId, TimelineRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Unread } from '../../parts';
import { AnswerMemory, go, timelineOf, useQuery, useRanges } from '../../state';
import { CommitAnswer } from '../NoCommit';
import { Chat } from './Chat';
import { type ChatItem, type MessageList, shownSilence } from './lines';
import { Reader } from './Reader';

type TranscriptData = Awaited<ReturnType<typeof api.timeline.transcript>>;

const transcripts = new AnswerMemory<TranscriptData>(3, 'always');

/** The selected context as chat and as timeline. */
export function ContextTimeline({ project, commit }: { project: string; commit: ContextId }) {
  const query = useQuery(`${project} ${commit}`, (signal) => api.timeline.transcript({ id: commit, window: true }, { signal }), transcripts);
  return (
    <CommitAnswer query={query} what="Cannot show this context as a timeline" loading="Loading the context" lines={8}>
      {(data) => <Transcript {...data} project={project} commit={commit} />}
    </CommitAnswer>
  );
}

async function wholeText(id: ContextId, place: number): Promise<string> {
  const { rows } = await api.timeline.rows({ id, offset: place, limit: 1 });
  return rows[0]?.text ?? '';
}

function Transcript({ project, commit, input, rendered, total }: TranscriptData & { project: string; commit: ContextId }) {
  const [pointed, setPointed] = useState<string>();
  const ranges = useRanges(timelineOf(project, commit));
  const version = ranges.version();
  // Only messages in the context window can be pointed at from the text, and these messages have a position.
  const places = useMemo(() => new Map((input.history?.messages ?? []).map(({ id, seq = 0 }) => [id, seq - 1])), [input]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version has other messages
  const list = useMemo(
    (): MessageList => ({ count: total, at: (place) => itemOf(ranges.at(place)), placeOf: (id) => places.get(id) ?? -1, need: ranges.need }),
    [ranges, version, total, places],
  );
  const problem = ranges.problem();
  return (
    <>
      <div className="stack shrinks">
        <header className="timeline-head gap-12 rigid line-below row small">
          <h2 className="ellipsis">{input.spaces[0]?.name ?? 'This context'}</h2>
          <span className="muted ellipsis grow">{input.spaces[0]?.members.map((member) => member.name ?? 'Unknown').join(', ')}</span>
        </header>
        {problem !== undefined && <Unread what="Some messages" error={problem} onRetry={ranges.retry} />}
        <Chat
          list={list}
          selfId={input.identity.entityId}
          pointed={pointed}
          onPoint={setPointed}
          onOpen={(id) => go({ view: 'context', entry: id.slice('msg-'.length) as never })}
          onWhole={(place) => wholeText(commit, place)}
        />
      </div>
      <div className="timeline-reader stack shrinks">
        <header className="timeline-head gap-12 rigid line-below row small">
          <span className="muted">As an agent would read it</span>
        </header>
        <Reader rendered={rendered} input={input} pointed={pointed} onPoint={setPointed} />
      </div>
    </>
  );
}

const itemOf = (row: TimelineRow | undefined): ChatItem | undefined => row && { message: row, gap: shownSilence(row.silence), length: row.length };
