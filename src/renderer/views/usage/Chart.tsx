import { useMemo } from 'react';
import { say } from '../../parts';
import type { SessionFact } from './facts';
import { type Range, rangeWords, tickWords, unitOf } from './ranges';
import { inRange, type ShownGrouping, type Slices } from './slices';
import { addSlices, barHeight, isBound, noSums, rest, type ShownMeasure, seriesOf, stacksOf, sumGroups, ticksOf } from './sums';
import { groupName, groupWords, measured, measuredSum } from './words';

/** The fills of the parts of a bar, in the order of the legend. */
const fills = ['lane-0', 'f-user', 'f-live', 'f-thinking', 'f-result', 'f-summary'];
const unknownFill = 'repeating-linear-gradient(45deg, var(--hatch) 0 1px, var(--f-none) 1px 3px)';
const fillOf = (name: string, at: number): string => (name === '' ? unknownFill : `var(--${name === rest ? 'f-system' : fills[at]})`);

interface ChartProps {
  readonly slices: Slices;
  /** The slices of the range before; undefined without such a range. */
  readonly before: Slices | undefined;
  readonly bars: readonly Range[];
  readonly barsBefore: readonly Range[];
  readonly by: ShownGrouping;
  readonly measure: ShownMeasure;
  readonly range: Range;
  readonly sessions: ReadonlyMap<string, SessionFact>;
  readonly budget: { readonly amount: number; readonly words: string } | undefined;
  readonly selected: Range | undefined;
  readonly onSelect: (bar: Range | undefined) => void;
}

/** The chart: a bar for each part of the range, divided by group, with the range before as a line and the budget as another. A bar is a button. */
export function Chart(props: ChartProps) {
  const { slices, before, bars, barsBefore, by, measure, range, budget, selected, sessions, onSelect } = props;
  const groups = sumGroups(slices, by);
  const series = useMemo(() => seriesOf(groups, measure, by), [groups, measure, by]);
  const stacks = useMemo(() => stacksOf(slices, bars, by, series, measure), [slices, bars, by, series, measure]);
  const line = useMemo(
    () => before && stacksOf(before, barsBefore, by, [rest], measure).map(([value = 0]) => value),
    [before, barsBefore, by, measure],
  );
  const heights = stacks.map((stack) => stack.reduce((sum, value) => sum + value, 0));
  const tallest = Math.max(0, ...heights, ...(line ?? []));
  // A budget far above all bars would flatten them.
  const isBudgetNear = budget !== undefined && tallest > 0 && budget.amount <= tallest * 3;
  const ticks = ticksOf(Math.max(tallest, isBudgetNear ? budget.amount : 0));
  const top = ticks.at(-1) || 1;
  const unit = unitOf(range);
  // A day with its month needs an eighth of a narrow chart.
  const every = Math.ceil(bars.length / 8);
  return (
    <div className="usage-chart">
      <div className="usage-plot">
        {ticks.map((tick) => (
          <span key={tick} className="usage-tick nowrap line-below faint" style={{ bottom: `${(tick / top) * 100}%` }} aria-hidden>
            {tick > 0 && measured(tick, measure).replace(/\.00$/, '')}
          </span>
        ))}
        <div className="usage-bars">
          {bars.map((bar, at) => {
            const isSelected = selected?.from === bar.from;
            const value = measured(heights[at] ?? 0, measure);
            return (
              <button
                key={bar.from}
                type="button"
                className="usage-column"
                aria-pressed={isSelected}
                aria-label={`${rangeWords(bar)}: ${value}`}
                title={`${rangeWords(bar)}: ${value}`}
                onClick={() => onSelect(isSelected ? undefined : bar)}
              >
                <span className="usage-stack" style={{ height: `${((heights[at] ?? 0) / top) * 100}%` }}>
                  {(stacks[at] ?? []).map((part, n) =>
                    part > 0 ? (
                      // Parts in percent, because parts whose sum is below 1 would not fill the bar.
                      <i key={series[n]} style={{ flexGrow: (part / (heights[at] || 1)) * 100, background: fillOf(series[n] ?? '', n) }} />
                    ) : null,
                  )}
                </span>
                <span className="usage-day nowrap faint" aria-hidden>
                  {at % every === 0 && tickWords(bar, bars[at - every], unit)}
                </span>
              </button>
            );
          })}
        </div>
        {line && <Before values={line} count={bars.length} top={top} />}
        {isBudgetNear && (
          <span className="usage-budget small" style={{ bottom: `${(budget.amount / top) * 100}%` }}>
            {budget.words}
          </span>
        )}
      </div>
      <Legend {...props} series={series} groups={groups} sessions={sessions} />
    </div>
  );
}

/** The values of the range before, as a stepped line. */
function Before({ values, count, top }: { values: readonly number[]; count: number; top: number }) {
  const points = Array.from({ length: count }, (_, at) => {
    const y = 100 - ((values[at] ?? 0) / top) * 100;
    return `${at},${y} ${at + 1},${y}`;
  }).join(' ');
  return (
    <svg className="usage-before" viewBox={`0 0 ${count} 100`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points} />
    </svg>
  );
}

/** A range without the year of its end. */
const shortWords = (range: Range): string => rangeWords(range).replace(/ \d{4}$/, '');

/** The groups of the bars, with their values in the selected bar and in the whole range. */
function Legend(props: ChartProps & { series: readonly string[]; groups: ReturnType<typeof sumGroups> }) {
  const { series, groups, by, measure, sessions, slices, before, selected, range } = props;
  const inBar = useMemo(() => selected && sumGroups(inRange(slices, selected), by), [slices, selected, by]);
  const valueIn = (of: ReadonlyMap<string, ReturnType<typeof noSums>>, name: string): number =>
    name === rest
      ? [...of].reduce((sum, [key, sums]) => (series.includes(key) ? sum : sum + barHeight(sums, measure, by)), 0)
      : barHeight(of.get(name) ?? noSums(), measure, by);
  /** Whether a count or a price is missing in what `valueIn` adds up. */
  const isBoundIn = (of: ReadonlyMap<string, ReturnType<typeof noSums>>, name: string): boolean =>
    [...of].some(([key, sums]) => (name === rest ? !series.includes(key) : key === name) && isBound(sums, measure));
  const others = [...groups].filter(([key, sums]) => !series.includes(key) && barHeight(sums, measure, by) > 0).length;
  const allBefore = before && addSlices(before);
  return (
    <table className="usage-legend small">
      <thead>
        <tr>
          <th scope="col">{groupWords[by][0]}</th>
          {selected && (
            <th scope="col" className="num">
              {shortWords(selected)}
            </th>
          )}
          <th scope="col" className="num">
            {shortWords(range)}
          </th>
        </tr>
      </thead>
      <tbody>
        {series.map((name, at) => (
          <tr key={name}>
            <td>
              <span className="row gap-6">
                <i className="usage-key rigid" style={{ background: fillOf(name, at) }} />
                <span className="ellipsis" title={name === rest ? undefined : name}>
                  {name === rest ? `${say.exact(others)} others` : groupName(name, by, sessions)}
                </span>
              </span>
            </td>
            {inBar && <td className="num">{measured(valueIn(inBar, name), measure, isBoundIn(inBar, name))}</td>}
            <td className="num">
              {name === rest || !groups.has(name)
                ? measured(valueIn(groups, name), measure, isBoundIn(groups, name))
                : measuredSum(groups.get(name) ?? noSums(), measure, by)}
            </td>
          </tr>
        ))}
        {allBefore !== undefined && (
          <tr className="muted">
            <td>
              <span className="row gap-6">
                <i className="usage-key rigid line" />
                The range before
              </span>
            </td>
            {selected && <td />}
            <td className="num">{measured(barHeight(allBefore, measure, by), measure, isBound(allBefore, measure))}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
