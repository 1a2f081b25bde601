import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ContextId, UsageCall, UsageLargest } from '../../../core/contract/index.js';
import { api } from '../../client';
import { basis, colorOf, describeProblem, inFolder, ProblemLine, say, shareOfPart, shortPaths } from '../../parts';
import { AnswerMemory, go, usePlace, useQuery } from '../../state';
import { isMiss, missTitle } from './calls';
import { cacheWords, costText, costWords, priceText, replyWords, sentWords } from './words';

interface SummaryProps {
  readonly project: string;
  readonly call: UsageCall;
  readonly number: number | undefined;
  readonly turn: number | undefined;
  readonly before: UsageCall | undefined;
  readonly actions: ReactNode;
}

/** The cost of one call, its use of the cache, and the content of its window. */
export function Summary({ project, call, number, turn, before, actions }: SummaryProps) {
  const { tokens, window, limit, cost, cache, waitMs, flaw } = call;
  return (
    <div className="call-summary">
      <header className="row wrap small">
        {isMiss(call) && (
          <span className="call-miss inline-row small">
            <X size={11} aria-hidden /> cache miss
          </span>
        )}
        <h2>{number === undefined ? 'Call beside the conversation' : `Call ${number}`}</h2>
        {turn !== undefined && <span className="muted">turn {turn}</span>}
        {call.beside !== undefined && <span className="muted">{call.beside}</span>}
        <span className="grow" />
        <span className="muted">{say.instant(call.at)}</span>
      </header>
      {number !== undefined && (isMiss(call) || cache.cause === 'first') && <Miss call={call} before={before} number={number} />}
      <dl className="facts">
        <div>
          <dt>Sent</dt>
          <dd title={sentWords(call)}>
            {window === null ? <span className="muted">not recorded</span> : <b>{say.exact(window)}</b>}{' '}
            {window !== null && <span className="muted">counted{limit !== null && `, ${say.percent(window / limit)} of ${say.exact(limit)}`}</span>}
          </dd>
        </div>
        <div>
          <dt>Cache</dt>
          <dd className="muted" title={cacheWords(call)}>
            {tokens.cacheRead === null
              ? 'not recorded'
              : `${say.exact(tokens.cacheRead)} read${tokens.cacheWrite === null ? '' : `, ${say.exact(tokens.cacheWrite)} written`}`}
          </dd>
        </div>
        <div>
          <dt>Reply</dt>
          <dd className="muted" title={replyWords(call)}>
            {tokens.output === null ? 'tokens not recorded' : `${say.exact(tokens.output)} tokens`}
            {waitMs !== null && `, ${say.duration(waitMs)}`}
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd title={costWords(call)}>
            {cost ? <b>{priceText(cost)}</b> : <span className="muted">{costText(call)}</span>}{' '}
            {cost && <span className="muted">at API prices of {cost.priceDate}</span>}
          </dd>
        </div>
      </dl>
      {flaw !== undefined && <p className="notice-line">{flaw}</p>}
      <div className="call-actions row wrap">{actions}</div>
      {call.beside === undefined && <Fillers project={project} commit={call.commit} />}
    </div>
  );
}

function Miss({ call, before, number }: { call: UsageCall; before: UsageCall | undefined; number: number }) {
  const { cache, tokens } = call;
  const left = before ? (before.tokens.cacheRead ?? 0) + (before.tokens.cacheWrite ?? 0) : 0;
  const most = Math.max(1, left, tokens.cacheRead ?? 0);
  return (
    <section aria-label="Cache miss">
      <h3 className="call-cause">{missTitle(call, number === 1)}</h3>
      {cache.lifetimeMs !== undefined && (
        <p className="muted small">
          The cache lives {say.duration(cache.lifetimeMs)}
          {before && `; call ${number - 1} ended ${say.duration(Math.max(0, idleOf(call, before)))} before`}.
        </p>
      )}
      {cache.lostTokens !== undefined && (
        <p className="call-loss row baseline small">
          {cache.lostCost && <strong>{priceText(cache.lostCost)}</strong>}
          <span>lost: {say.exact(cache.lostTokens)} tokens paid again instead of read from the cache</span>
        </p>
      )}
      {left > 0 && cache.cause !== 'first' && (
        <div className="call-compare">
          <Bar name={number - 1} share={left / most} text={`${say.exact(left)} cached`} />
          <Bar name={number} share={(tokens.cacheRead ?? 0) / most} text={`${say.exact(tokens.cacheRead ?? 0)} read`} />
        </div>
      )}
      {cache.brokenAt !== undefined && (
        <p className="muted">
          First difference: <span className="mono">{cache.brokenAt}</span>
        </p>
      )}
      {cache.brokenText && (
        <div className="call-broken breaks small">
          <p title={`As call ${number - 1} sent it`}>
            <b>−</b> <span className="mono">{cache.brokenText.before ?? 'nothing'}</span>
          </p>
          <p title="As this call sent it">
            <b>+</b> <span className="mono">{cache.brokenText.after ?? 'nothing'}</span>
          </p>
        </div>
      )}
    </section>
  );
}

/** The time that the cache was not used: what the engine measured, else the time between the two replies. */
const idleOf = ({ cache, at, waitMs }: UsageCall, before: UsageCall): number =>
  cache.idleMs ?? Date.parse(at) - (waitMs ?? 0) - Date.parse(before.at);

const Bar = ({ name, share, text }: { name: number; share: number; text: string }) => (
  <div>
    <span className="muted">{name}</span>
    <i>
      <b style={{ width: `${share * 100}%` }} />
    </i>
    <span className="muted">{text}</span>
  </div>
);

const shownFillers = 8;

const fillers = new AnswerMemory<UsageLargest[]>(60);

/** The files, results and messages that filled most of the window, each with a link. */
function Fillers({ project, commit }: { project: string; commit: ContextId }) {
  const folder = usePlace(project, commit).data?.repository ?? null;
  const query = useQuery(`${project} ${commit}`, (signal) => api.usage.largest({ id: commit, limit: shownFillers }, { signal }), fillers);
  if (query.status === 'failed') return <ProblemLine>Cannot list what filled the window: {describeProblem(query.error).message}</ProblemLine>;
  if (query.status !== 'done') return null;
  const largest = query.data;
  const most = Math.max(1, ...largest.map(({ tokenCalls }) => tokenCalls));
  if (largest.length === 0) return null;
  return (
    <section className="call-fillers" aria-label="What filled it">
      <header className="row wrap small">
        <h3>What filled it</h3>
        <span className="muted" title={`${basis.estimated}, times the calls of this context that were sent with it`}>
          ≈ tokens × calls they stayed
        </span>
      </header>
      {largest.map(({ name, side, kind, key, tokens, calls, tokenCalls, times, duplicates, unused }) => (
        <button
          key={`${name} ${key}`}
          type="button"
          className="filler selectable row baseline wrap wide"
          title={`${side === undefined ? '' : `${side === 'call' ? 'Call' : 'Result'} of `}${name}: about ${say.plural(tokens, 'token')}, sent with ${tokens * calls === tokenCalls ? '' : 'up to '}${say.plural(calls, 'call')} of this context`}
          onClick={() => go(key === undefined ? { part: 'latest' } : { view: 'context', commit, entry: key })}
        >
          <span className="ellipsis grow">{shortPaths(inFolder(name, folder))}</span>
          {side !== undefined && <small className="faint">{side}</small>}
          <span className="muted">
            {say.exact(tokens)} × {tokens * calls === tokenCalls ? '' : '≤ '}
            {say.exact(calls)}
          </span>
          <b>{say.compact(tokenCalls)}</b>
          <i className="filler-bar" style={{ width: `${(tokenCalls / most) * 100}%`, background: `var(${colorOf(shareOfPart[kind])})` }} />
          {times > 1 && (
            <small className="muted">
              {key === undefined ? say.plural(times, 'tool') : say.plural(times, 'time')}
              {duplicates > 0 && `, ${say.plural(duplicates, 'duplicate')}`}
              {unused > 0 && unused < times && `, ${say.exact(unused)} never used`}
            </small>
          )}
        </button>
      ))}
    </section>
  );
}
