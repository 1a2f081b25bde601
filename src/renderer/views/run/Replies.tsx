import { Columns3, GitBranch, GitCompare, RotateCcw, Square } from 'lucide-react';
import type { ContextId, Turn } from '../../../core/contract/index.js';
import { Button, describeProblem, ProblemLine, say } from '../../parts';
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
          <Button small icon={Square} onClick={job.stop}>
            Stop
          </Button>
        ) : (
          <Button small icon={RotateCcw} onClick={() => void startRun(job.project, input)}>
            Run again
          </Button>
        )}
        {job.state === 'done' && input.provider === 'recorded' && commits.length === 0 && (
          <Button small icon={GitBranch} onClick={() => void startRun(job.project, { ...input, keep: true })}>
            Keep as branch
          </Button>
        )}
        {commits.length > 1 && (
          <Button
            small
            icon={Columns3}
            onClick={() => go({ view: 'compare', commit: commits[0], against: turn.turnId, others: commits.slice(1).join(','), entry: undefined })}
          >
            Compare all
          </Button>
        )}
        {commits.length === 1 && (
          <Button small icon={GitCompare} onClick={() => openComparison(commits[0], turn.turnId)}>
            Compare with recorded reply
          </Button>
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
