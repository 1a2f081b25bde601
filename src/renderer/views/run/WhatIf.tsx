import { ArrowRight, GitCompare, Play, Split, Square } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, DivergenceLimit, Following } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, describeProblem, Empty, ProblemLine, Select, say, sending } from '../../parts';
import { go, openComparison, startWhatIf, useProjectQuery, useWhatIfs, type WhatIfInput, type WhatIfJob, type WhatIfTurn } from '../../state';
import { ProviderChoice, ProviderHint, type ReplySource, rememberProvider, useChoice } from './ProviderChoice';
import { Reply } from './Reply';

interface WhatIfProps {
  readonly project: string;
  /** The tip of the branch that the new turns are appended to. */
  readonly id: ContextId;
  readonly model: string | null;
  readonly providers: readonly ReplySource[];
}

/** What if: sends the prompts of the original's later turns on this branch, one by one. */
export function WhatIf({ project, id, model, providers }: WhatIfProps) {
  const [original, setOriginal] = useState<ContextId>();
  const query = useProjectQuery('', `${project} ${id} ${original} following`, (signal) =>
    api.turn.following({ id, ...(original && { original }) }, { signal }),
  );
  const jobs = useWhatIfs(({ jobs: all }) => all).filter((job) => job.project === project && job.branch === id);
  return (
    <div className="run-body rest">
      <Answer
        query={query}
        what="Cannot load the later turns"
        loading="Loading the later turns"
        stillWorks="You can still run this turn again."
        lines={8}
      >
        {(following) =>
          following.original === null ? (
            <Empty
              title="No original to follow"
              picture={Split}
              acts={[{ name: 'Select a fork in the chain', look: 'primary', act: () => go({ view: 'chain' }) }]}
            >
              The later turns of the original appear here when the selected branch is a fork. Fork an earlier turn to send its later prompts again.
            </Empty>
          ) : (
            <WhatIfForm
              following={following}
              original={following.original}
              defaultModel={model}
              providers={providers}
              isRunning={jobs.some((job) => job.state === 'running')}
              onOriginal={setOriginal}
              onRun={(input) => void startWhatIf(project, id, { ...input, id })}
            />
          )
        }
      </Answer>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <div className="run-replies" tabIndex={0} role="log" aria-label="Replies">
        {jobs.length === 0 ? (
          <p className="muted reply-hint">
            New turns appear here and become commits on this branch. A run stops where a reply differs from the original; you can continue from there.
          </p>
        ) : (
          jobs.toReversed().map((job) => <WhatIfRun key={job.id} job={job} isLast={job === jobs[0]} />)
        )}
      </div>
    </div>
  );
}

const endings = {
  diverged: 'Diverged from the original',
  open_call: 'Tool call without a result',
  canceled: 'Stopped',
  failed: 'Failed',
} as const;

/** One what-if run: its turns as they arrive, and why it ended. */
function WhatIfRun({ job, isLast }: { job: WhatIfJob; isLast: boolean }) {
  const { turns, state, result, input } = job;
  return (
    <section className="replies" aria-label={`What-if run with ${input.provider}`}>
      <header className="replies-head row wrap">
        <b>{input.provider === 'recorded' ? 'Recording' : (input.model ?? input.provider)}</b>
        <span className="muted">
          {say.plural(turns.length, 'turn')} · {state === 'running' ? 'running' : result?.stopped ? endings[result.stopped.why].toLowerCase() : state}
        </span>
        <span className="grow" />
        {state === 'running' && <Button small icon={Square} label="Stop" onClick={job.stop} />}
        {result && result.commits.length > 0 && (
          <Button small icon={GitCompare} label="Compare with the original" onClick={() => openComparison(result.tip, input.original)} />
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

const limits: Record<DivergenceLimit, string> = {
  calls: 'tool calls differ',
  words: 'anything differs',
  never: 'the original ends',
};

const onlyRecording: readonly ReplySource[] = [{ id: 'recorded', title: 'Recording', models: [] }];

interface WhatIfFormProps {
  readonly following: Following;
  readonly original: ContextId;
  readonly defaultModel: string | null;
  readonly providers: readonly ReplySource[];
  readonly isRunning: boolean;
  readonly onOriginal: (id: ContextId) => void;
  readonly onRun: (input: Omit<WhatIfInput, 'id'>) => void;
}

/** Chooses the original whose prompts are sent, the provider that replies, and when the run stops. */
function WhatIfForm(props: WhatIfFormProps) {
  const { following, original, defaultModel, providers, isRunning, onOriginal, onRun } = props;
  const choice = useChoice(providers);
  const { provider, model, unanswered } = choice;
  const [stopAt, setStopAt] = useState<DivergenceLimit>('calls');
  const count = following.turns.length + (following.answersFirst ? 1 : 0);
  return (
    <form
      className="ask on-pane stack small"
      aria-label="What-if run"
      onSubmit={sending(() => {
        rememberProvider(provider);
        onRun({ original, provider, model: model.trim() || undefined, stopAt, unanswered });
      })}
    >
      <ProviderChoice {...choice} providers={providers.length ? providers : onlyRecording} defaultModel={defaultModel}>
        <Select before="Stop when" label="Stop when" value={stopAt} options={Object.entries(limits)} onChange={setStopAt} />
      </ProviderChoice>
      <ProviderHint provider={provider} ofRecording="The recorded replies are appended to this branch, with its edits." />
      <OriginalChoice following={following} original={original} onChange={onOriginal} />
      <NextTurns following={following} />
      <footer className="ask-foot gap-12 line-above on-pane row wrap">
        <span className="grow muted">{say.plural(count, 'turn')} to run</span>
        <Button type="submit" look="primary" icon={Play} label={isRunning ? 'Running' : 'Run these turns'} disabled={count === 0 || isRunning} />
      </footer>
    </form>
  );
}

function OriginalChoice(props: { following: Following; original: ContextId; onChange: (id: ContextId) => void }) {
  const { following, original, onChange } = props;
  if (following.originals.length < 2) return null;
  return (
    <label className="what-if-original row">
      <span className="muted">Original</span>
      <Select
        className="grow"
        label="Original branch"
        value={original}
        options={following.originals.map(({ id, turns, summary }) => [
          id,
          `${say.shortId(id)} · ${say.plural(turns, 'commit')} · ${say.firstLine(summary ?? '', 60)}`,
        ])}
        onChange={onChange}
      />
    </label>
  );
}

function NextTurns({ following: { turns, answersFirst } }: { following: Following }) {
  return (
    <ol className="what-if-turns line-above" aria-label="Next prompts">
      {answersFirst && <li className="muted">First, the model replies to the last message of this branch.</li>}
      {turns.map((turn) => (
        <li key={turn.turnId} className="ellipsis" title={turn.trigger.text ?? ''}>
          {say.firstLine(turn.trigger.text ?? '')}
        </li>
      ))}
      {turns.length === 0 && !answersFirst && <li className="muted">None: this branch has as many turns as the original.</li>}
    </ol>
  );
}
