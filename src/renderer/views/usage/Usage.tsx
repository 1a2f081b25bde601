import { useMemo } from 'react';
import type { AnalysisSums, UsageSessions } from '../../../core/contract/index.js';
import { Answer, Button, Empty, LinkButton, say } from '../../parts';
import { go, refreshProject, useAnalysisProgress } from '../../state';
import { Chart } from './Chart';
import { Controls } from './Controls';
import { Figures } from './Figures';
import { factsIn, type UsageFacts, useBudgets, useSums, useTools } from './facts';
import { Panel } from './Panel';
import { barsOf, dayAfter, lengthOf, type Range, rangeBefore, rangeWords, unitOf } from './ranges';
import { setBar, setRange, type UsageSelection, useSelection } from './selection';
import { inRange, isEmpty, matching, namesOf, noSlices, type ShownGrouping, type Slices, toolSlices } from './slices';
import { addSlices } from './sums';
import { Table } from './Table';
import { dollars, measureNames } from './words';

/** What all sessions cost, lost and failed at, over time and by group. */
export function UsageView({ project }: { project: string }) {
  const sums = useSums(project);
  return (
    <section className="usage whole stack" aria-label="Usage">
      <Answer
        query={sums}
        what="Cannot add up the calls of this project"
        loading="Adding up the calls"
        progress={useAnalysisProgress(sums)}
        stillWorks="The sessions can still be read."
        lines={16}
      >
        {(data) => (
          <>
            {/* Another program was writing when the sums were asked for. */}
            {data.left > 0 && (
              <div className="notice-line" role="status">
                <span className="grow">{say.plural(data.left, 'commit')} not counted yet: another program was writing to the project.</span>
                <Button small label="Count again" onClick={() => void refreshProject()} />
              </div>
            )}
            {data.calls[0]?.length ? <Counted project={project} sums={data} /> : data.left === 0 && <NothingCounted />}
          </>
        )}
      </Answer>
    </section>
  );
}

const NothingCounted = () => (
  <Empty title="No calls yet" acts={[{ name: 'Go to Sessions', act: () => go({ view: 'sessions' }) }]}>
    Tokens, cost, cache misses and errors of all sessions appear here, once a session with calls to a model is imported.
  </Empty>
);

function useShown(all: Slices, { range: { from, to }, chosen, named }: UsageSelection) {
  const inside = useMemo(() => inRange(all, { from, to }), [all, from, to]);
  const slices = useMemo(() => matching(inside, chosen), [inside, chosen]);
  const isWhole = named === 'all';
  const before = useMemo(() => (isWhole ? undefined : matching(inRange(all, rangeBefore({ from, to })), chosen)), [all, from, to, chosen, isWhole]);
  return { inside, slices, before };
}

/** The bars of the selection, those of the range before, and the selected one with the slices in it and in the bar before. */
function useBars({ range: { from, to }, bar: first }: UsageSelection, { slices, before }: Pick<ReturnType<typeof useShown>, 'slices' | 'before'>) {
  const bars = useMemo(() => barsOf({ from, to }), [from, to]);
  // The line is compared bar by bar, so its parts have the lengths of the bars.
  const barsBefore = useMemo(
    () => bars.map((bar) => ({ from: dayAfter(bar.from, -lengthOf({ from, to })), to: dayAfter(bar.to, -lengthOf({ from, to })) })),
    [bars, from, to],
  );
  const bar = bars.find((one) => one.from === first);
  const previous = bar && bars[bars.indexOf(bar) - 1];
  const inBar = useMemo(() => (bar ? inRange(slices, bar) : slices), [slices, bar]);
  const beforeBar = useMemo(() => (bar ? previous && inRange(slices, previous) : before), [bar, previous, slices, before]);
  return { bars, barsBefore, bar, inBar, beforeBar };
}

/** The sums of tool calls, of which the selection is shown as soon as they have arrived. */
function useShownTools(project: string, sessions: UsageFacts['sessions'], selection: UsageSelection) {
  const tools = useTools(project);
  const all = useMemo(() => (tools.data ? toolSlices(tools.data, sessions) : noSlices), [tools.data, sessions]);
  return { tools, ...useShown(all, selection) };
}

/** What the address names. The same facets keep one object, so that nothing is computed again. */
function useSteadySelection({ slices }: UsageFacts): UsageSelection {
  const first = useMemo(() => [...namesOf(slices, 'day')].reduce((least, day) => (day !== '' && day < least ? day : least), '9'), [slices]);
  const found = useSelection(first);
  const key = JSON.stringify(found.chosen);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is chosen
  const chosen = useMemo(() => found.chosen, [key]);
  return { ...found, chosen };
}

function Counted({ project, sums: given }: { project: string; sums: AnalysisSums }) {
  const facts = useMemo(() => factsIn(given), [given]);
  const selection = useSteadySelection(facts);
  const { range, measure, group, chosen } = selection;
  const budgets = useBudgets(project);
  const { sessions, events } = facts;
  const shown = useShown(facts.slices, selection);
  const { tools, ...ofTools } = useShownTools(project, sessions, selection);
  const { slices, before, inside } = shown;
  const { bars, barsBefore, bar, inBar, beforeBar } = useBars(selection, shown);
  const toolsInBar = useMemo(() => (bar ? inRange(ofTools.slices, bar) : ofTools.slices), [ofTools.slices, bar]);
  const day = measure === 'cost' ? budgets?.budgets?.day : undefined;
  // The bars of days and sessions are divided by model: a part for each of them could not be told apart.
  const parts: ShownGrouping = group === 'day' || group === 'session' ? 'model' : group;
  const drawn = (of: Pick<typeof shown, 'slices' | 'before'>) => (
    <>
      <section aria-label="Chart" className="usage-section">
        <div className="row wrap">
          <h2 className="grow">
            {measureNames[measure]} by {unitOf(range)}
          </h2>
          <BudgetWarning range={range} over={budgets?.overBudget ?? []} budget={day} />
        </div>
        <Chart
          {...{ bars, barsBefore, measure, range, sessions, slices: of.slices, before: of.before }}
          by={parts}
          budget={budgetOf(range, day)}
          selected={bar}
          onSelect={(one) => setBar(one?.from)}
        />
      </section>
      <Table key={group} {...{ measure, range, chosen, sessions, slices: of.slices, before: of.before }} by={group} />
    </>
  );
  return (
    <>
      <Controls selection={selection} inRange={inside} sessions={sessions} />
      <div className="usage-columns rest">
        <div className="usage-main">
          {isEmpty(slices) ? (
            <NothingMatches range={range} />
          ) : (
            <>
              <Figures sums={addSlices(slices)} before={before && addSlices(before)} range={range} chosen={chosen} />
              {group === 'tool' ? (
                <Answer query={tools} what="Cannot add up the tool calls of this project" loading="Adding up the tool calls">
                  {() => drawn(ofTools)}
                </Answer>
              ) : (
                drawn(shown)
              )}
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
            {...{ project, bars, chosen, measure, sessions, events, tools }}
            slices={inBar}
            before={beforeBar}
            toolSlices={toolsInBar}
            range={bar ?? range}
            isBar={bar !== undefined}
          />
        )}
      </div>
    </>
  );
}

const NothingMatches = ({ range }: { range: Range }) => (
  <Empty title="No calls here" acts={[{ name: 'Show all calls', act: () => go({ only: undefined, range: 'all', bar: undefined }) }]}>
    No call of {rangeWords(range)} matches the filters.
  </Empty>
);

const daysIn = { day: 1, week: 7, month: 30 } as const;

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
          <LinkButton label={rangeWords({ from: worst.key, to: worst.key })} onClick={() => setRange(`${worst.key}..${worst.key}`)} />
        </>
      )}
    </span>
  );
}
