import { Columns3, GitBranch, GitCompare, RotateCcw, Square } from 'lucide-react';
import type { ContextId, Entry, Turn } from '../../../core/contract/index.js';
import { Button, describeProblem, EntryView, ProblemLine, say, ToolView } from '../../parts';
import { go, openComparison, type RunJob, startRun } from '../../state';
import { Reply } from './Reply';

/** One run: its samples side by side, as they arrive. */
export function Replies({ job, turn }: { job: RunJob; turn: Turn }) {
  const { samples, input } = job;
  const commits = samples.flatMap((sample): ContextId[] => (sample.commit ? [sample.commit] : []));
  const changes = (input.edits?.length ?? 0) + Object.keys(input.request ?? {}).length;
  return (
    <section className="replies" aria-label={`Run with ${input.provider}`}>
      <header className="replies-head row wrap">
        <b>{input.provider === 'recorded' ? 'Recording' : (input.model ?? input.provider)}</b>
        <span className="muted">
          {say.plural(samples.length, 'sample')}, {changes === 0 ? 'request unchanged' : say.plural(changes, 'change')} · {job.state}
        </span>
        <span className="grow" />
        {job.state === 'running' ? (
          <Button small icon={Square} label="Stop" onClick={job.stop} />
        ) : (
          <Button small icon={RotateCcw} label="Run again" onClick={() => void startRun(job.project, input)} />
        )}
        {job.state === 'done' && input.provider === 'recorded' && commits.length === 0 && (
          <Button small icon={GitBranch} label="Keep as branch" onClick={() => void startRun(job.project, { ...input, keep: true })} />
        )}
        {commits.length > 1 && (
          <Button
            small
            icon={Columns3}
            label="Compare all"
            onClick={() => go({ view: 'compare', commit: commits[0], against: turn.turnId, others: commits.slice(1).join(','), entry: undefined })}
          />
        )}
        {commits.length === 1 && (
          <Button small icon={GitCompare} label="Compare with recorded reply" onClick={() => openComparison(commits[0], turn.turnId)} />
        )}
      </header>
      {job.state === 'failed' && samples.every((sample) => sample.state !== 'failed') && (
        <ProblemLine>{describeProblem(job.error).message} The project was not changed.</ProblemLine>
      )}
      <div className="replies-row">
        {samples.map((sample, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: samples have no identity but their number
          <Reply key={n} sample={sample} number={n + 1} isAlone={samples.length === 1} turnId={turn.turnId} />
        ))}
      </div>
    </section>
  );
}

/** The recorded reply of the turn, for comparison. */
export function RecordedReply({ turn, isAlone }: { turn: Turn; isAlone: boolean }) {
  return (
    <article className="reply stack" aria-label="Recorded reply">
      <header className="reply-head line-below row wrap small">
        <b>Recorded reply</b>
        <span className="mono muted">{turn.model ?? 'model not recorded'}</span>
        <span className="grow" />
        <span className="muted">{turn.usage?.output != null ? `${say.compact(turn.usage.output)} tok out` : ''}</span>
      </header>
      <div className="reply-body gap-8 stack">
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
