import { Columns3, GitCompare, RotateCcw, Square } from 'lucide-react';
import type { ContextId, Turn } from '../../../core/contract/index.js';
import { Button, ProblemLine, problemOf, say } from '../../parts';
import { go, type RunJob, startRun } from '../../state';
import { Reply } from './Reply';

const stateWords = { running: 'running', done: 'done', stopped: 'stopped', failed: 'failed' } as const;

/** A run: its samples side by side, as they arrive. */
export function Replies({ job, turn }: { job: RunJob; turn: Turn }) {
  const { samples, input } = job;
  const commits = samples.flatMap((sample): ContextId[] => (sample.commit ? [sample.commit] : []));
  const changes = (input.edits?.length ?? 0) + Object.keys(input.request ?? {}).length;
  return (
    <section className="replies" aria-label={`Run of ${input.provider}`}>
      <header className="replies-head">
        <b>{input.provider === 'recorded' ? 'The recording' : (input.model ?? input.provider)}</b>
        <span className="muted">
          {say.plural(samples.length, 'sample')}, {changes === 0 ? 'asked as it was' : say.plural(changes, 'change')} · {stateWords[job.state]}
        </span>
        <span className="grow" />
        {job.state === 'running' ? (
          <Button small icon={Square} onClick={job.stop}>
            Stop
          </Button>
        ) : (
          <Button small icon={RotateCcw} onClick={() => void startRun(job.project, input)}>
            Run once more
          </Button>
        )}
        {commits.length > 1 && (
          <Button
            small
            icon={Columns3}
            onClick={() => go({ view: 'diff', commit: commits[0], against: turn.turnId, others: commits.slice(1).join(','), entry: undefined })}
          >
            Compare them all
          </Button>
        )}
        {commits.length === 1 && (
          <Button small icon={GitCompare} onClick={() => go({ view: 'diff', commit: commits[0], against: turn.turnId, entry: undefined })}>
            Compare with the record
          </Button>
        )}
      </header>
      {job.state === 'failed' && samples.every((sample) => sample.state !== 'failed') && (
        <ProblemLine>{problemOf(job.error).message} Nothing was added to the project.</ProblemLine>
      )}
      <div className="replies-row">
        {samples.map((sample, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: samples have no name but their number
          <Reply key={n} sample={sample} number={n + 1} isAlone={samples.length === 1} turnId={turn.turnId} />
        ))}
      </div>
    </section>
  );
}
