import { type ReactNode, useMemo, useState } from 'react';
import type { FoundSource } from '../../../core/contract/index.js';
import { agentName, Button, Failure, LinkButton, notifyProblem, say } from '../../parts';
import { followAddress, go, switchCapture, useLive } from '../../state';
import type { RefusedHistory } from './refused';
import type { Listed } from './rows';
import { ImportButton } from './SessionsBar';
import { sumListed, useSpending } from './spending';

/** The histories that cannot be imported, each once with its reason. */
export function RefusedFiles({ refused }: { refused: readonly RefusedHistory[] }) {
  if (refused.length === 0) return null;
  return (
    <details className="sessions-foot small rigid line-above sessions-refused">
      <summary className="muted">{say.plural(refused.length, 'history', 'histories')} cannot be imported</summary>
      <ul>
        {refused.map(({ path, reason }) => (
          <li key={path}>
            <span className="mono">{path}</span> <span className="muted">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Says after how many days agents delete their histories, while some of theirs are not imported. The button above imports them. */
export function Retention({ places, listed }: { places: readonly FoundSource[]; listed: readonly Listed[] }) {
  const waiting = new Set(listed.flatMap(({ session, agent }) => (session ? [] : [agent])));
  const told = places.flatMap(({ agent, deletes }) => (deletes && waiting.has(agent) ? [{ agent, ...deletes }] : []));
  if (told.length === 0) return null;
  return (
    <p className="sessions-foot small rigid line-above muted">
      {told
        .map(
          ({ agent, days, setting }) =>
            `${agentName(agent)} deletes its histories after ${say.plural(days, 'day')}${setting === null ? ' unless a setting says otherwise' : ''}.`,
        )
        .join(' ')}{' '}
      Import keeps them in this project.
    </p>
  );
}

const asked = 'stemma.captureAsked';

/** After the first import, offers once to record agents while they work. */
export function CaptureOffer({ hasSessions }: { hasSessions: boolean }) {
  const capture = useLive((live) => live.capture);
  const [answered, setAnswered] = useState(() => localStorage.getItem(asked) !== null);
  if (answered || !hasSessions || !capture || capture.watching || capture.wanted) return null;
  const answer = (): void => {
    localStorage.setItem(asked, 'yes');
    setAnswered(true);
  };
  return (
    <div className="notice-line capture-offer rigid line-below">
      <span className="grow">
        <b>Live capture</b> shows new turns here while agents work, and how full their windows are. It only reads the agents' files.
      </span>
      <Button
        small
        look="primary"
        label="Turn on"
        onClick={() => {
          answer();
          switchCapture(true).catch(notifyProblem);
        }}
      />
      <Button small label="Not now" onClick={answer} />
    </div>
  );
}

const shownNotices = 3;

/** A notice of the days and sessions that cost more than the budgets of this machine. Hidden if no budget was exceeded. */
export function BudgetNotice({ dir, listed }: { dir: string; listed: readonly Listed[] }) {
  const over = useSpending(dir)?.overBudget ?? [];
  if (over.length === 0) return null;
  const titleOf = (id: string): string => listed.find(({ session }) => session?.sessionId === id)?.session?.title ?? id;
  return (
    <ul className="budget-notice small" aria-label="Over budget">
      {over.slice(0, shownNotices).map(({ kind, key, spent, budget }) => (
        <li
          key={`${kind} ${key}`}
          className="notice-line"
          title={`At API prices of ${spent.priceDate}. A subscription does not pay them. The file usage.json sets the budgets.`}
        >
          Over budget: {kind === 'day' ? key : <q>{titleOf(key)}</q>} cost <b>{say.money(spent)}</b>; the budget of a {kind} is{' '}
          {say.money({ currency: spent.currency, amount: budget })}.
        </li>
      ))}
      {over.length > shownNotices && (
        <li className="muted">{say.plural(over.length - shownNotices, 'more day or session', 'more days and sessions')} over budget</li>
      )}
    </ul>
  );
}

/** The sums of the listed sessions, below the list. */
export function SumFoot({ dir, shown }: { dir: string; shown: readonly Listed[] }) {
  const spent = useSpending(dir);
  const sums = useMemo(() => spent && sumListed(shown, spent.rows), [spent, shown]);
  if (!spent || !sums || sums.sessions === 0) return null;
  const date = spent.totals.cost?.priceDate;
  return (
    <p className="sessions-foot small rigid line-above row wrap muted" role="note" aria-label="Sums of the listed sessions">
      <span>{say.plural(sums.sessions, 'session')}</span>
      <span>{say.plural(sums.turns, 'turn')}</span>
      <span>{say.plural(sums.calls, 'call')}</span>
      <span title={`Counted by the providers: input, cache and output${sums.areTokensMissing ? '. ≥: a count is missing' : ''}`}>
        {sums.areTokensMissing && '≥ '}
        {say.compact(sums.tokens)} tokens
      </span>
      <span title={`At API prices${date ? ` of ${date}` : ''}. A subscription does not pay them.`}>
        <b>{sums.cost > 0 ? say.money({ amount: sums.cost, currency: 'USD', ...(sums.isLowerBound && { atLeast: true as const }) }) : 'no price'}</b>
      </span>
      <span>{say.plural(sums.errors, 'error')}</span>
      {sums.notImported > 0 && <span>{say.exact(sums.notImported)} not imported, not counted</span>}
      <span className="grow" />
      <LinkButton
        label="Last month by repository"
        title="What the last 30 days cost, by repository"
        onClick={() => go({ view: 'usage', range: '30', group: undefined, measure: undefined, only: undefined, bar: undefined })}
      />
    </p>
  );
}

export const about =
  'Stemma reads the histories that coding agents leave on this machine and shows what the model saw at every turn, what it cost, and where it went wrong. You can edit any prompt, continue from it in the agent, and compare the answers.';

/** Above the histories on this machine while the project has no session: what Stemma is, where it looked, what it found, and what to do. */
export function Welcome({ places, listed }: { places: readonly FoundSource[]; listed: readonly Listed[] }) {
  return (
    <section className="welcome gap-8 rigid line-below on-pane stack" aria-label="First start">
      <h2>Welcome to Stemma</h2>
      <p>{about}</p>
      <p className="muted">It looked in {say.plural(places.length, 'folder')}:</p>
      <SearchedPlaces places={places} />
      <div>
        <ImportButton listed={listed} />
      </div>
    </section>
  );
}

/** The folders of agents that were searched, with what each contains. */
export function SearchedPlaces({ places }: { places: readonly FoundSource[] }) {
  return (
    <ul className="searched-places breaks gap-4">
      {places.map(({ agent, root, sessions, problem }) => (
        <li key={root}>
          {agentName(agent)} <span className="mono muted">{root}</span>{' '}
          <span className={problem === undefined ? undefined : 'muted'}>
            {problem ?? (sessions === 0 ? 'no session' : say.plural(sessions, 'session'))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** In place of a project that cannot be opened: why, and what a person can do. */
export const NotOpened = ({ dir, error, actions }: { dir: string; error: unknown; actions: ReactNode }) => (
  <Failure
    what={`The project ${dir} cannot be opened`}
    error={error}
    stillWorks="Nothing in it was changed. Other projects can still be opened."
    onRetry={() => void followAddress()}
    actions={actions}
  />
);
