import type { CallTerms } from '../formats/index.js';
import table from './model-prices.json' with { type: 'json' };

/** The rows of the data file, in the order in which they are tried. Its date says when they were read from the providers' pages. */
export const priceTable = table;

const compiled = <Row extends { readonly pattern: string }>(rows: readonly Row[]): readonly (Row & { readonly matches: RegExp })[] =>
  rows.map((row) => ({ ...row, matches: new RegExp(row.pattern, 'i') }));
const factors = compiled(
  table.factors as readonly { pattern: string; models: string; speed?: string; tier?: string; geo?: string; factor: number; source: string }[],
);
const tools = compiled(table.tools);
const windows = compiled(table.windows as readonly { pattern: string; models: string; limit: number; long?: number; source: string }[]);
const sameTiers: Readonly<Record<string, string>> = table.sameTiers;

/** What a call costs in relation to the standard price of its model. Speed, tier and place that no row names cost the standard price. */
export function factorOf(model: string, { speed, tier, geo }: CallTerms): number {
  if (speed === undefined && tier === undefined && geo === undefined) return 1;
  const named = tier === undefined ? undefined : (sameTiers[tier] ?? tier);
  const bySpeed = speed === undefined ? undefined : factors.find((row) => row.speed === speed && row.matches.test(model));
  const byTier = named === undefined ? undefined : factors.find((row) => row.tier === named && row.matches.test(model));
  const byPlace = geo === undefined ? undefined : factors.find((row) => row.geo === geo && row.matches.test(model));
  return (bySpeed?.factor ?? 1) * (byTier?.factor ?? 1) * (byPlace?.factor ?? 1);
}

/** The fees for the tools that the provider ran, in the currency of the list. */
export function feesOf(model: string, { serverTools }: CallTerms): number {
  if (!serverTools) return 0;
  return Object.entries(serverTools).reduce(
    (sum, [tool, uses]) => sum + uses * (tools.find((row) => row.tool === tool && row.matches.test(model))?.price ?? 0),
    0,
  );
}

/** The window of a model. A count above the usual window shows that the call had the long one. Null for an unknown model. */
export function windowIn(model: string, counted: number | null): number | null {
  // Gateways write the versions of Claude with dots.
  const name = /claude/i.test(model) ? model.replaceAll(/(\d)\.(\d)/g, '$1-$2') : model;
  const row = windows.find(({ matches }) => matches.test(name));
  if (!row) return null;
  if (counted === null || counted <= row.limit) return row.limit;
  return row.long !== undefined && counted <= row.long ? row.long : null;
}
