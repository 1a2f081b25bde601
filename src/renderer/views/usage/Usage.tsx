import { useMemo } from 'react';
import type { UsageSessions } from '../../../core/contract/index.js';
import { Answer, Button, Empty, say } from '../../parts';
import { go, useAnalysisProgress } from '../../state';
import { Chart } from './Chart';
import { Controls } from './Controls';
import { Figures } from './Figures';
import { type UsageFacts, useBudgets, useFacts } from './facts';
import { Panel } from './Panel';
import { barsOf, dayAfter, lengthOf, type Range, rangeBefore, rangeWords, unitOf } from './ranges';
import { setBar, setRange, type UsageSelection, useSelection } from './selection';
import { inRange, isEmpty, matching, namesOf, type ShownGrouping, type Slices } from './slices';
import { addSlices } from './sums';
import { Table } from './Table';
import { dollars, measureNames } from './words';

/** What all sessions cost, lost and failed at, over time and by group. */
export function UsageView({ project }: { project: string }) {
  const facts = useFacts(project);
  return (
    <section className="usage whole stack" aria-label="Usage">
      <Answer
        query={facts}
        what="Cannot add up the calls of this project"
        loading="Adding up the calls"
        progress={useAnalysisProgress(facts)}
        stillWorks="The sessions can still be read."
        lines={16}
      >
        {(data) => (isEmpty(data.slices) ? <NothingCounted /> : <Counted project={project} facts={data} />)}
      </Answer>
    </section>
  );
}

const NothingCounted = () => (
  <Empty title="No calls yet" actions={<Button onClick={() => go({ view: 'sessions' })}>Go to Sessions</Button>}>
    Tokens, cost, cache misses and errors of all sessions appear here, once a session with calls to a model is imported.
  </Empty>
);

/** The slices of the selection, of the range before, and the bars of both. */
function useShown(all: Slices, selection: UsageSelection) {
  const { range, chosen, named } = selection;
  const { from, to } = range;
  const inside = useMemo(() => inRange(all, { from, to }), [all, from, to]);
  const slices = useMemo(() => matching(inside, chosen), [inside, chosen]);
  const earlier = useMemo(() => rangeBefore({ from, to }), [from, to]);
  const isWhole = named === 'all';
  const before = useMemo(() => (isWhole ? undefined : matching(inRange(all, earlier), chosen)), [all, earlier, chosen, isWhole]);
  const bars = useMemo(() => barsOf({ from, to }), [from, to]);
  // The line is compared bar by bar, so its parts have the lengths of the bars.
  const barsBefore = useMemo(
    () => bars.map((bar) => ({ from: dayAfter(bar.from, -lengthOf({ from, to })), to: dayAfter(bar.to, -lengthOf({ from, to })) })),
    [bars, from, to],
  );
  return { inside, slices, before, bars, barsBefore };
}

function Counted({ project, facts }: { project: string; facts: UsageFacts }) {
  const first = useMemo(
    () => [...namesOf(facts.slices, 'day')].reduce((least, day) => (day !== '' && day < least ? day : least), '9'),
    [facts.slices],
  );
  const found = useSelection(first);
  const { range, measure, group } = found;
  // The same facets keep one object, so that nothing is computed again.
  const key = JSON.stringify(found.chosen);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is chosen
  const chosen = useMemo(() => found.chosen, [key]);
  const selection = { ...found, chosen };
  const budgets = useBudgets(project);
  const { inside, slices, before, bars, barsBefore } = useShown(facts.slices, selection);
  const bar = bars.find(({ from }) => from === found.bar);
  const at = bar ? bars.indexOf(bar) : -1;
  const ofBar = useMemo(() => (bar ? inRange(slices, bar) : slices), [slices, bar]);
  const beforeBar = useMemo(() => {
    const previous = bars[at - 1];
    return bar ? previous && inRange(slices, previous) : before;
  }, [bar, bars, at, slices, before]);
  const sums = useMemo(() => addSlices(slices), [slices]);
  const sumsBefore = useMemo(() => before && addSlices(before), [before]);
  // The bars of days and sessions are divided by model: a part for each of them could not be told apart.
  const parts: ShownGrouping = group === 'day' || group === 'session' ? 'model' : group;
  const { sessions, events } = facts;
  return (
    <>
      <Controls selection={selection} inRange={inside} sessions={sessions} />
      <div className="usage-columns">
        <div className="usage-main">
          {isEmpty(slices) ? (
            <Empty
              title="No calls here"
              actions={<Button onClick={() => go({ only: undefined, range: 'all', bar: undefined })}>Show all calls</Button>}
            >
              No call of {rangeWords(range)} matches the filters.
            </Empty>
          ) : (
            <>
              <Figures sums={sums} before={sumsBefore} range={range} chosen={chosen} />
              <section aria-label="Chart" className="usage-section">
                <div className="row wrap">
                  <h2 className="grow">
                    {measureNames[measure]} by {unitOf(range)}
                  </h2>
                  {measure === 'cost' && <BudgetWarning range={range} over={budgets?.overBudget ?? []} budget={budgets?.budgets?.day} />}
                </div>
                <Chart
                  {...{ slices, before, bars, barsBefore, measure, range, sessions }}
                  by={parts}
                  budget={measure === 'cost' ? budgetOf(range, budgets?.budgets?.day) : undefined}
                  selected={bar}
                  onSelect={(one) => setBar(one?.from)}
                />
              </section>
              <Table key={group} {...{ slices, before, measure, range, chosen, sessions }} by={group} />
            </>
          )}
          <p className="usage-foot faint small">
            Days are in UTC. Costs are at API prices{budgets?.totals.cost ? ` of ${budgets.totals.cost.priceDate}` : ''}; a subscription does not pay
            them.
            {before && ` Compared with ${rangeWords(rangeBefore(range))}.`}
          </p>
        </div>
        {!isEmpty(slices) && (
          <Panel
            {...{ project, bars, chosen, measure, sessions, events }}
            slices={ofBar}
            before={beforeBar}
            range={bar ?? range}
            isBar={bar !== undefined}
          />
        )}
      </div>
    </>
  );
}

const daysIn = { day: 1, week: 7, month: 30 } as const;

/** The budget of one bar: that of a day, times its days. */
function budgetOf(range: Range, day: number | undefined): { amount: number; words: string } | undefined {
  if (day === undefined) return undefined;
  const unit = unitOf(range);
  const amount = day * daysIn[unit];
  return { amount, words: unit === 'day' ? `Budget: ${dollars(day)} a day` : `Budget: ${dollars(day)} a day, ${dollars(amount)} a ${unit}` };
}

/** The days of the range that cost more than the budget. A budget concerns all work of a day, whatever is filtered. */
function BudgetWarning({ range, over, budget }: { range: Range; over: UsageSessions['overBudget']; budget: number | undefined }) {
  if (budget === undefined) return null;
  const days = over.filter(({ kind, key }) => kind === 'day' && key >= range.from && key <= range.to);
  if (days.length === 0) return <span className="small muted">No day cost more than its budget of {dollars(budget)}</span>;
  const [worst] = days.toSorted((a, b) => b.spent.amount - a.spent.amount);
  return (
    <span className="small tone-warn" role="note" aria-label="Over budget">
      {say.plural(days.length, 'day')} over the budget of {dollars(budget)}
      {worst && (
        <>
          , at most {say.money(worst.spent)} on{' '}
          <button type="button" className="link-button" onClick={() => setRange(`${worst.key}..${worst.key}`)}>
            {rangeWords({ from: worst.key, to: worst.key })}
          </button>
        </>
      )}
    </span>
  );
}
