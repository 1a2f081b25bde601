import type { Entry, Turn } from '../../../core/contract/index.js';
import { EntryView, say, ToolView } from '../../parts';

/** The recorded reply of the turn, for comparison. */
export function RecordedReply({ turn, isAlone }: { turn: Turn; isAlone: boolean }) {
  return (
    <article className="reply stack" aria-label="Recorded reply">
      <header className="reply-head row wrap small">
        <b>Recorded reply</b>
        <span className="mono muted">{turn.model ?? 'model not recorded'}</span>
        <span className="grow" />
        <span className="muted">{turn.usage?.output != null ? `${say.compact(turn.usage.output)} tok out` : ''}</span>
      </header>
      <div className="reply-body stack">
        {turn.output.length === 0 ? (
          <p className="muted reply-none">The model did not reply in this turn.</p>
        ) : (
          turn.output.map((entry) => <RecordedEntry key={entry.key} entry={entry} output={turn.output} />)
        )}
      </div>
      {isAlone && (
        <p className="muted reply-hint">New replies appear here. Change the request if you like, then choose Run. Each reply becomes a branch.</p>
      )}
    </article>
  );
}

function RecordedEntry({ entry, output }: { entry: Entry; output: readonly Entry[] }) {
  const isSame = (other: Entry): boolean => other.toolCallId !== undefined && other.toolCallId === entry.toolCallId;
  if (entry.kind === 'tool_call')
    return <ToolView call={entry} result={output.find((other) => other.kind === 'tool_result' && isSame(other)) ?? null} />;
  if (entry.kind === 'tool_result' && output.some((other) => other.kind === 'tool_call' && isSame(other))) return null;
  return <EntryView entry={entry} />;
}
