import type { ModelPrice } from '@pydantic/genai-prices';
import { defined, orUndefined } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Money, OwnPriced } from '../contract/index.js';
import { sentSize } from '../requests/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { batchesOf, dayMs, type Pricer, sumSessions } from './facts.js';
import { nameIn } from './names.js';
import { factorOf, feesOf } from './price-table.js';
import { type CallRow, termsOf } from './rows.js';
import { type ModelSettings, readUsageSettings, type UsageSettings } from './settings.js';

/** The day on which the list of prices was published, as version 0.1.8 of `@pydantic/genai-prices`. */
export const priceDate = '2026-09-23';
export const currency = 'USD';

/** An amount with its currency and the date of the price list. It is a lower bound unless all billed tokens were counted. */
export const moneyOf = (amount: number | null, isWhole = true): Money | null =>
  amount === null ? null : { amount, currency, priceDate, ...(!isWhole && { atLeast: true as const }) };

type PriceList = typeof import('@pydantic/genai-prices');
let list: PriceList | undefined;

/** Loads the price list, which is large. Until then, new calls have no price. */
export async function loadPrices(): Promise<void> {
  list ??= await import('@pydantic/genai-prices');
}

/** The prices of a million tokens, for a call with an input of this size, and of one search, where a person set one. */
type Rates = Required<Omit<OwnPriced['rows'][number], 'above' | 'webSearch'>> & { readonly webSearch?: number };

type Counted = Pick<CallRow, 'model' | 'at' | 'input' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h' | 'output' | 'terms' | 'windowTokens'>;

const million = 1_000_000;

/** The cost of a call at API prices. Undefined for a model without a price, or without a counted input. An unknown output counts as 0. */
export function costOf(chain: ReadChain, call: Counted, settings = readUsageSettings(chain)): number | null {
  const rates = ratesOf(chain, call, settings);
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = call;
  if (!rates || input === null) return null;
  const longWrites = Math.min(cacheWrite1h ?? 0, cacheWrite ?? 0);
  const tokens =
    input * rates.input +
    (cacheRead ?? 0) * rates.cacheRead +
    ((cacheWrite ?? 0) - longWrites) * rates.cacheWrite +
    longWrites * rates.cacheWrite1h +
    (output ?? 0) * rates.output;
  const terms = termsOf(call);
  const model = call.model ?? '';
  const fees = rates.webSearch === undefined ? feesOf(model, terms) : rates.webSearch * (terms.serverTools?.webSearch ?? 0);
  return (tokens / million) * factorOf(model, terms) + fees;
}

/** The prices of a call's model at its time. Undefined for an unknown model, and for a call older than its model. */
export function ratesOf(chain: ReadChain, call: Counted, settings = readUsageSettings(chain)): Rates | undefined {
  const { model, at } = call;
  if (model === null || predates(model, at)) return undefined;
  const size = sentSize(call) ?? 0;
  const row = ownPrices(settings, model, at)
    ?.rows.toSorted((a, b) => (b.above ?? 0) - (a.above ?? 0))
    .find(({ above = -1 }) => size > above);
  if (row) return { ...ratesIn(row), ...defined({ webSearch: row.webSearch }) };
  const own = settings.modelOf(model);
  // A person's settings have both prices or none.
  if (own?.input !== undefined) return ratesIn(own);
  const prices = pricesOf(model, at);
  return prices && ratesFor(prices, size);
}

/** A person's prices of the model, from this time or an earlier one on. A star at the end of a name stands for any ending. */
export const ownPrices = ({ prices }: UsageSettings, model: string, at: number): OwnPriced | undefined =>
  prices.find((row) => (row.model.endsWith('*') ? model.startsWith(row.model.slice(0, -1)) : row.model === model) && at >= Date.parse(row.from));

function ratesIn({ input = 0, output = 0, cacheRead, cacheWrite, cacheWrite1h }: ModelSettings): Rates {
  const write = cacheWrite ?? input;
  return { input, output, cacheRead: cacheRead ?? input, cacheWrite: write, cacheWrite1h: cacheWrite1h ?? write };
}

/** The prices in the tier of an input. A missing price falls back to the more general price: a cache write costs as much as input. */
function ratesFor(prices: ModelPrice, window: number): Rates | undefined {
  const priceOf = (name: string): number | undefined => {
    const price = prices[name];
    if (price === undefined || typeof price === 'number') return price;
    return price.tiers.filter(({ start }) => window > start).at(-1)?.price ?? price.base;
  };
  const [input, output] = [priceOf('input_mtok'), priceOf('output_mtok')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead, cacheWrite, cacheWrite1h] = [priceOf('cache_read_mtok'), priceOf('cache_write_mtok'), priceOf('cache_write_1h_mtok')];
  return ratesIn({ input, output, cacheRead, cacheWrite, cacheWrite1h });
}

/** The input sizes above which the prices of a model change, beginning with 0. */
export function stepsOf(model: string, at: number, settings: UsageSettings): number[] {
  const own = ownPrices(settings, model, at);
  const starts = own
    ? own.rows.map(({ above = 0 }) => above)
    : Object.values(pricesOf(model, at) ?? {}).flatMap((price) => (typeof price === 'object' ? price.tiers.map(({ start }) => start) : []));
  return [...new Set([0, ...starts])].sort((a, b) => a - b);
}

/** Cached prices by model and hour, because some prices depend on the date or the time of day. */
const known = new Map<string, ModelPrice | undefined>();
const hourMs = 3_600_000;
const maxKnown = 20_000;

function pricesOf(model: string, at: number): ModelPrice | undefined {
  if (!list) return undefined;
  const name = `${model} ${Math.floor(at / hourMs)}`;
  const price = known.get(name);
  if (price || known.has(name)) return price;
  if (known.size >= maxKnown) known.clear();
  const found = lookUp(list, model, new Date(at));
  known.set(name, found);
  return found;
}

/**
 * Looks up a model by its name, then without the prefix and version of a reseller and without the suffix for the long window. Agents name Gemini models
 * also without the word that Google adds to them.
 */
function lookUp({ calcPrice }: PriceList, model: string, timestamp: Date): ModelPrice | undefined {
  const bare = model.replace(/\[1m\]$/i, '');
  const last = bare.slice(bare.lastIndexOf('/') + 1);
  const dashed = last.replace(/^(?:\w+\.)?anthropic\.(.*?)(?:-v\d+(?::\d+)?)?$/, '$1').replace(/(?<=^claude-.*\d)\.(?=\d)/, '-');
  for (const name of new Set([bare, last, dashed, ...(/^gemini-3/.test(last) ? [`${last}-preview`] : [])])) {
    const found = calcPrice({ input_tokens: 1 }, name, { timestamp });
    if (found) return found.model_price;
  }
  return undefined;
}

/** Whether the date in a model's name is later than the call, so that one of the two dates is wrong. */
function predates(model: string, at: number): boolean {
  const found = /-(20\d\d)-?([01]\d)-?([0-3]\d)(?:$|[^\d])/.exec(model);
  const released = found ? Date.parse(`${found[1]}-${found[2]}-${found[3]}`) : Number.NaN;
  return at < released - dayMs;
}

/** The number of calls that one transaction prices, and of calls whose sums one transaction computes. */
const pricedAtOnce = 2_000;
const summedAtOnce = 25_000;
const versionName = 'usage prices';
/** The first call that a long run still has to price. The sums of the calls before it may be out of date. */
const placeName = 'usage prices from';

/** Whether some calls have no price or an old one. */
export const pricesAreDue = (chain: ReadChain): boolean =>
  readDerivedProgress(chain, versionName) !== readUsageSettings(chain).version ||
  isInterrupted(chain) ||
  chain.db.one('SELECT 1 FROM usageCall INDEXED BY usageCallUnpriced WHERE project = ? AND priced IS NULL', chain.project) !== undefined;

/** Looks up missing prices, or all prices after a change of the list or of a person's own prices. Yields after each transaction of a long run. */
export function* priceInPieces(chain: WriteChain): Generator<void> {
  const settings = validSettings(chain);
  if (!settings || !list || priceFew(chain)) return;
  const { db } = chain;
  const { version } = settings;
  if (readDerivedProgress(chain, versionName) !== version)
    db.transaction(() => {
      setDerivedProgress(chain, versionName, version);
      setDerivedProgress(chain, placeName, 0);
    });
  else if (!isInterrupted(chain)) setDerivedProgress(chain, placeName, unpriced(chain)[0]?.no ?? 0);
  yield* priceMany(chain, settings);
}

/** The settings; undefined if a person's `usage.json` is not valid. A question says so, and other work leaves its calls without prices. */
const validSettings = (chain: ReadChain): UsageSettings | undefined => orUndefined(() => readUsageSettings(chain));

/** Prices calls while they are stored, if the list is loaded and no long run is due. Call it in the transaction that stores them. */
export function pricerOf(chain: WriteChain): Pricer | undefined {
  const settings = validSettings(chain);
  if (!list || !settings) return undefined;
  if (readDerivedProgress(chain, versionName) !== settings.version) {
    if (chain.db.one('SELECT 1 FROM usageCall WHERE project = ? LIMIT 1', chain.project)) return undefined;
    setDerivedProgress(chain, versionName, settings.version);
  }
  return isInterrupted(chain) ? undefined : (call) => pricedAs(chain, call, settings);
}

/** Looks up missing prices in one transaction, if they are few and no long run is due. Returns whether every call has its price then. */
export function priceFew(chain: WriteChain): boolean {
  if (!list) return false;
  const settings = readUsageSettings(chain);
  if (readDerivedProgress(chain, versionName) !== settings.version || isInterrupted(chain)) return false;
  const calls = unpriced(chain);
  if (calls.length > pricedAtOnce) return false;
  if (calls.length > 0)
    chain.db.transaction(() => {
      storePrices(chain, calls, settings);
      sumSessions(chain, [...new Set(calls.map(({ session }) => session))]);
    });
  return true;
}

const isInterrupted = ({ db, project }: ReadChain): boolean =>
  db.one('SELECT 1 FROM derivedProgress WHERE project = ? AND name = ?', project, placeName) !== undefined;

/** The first calls without a price, in the order of storage: up to one more than one transaction prices. */
const unpriced = ({ db, project }: ReadChain): PricedCall[] => db.all<PricedCall>(selectUnpriced, project);
/** Selects calls with the names of their sessions and models, in place of the numbers of these names. */
const selectCall = `SELECT u.*, ${nameIn('u.session')} AS session, ${nameIn('u.model')} AS model FROM usageCall u`;
const selectUnpriced = `${selectCall} INDEXED BY usageCallUnpriced WHERE project = ? AND priced IS NULL ORDER BY no LIMIT ${pricedAtOnce + 1}`;

/**
 * Prices calls in the order of storage and computes the sums of their sessions afterwards. The calls of a session may be far apart, so pricing by
 * session would rewrite the table many times. An interrupted run continues where it stopped.
 */
function* priceMany(chain: WriteChain, settings: UsageSettings): Generator<void> {
  const { db, project } = chain;
  for (;;) {
    const more = db.transaction(() => {
      const from = readDerivedProgress(chain, placeName);
      const calls = db.all<PricedCall>(`${selectCall} WHERE no >= ? AND +project = ? ORDER BY no LIMIT ${pricedAtOnce}`, from, project);
      storePrices(chain, calls, settings);
      const last = calls.at(-1);
      if (last) setDerivedProgress(chain, placeName, last.no + 1);
      return calls.length === pricedAtOnce;
    });
    yield;
    if (!more) break;
  }
  const select = `SELECT ${nameIn('u.session')} AS session, COUNT(*) AS calls FROM usageCall u WHERE project = ? GROUP BY u.session`;
  for (const some of batchesOf(db.all<{ session: string; calls: number }>(select, project), summedAtOnce)) {
    const names = some.map(({ session }) => session);
    db.transaction(() => sumSessions(chain, names));
    yield;
  }
  db.run('DELETE FROM derivedProgress WHERE project = ? AND name = ?', project, placeName);
}

type PricedCall = CallRow & { readonly priced: number | null };

/** Call it inside a transaction. Does not write calls whose price is unchanged. */
function storePrices(chain: WriteChain, calls: readonly PricedCall[], settings: UsageSettings): void {
  for (const call of calls) {
    const { cost, flaw } = pricedAs(chain, call, settings);
    if (call.priced === 1 && call.cost === cost && call.flaw === flaw) continue;
    chain.db.run('UPDATE usageCall SET priced = 1, cost = ?, flaw = ? WHERE no = ?', cost, flaw, call.no);
  }
}

function pricedAs(chain: ReadChain, call: Parameters<Pricer>[0], settings: UsageSettings): ReturnType<Pricer> {
  const cost = costOf(chain, call, settings);
  // A call that is dated before its model has no price.
  const isEarly = cost === null && call.model !== null && predates(call.model, call.at);
  return { cost, flaw: call.flaw ?? (isEarly ? 'the call is dated before its model' : null) };
}
