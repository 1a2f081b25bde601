import { ArrowRight, GitCompare, Play, Split, Square } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, DivergenceLimit, Following } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, ProblemLine, problemOf, say } from '../../parts';
import { go, startWhatIf, useKept, useProject, useQuery, useWhatIfs, type WhatIfInput, type WhatIfJob } from '../../state';
import { Reply } from './Reply';
import { lastProvider, type Provider, rememberProvider, type Unanswered, Who } from './Who';

interface WhatIfProps {
  readonly project: string;
  /** The branch: what comes is put on top of it. */
  readonly id: ContextId;
  /** The model that answered on record. */
  readonly model: string | null;
  readonly providers: readonly Provider[];
}

/** What if: what the person said in the original's next turns, said on top of this branch, one by one. */
export function WhatIf({ project, id, model, providers }: WhatIfProps) {
  const [original, setOriginal] = useState<ContextId>();
  const revision = useProject((state) => state.revision);
  const query = useKept(
    useQuery(`${project} ${id} ${original} ${revision} following`, (signal) => api.turn.following({ id, ...(original && { original }) }, { signal })),
  );
  const jobs = useWhatIfs(({ jobs: all }) => all).filter((job) => job.project === project && job.branch === id);
  return (
    <div className="run-body">
      <Answer
        query={query}
        what="The turns after this cannot be read"
        loading="Looking what came after"
        stillWorks="The turn itself can still be run again."
        lines={8}
      >
        {(following) =>
          following.original === null ? (
            <Empty
              title="Nothing to follow"
              picture={<Split size={48} strokeWidth={1} />}
              actions={
                <Button look="primary" onClick={() => go({ view: 'chain' })}>
                  Choose a fork in the chain
                </Button>
              }
            >
              No other branch goes on from where this one comes from. Fork an earlier turn: what was said after it can then be said on the fork.
            </Empty>
          ) : (
            <Plan
              following={following}
              original={following.original}
              model={model}
              providers={providers}
              isRunning={jobs.some((job) => job.state === 'running')}
              onOriginal={setOriginal}
              onRun={(input) => void startWhatIf(project, id, { ...input, id })}
            />
          )
        }
      </Answer>
      <div className="run-replies">
        {jobs.length === 0 ? (
          <p className="muted reply-hint">
            Each turn that is answered arrives here and becomes a commit on this branch. Where tools are called that the record does not have, it
            stops and says so; from there you can go on.
          </p>
        ) : (
          jobs.toReversed().map((job) => <Followed key={job.id} job={job} isLast={job === jobs[0]} />)
        )}
      </div>
    </div>
  );
}

const limits: Record<DivergenceLimit, string> = {
  calls: 'other tools are called',
  words: 'anything else is said',
  never: 'nothing: go to the end',
};

function Plan(props: {
  following: Following;
  original: ContextId;
  model: string | null;
  providers: readonly Provider[];
  isRunning: boolean;
  onOriginal: (id: ContextId) => void;
  onRun: (input: Omit<WhatIfInput, 'id'>) => void;
}) {
  const { following, original, model: usual, providers, isRunning, onOriginal, onRun } = props;
  const { turns, originals, answersFirst } = following;
  const [provider, setProvider] = useState(() => lastProvider(providers));
  const [model, setModel] = useState('');
  const [stopAt, setStopAt] = useState<DivergenceLimit>('calls');
  const [unanswered, setUnanswered] = useState<Unanswered>('ask');
  const count = turns.length + (answersFirst ? 1 : 0);
  return (
    <form
      className="ask"
      aria-label="What is followed"
      onSubmit={(event) => {
        event.preventDefault();
        rememberProvider(provider);
        onRun({ original, provider, model: model.trim() || undefined, stopAt, unanswered });
      }}
    >
      <Who
        providers={providers.length ? providers : [{ id: 'recorded', title: 'As it was recorded', models: [] }]}
        provider={provider}
        onProvider={setProvider}
        model={model}
        onModel={setModel}
        usual={usual}
        unanswered={unanswered}
        onUnanswered={setUnanswered}
      >
        <label>
          <span className="muted">Stop when</span>
          <select className="field" aria-label="Stop when" value={stopAt} onChange={(event) => setStopAt(event.target.value as DivergenceLimit)}>
            {Object.entries(limits).map(([limit, words]) => (
              <option key={limit} value={limit}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </Who>
      <p className="muted ask-words">
        {provider === 'recorded'
          ? 'The recording answers as it did: the turns are carried over onto what was changed.'
          : 'Tools are never run. A call that the recording knows gets the recorded answer; any other waits for you, or ends the run.'}
      </p>
      {originals.length > 1 && (
        <label className="what-if-original">
          <span className="muted">Follows</span>
          <select
            className="field"
            aria-label="The branch that is followed"
            value={original}
            onChange={(event) => onOriginal(event.target.value as ContextId)}
          >
            {originals.map((each) => (
              <option key={each.id} value={each.id}>
                {say.shortId(each.id)} · {say.plural(each.turns, 'commit')} · {say.firstLine(each.summary ?? '', 60)}
              </option>
            ))}
          </select>
        </label>
      )}
      <ol className="what-if-turns" aria-label="What is said next">
        {answersFirst && <li className="muted">First the last words of this branch are answered.</li>}
        {turns.map((turn) => (
          <li key={turn.turnId} className="ellipsis" title={turn.trigger.text ?? ''}>
            {say.firstLine(turn.trigger.text ?? '')}
          </li>
        ))}
        {count === 0 && <li className="muted">Nothing: this branch has as many turns as the original.</li>}
      </ol>
      <footer className="ask-foot">
        <span className="grow muted">{say.plural(count, 'turn')} to come</span>
        <Button type="submit" look="primary" icon={Play} disabled={count === 0 || isRunning}>
          {isRunning ? 'Running' : 'Follow them'}
        </Button>
      </footer>
    </form>
  );
}

const endings = {
  diverged: 'It goes another way here',
  open_call: 'A call stays open',
  canceled: 'Stopped',
  failed: 'It failed',
} as const;

/** A what-if as far as it has come. */
function Followed({ job, isLast }: { job: WhatIfJob; isLast: boolean }) {
  const { turns, state, result, input } = job;
  return (
    <section className="replies" aria-label={`What if, asked of ${input.provider}`}>
      <header className="replies-head">
        <b>{input.provider === 'recorded' ? 'The recording' : (input.model ?? input.provider)}</b>
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
          <Button small icon={GitCompare} onClick={() => go({ view: 'diff', commit: result.tip, against: input.original, entry: undefined })}>
            Compare with the original
          </Button>
        )}
      </header>
      {turns.map((turn) => (
        <div key={turn.turn} className="what-if-turn">
          <h3 className="ellipsis" title={turn.text}>
            <span className="muted">{turn.turn}</span> {say.firstLine(turn.text) || 'The last words of the branch'}
          </h3>
          {turn.divergence && (
            <p className={`what-if-divergence ${turn.divergence.kind}`}>
              <Split size={13} aria-hidden /> {turn.divergence.kind === 'calls' ? 'Another way' : 'Other words'}: {turn.divergence.what}.
            </p>
          )}
          <Reply sample={turn.sample} number={turn.turn} isAlone turnId={turn.of ?? input.original} />
        </div>
      ))}
      {state === 'failed' && <ProblemLine>{problemOf(job.error).message}</ProblemLine>}
      {result?.stopped && (
        <p className="notice-line what-if-end" role="status">
          <span className="grow">
            {endings[result.stopped.why]}: {result.stopped.what}.
          </span>
          {isLast && result.left > 0 && (
            <Button small icon={ArrowRight} onClick={() => void startWhatIf(job.project, job.branch, { ...input, id: result.tip })}>
              Go on from here
            </Button>
          )}
        </p>
      )}
      {result && !result.stopped && <p className="muted">The original has no further turns.</p>}
    </section>
  );
}
