import type { ReadChain } from '../chain/index.js';
import type { CallTerms } from '../formats/index.js';
import table from './model-prices.json' with { type: 'json' };
import type { CallRow } from './rows.js';
import { readUsageSettings } from './settings.js';

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
  const by = (name: 'speed' | 'tier' | 'geo', value: string | undefined): number =>
    (value === undefined ? undefined : factors.find((row) => row[name] === value && row.matches.test(model))?.factor) ?? 1;
  return by('speed', speed) * by('tier', tier && (sameTiers[tier] ?? tier)) * by('geo', geo);
}

/** The fees for the tools that the provider ran, in the currency of the list. */
export function feesOf(model: string, { serverTools }: CallTerms): number {
  const priceOf = (tool: string): number => tools.find((row) => row.tool === tool && row.matches.test(model))?.price ?? 0;
  return Object.entries(serverTools ?? {}).reduce((sum, [tool, uses]) => sum + uses * priceOf(tool), 0);
}

/**
 * The window of a call: what its agent recorded, else that of its model. A counted input above what was recorded proves the record wrong, as when an
 * agent that does not know a model writes a default.
 */
export function windowOfCall(
  chain: ReadChain,
  { windowLimit, model }: Pick<CallRow, 'windowLimit' | 'model'>,
  counted: number | null,
): number | null {
  const isRight = windowLimit !== null && windowLimit > 0 && (counted === null || counted <= windowLimit);
  return isRight ? windowLimit : limitOf(chain, model, counted);
}

/**
 * The window of a model: a person's own, else that of the data file; null for an unknown model. It is also null if a counted input above the window
 * proves it wrong.
 */
export function limitOf(chain: ReadChain, model: string | null, counted: number | null = null): number | null {
  if (model === null) return null;
  const own = readUsageSettings(chain).modelOf(model)?.limit;
  if (own === undefined) return windowIn(model, counted);
  return counted !== null && counted > own ? null : own;
}

/** The window of a model in the data file. A count above the usual window shows that the call had the long one. */
function windowIn(model: string, counted: number | null): number | null {
  // Gateways write the versions of Claude with dots.
  const name = /claude/i.test(model) ? model.replaceAll(/(\d)\.(\d)/g, '$1-$2') : model;
  const row = windows.find(({ matches }) => matches.test(name));
  if (!row) return null;
  if (counted === null || counted <= row.limit) return row.limit;
  return row.long !== undefined && counted <= row.long ? row.long : null;
}
