import type { Entry, Turn } from '../../../core/contract/index.js';
import { EntryView, say, ToolView } from '../../parts';

/** The reply that is on record, for comparison. */
export function Recorded({ turn, isAlone }: { turn: Turn; isAlone: boolean }) {
  return (
    <article className="reply" aria-label="The recorded reply">
      <header className="reply-head">
        <b>On record</b>
        <span className="mono muted">{turn.model ?? 'model not recorded'}</span>
        <span className="grow" />
        <span className="muted">{turn.usage?.output != null ? `${say.compact(turn.usage.output)} tok out` : ''}</span>
      </header>
      <div className="reply-body">
        {turn.output.length === 0 ? (
          <p className="muted reply-none">Nothing was answered in this turn.</p>
        ) : (
          turn.output.map((entry) => <Recall key={entry.key} entry={entry} output={turn.output} />)
        )}
      </div>
      {isAlone && (
        <p className="muted reply-hint">Change what is asked, or leave it as it is, and run: replies arrive here, each as a branch of its own.</p>
      )}
    </article>
  );
}

function Recall({ entry, output }: { entry: Entry; output: readonly Entry[] }) {
  const isSame = (other: Entry): boolean => other.toolCallId !== undefined && other.toolCallId === entry.toolCallId;
  if (entry.kind === 'tool_call')
    return <ToolView call={entry} result={output.find((other) => other.kind === 'tool_result' && isSame(other)) ?? null} />;
  if (entry.kind === 'tool_result' && output.some((other) => other.kind === 'tool_call' && isSame(other))) return null;
  return <EntryView entry={entry} />;
}
