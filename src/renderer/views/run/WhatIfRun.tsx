import { ArrowRight, GitCompare, Split, Square } from 'lucide-react';
import { Button, describeProblem, ProblemLine, say } from '../../parts';
import { openComparison, startWhatIf, type WhatIfJob, type WhatIfTurn } from '../../state';
import { Reply } from './Reply';

const endings = {
  diverged: 'Diverged from the original',
  open_call: 'Tool call without a result',
  canceled: 'Stopped',
  failed: 'Failed',
} as const;

/** One what-if run: its turns as they arrive, and why it ended. */
export function WhatIfRun({ job, isLast }: { job: WhatIfJob; isLast: boolean }) {
  const { turns, state, result, input } = job;
  return (
    <section className="replies" aria-label={`What-if run with ${input.provider}`}>
      <header className="replies-head row wrap">
        <b>{input.provider === 'recorded' ? 'Recording' : (input.model ?? input.provider)}</b>
        <span className="muted">
          {say.plural(turns.length, 'turn')} · {state === 'running' ? 'running' : result?.stopped ? endings[result.stopped.why].toLowerCase() : state}
        </span>
        <span className="grow" />
        {state === 'running' && (
          <Button small icon={Square} onClick={job.stop}>
            Stop
          </Button>
        )}
        {result && result.commits.length > 0 && (
          <Button small icon={GitCompare} onClick={() => openComparison(result.tip, input.original)}>
            Compare with the original
          </Button>
        )}
      </header>
      {turns.map((turn) => (
        <Turn key={turn.turn} turn={turn} job={job} />
      ))}
      {state === 'failed' && <ProblemLine>{describeProblem(job.error).message}</ProblemLine>}
      {result?.stopped && (
        <p className="notice-line what-if-end" role="status">
          <span className="grow">
            {endings[result.stopped.why]}: {result.stopped.what}.
          </span>
          {isLast && result.left > 0 && (
            <Button small icon={ArrowRight} onClick={() => void startWhatIf(job.project, job.branch, { ...input, id: result.tip })}>
              Continue from here
            </Button>
          )}
        </p>
      )}
      {result && !result.stopped && <p className="muted">The original has no further turns.</p>}
    </section>
  );
}

function Turn({ turn: { turn, text, of, sample, divergence }, job }: { turn: WhatIfTurn; job: WhatIfJob }) {
  return (
    <div className="what-if-turn">
      <h3 className="ellipsis" title={text}>
        <span className="muted">{turn}</span> {say.firstLine(text) || 'Last message of the branch'}
      </h3>
      {divergence && (
        <p className={`what-if-divergence muted small ${divergence.kind}`}>
          <Split size={13} aria-hidden /> {divergence.kind === 'calls' ? 'Different tool calls' : 'Different text'}: {divergence.what}.
        </p>
      )}
      <Reply sample={sample} number={turn} isAlone turnId={of ?? job.input.original} />
    </div>
  );
}
