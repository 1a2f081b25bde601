import { go, move, type Route, useNavigation } from '../../state';
import { type Range, type RangeName, rangeNameOf, rangeOf } from './ranges';
import { type ChosenFacets, groupings, type ShownGrouping, type UsageFacet } from './slices';
import { chosenOf, chosenText, measures, type ShownMeasure } from './sums';

export interface UsageSelection {
  readonly range: Range;
  /** Undefined for days that a person named. */
  readonly named: RangeName | undefined;
  readonly measure: ShownMeasure;
  readonly group: ShownGrouping;
  readonly chosen: ChosenFacets;
  readonly bar: string | undefined;
}

/** Reads the selection from the address. Unknown values are ignored. */
export function selectionOf(route: Route, today: string, first: string | undefined): UsageSelection {
  const { range, measure, group, only, bar } = route;
  const byTool = group === 'tool';
  const wanted = measures.find((one) => one === measure) ?? 'cost';
  return {
    range: rangeOf(range, today, first),
    named: rangeNameOf(range),
    // A tool has no cost and no counted tokens of its own.
    measure: byTool && wanted !== 'time' ? 'errors' : wanted,
    group: groupings.find((one) => one === group) ?? 'repository',
    chosen: chosenOf(only),
    bar,
  };
}

/** Today in UTC, as the days of the sums are. */
export const utcToday = (): string => new Date().toISOString().slice(0, 10);

/** The selection that the address names. */
export const useSelection = (first: string | undefined): UsageSelection => selectionOf(useNavigation().route, utcToday(), first);

/** Shows other days. */
export const setRange = (range: string | undefined): void => go({ range, bar: undefined });
/** Shows another measure in the bars. */
export const setMeasure = (measure: ShownMeasure): void => move({ measure: measure === 'cost' ? undefined : measure });
/** Groups the table by something else. */
export const setGroup = (group: ShownGrouping): void => go({ group: group === 'repository' ? undefined : group });
/** Selects a bar by its first day. */
export const setBar = (bar: string | undefined): void => move({ bar });
/** Chooses values of a facet. */
export const choose = (chosen: ChosenFacets, facet: UsageFacet, values: readonly string[]): void =>
  go({ only: chosenText({ ...chosen, [facet]: values }) });

/** Shows the answer to a statement on the SQL page. */
export const askSql = (sql: string): void => go({ view: 'sql', sql });
