import { badRequest, isObject, type Json, parseJson } from '../base/index.js';
import { kept, type ReadChain } from '../chain/index.js';
import type { OwnPriced } from '../contract/index.js';

const modelFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'limit'] as const;
const budgetFields = ['day', 'session'] as const;
const rowFields = ['above', 'input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'webSearch'] as const;

/** A person's own prices, per million tokens, and window of a model. */
export type ModelSettings = Readonly<Partial<Record<(typeof modelFields)[number], number>>>;

export interface UsageSettings {
  /** A version that changes when the prices change. */
  readonly version: number;
  /** A person's budgets, in the currency of the price list. */
  readonly budgets: Readonly<Partial<Record<(typeof budgetFields)[number], number>>>;
  /** The settings of a model: for its exact name, else for the longest matching name that ends with `*`. */
  modelOf(model: string): ModelSettings | undefined;
  /**
   * A person's prices by model and day: exact names first, then the longest names with a star, and the latest day of each first. Of its rows, the one
   * with the largest `above` below the call's input counts.
   */
  readonly prices: readonly OwnPriced[];
}

/** Increase this number with the version of the price list. */
const listVersion = 2;
const none: UsageSettings = { version: listVersion, budgets: {}, modelOf: () => undefined, prices: [] };

/** The settings of this machine: `usage.json` in Stemma's data folder. @throws BAD_REQUEST if the file is not as `docs/usage.md` describes it. */
export function readUsageSettings(chain: ReadChain): UsageSettings {
  const text = chain.usageSettings();
  if (text === undefined) return none;
  return kept(chain, 'usage settings', '', text, () => settingsFrom(text), 2 * text.length);
}

/** A text that changes with the settings of this machine. */
export const settingsState = (chain: ReadChain): string => {
  const text = chain.usageSettings();
  return text === undefined ? '' : String(checksum(text));
};

/** The settings in the text of `usage.json`. @throws BAD_REQUEST if it is not valid. */
export const settingsFrom = (text: string | undefined): UsageSettings => (text === undefined ? none : settingsIn(text));

function settingsIn(text: string): UsageSettings {
  const parsed = parseJson(text);
  if (!isObject(parsed)) throw badRequest('usage.json', 'The file usage.json is not a JSON object.');
  const { models = {}, budgets = {}, prices = [], ...others } = parsed;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw badRequest('usage.json', `usage.json has the unknown member ${JSON.stringify(other)}. It can have models, prices and budgets.`);
  const byName = Object.entries(isObject(models) ? models : refuse('models', models, 'an object')).map(
    ([name, value]) => [name, modelIn(`models.${name}`, value)] as const,
  );
  const exact = new Map(byName);
  const prefixes = byName.filter(([name]) => name.endsWith('*')).sort(([a], [b]) => b.length - a.length);
  return {
    version: listVersion + checksum(text) * 16,
    budgets: numbersIn('budgets', budgets, budgetFields),
    prices: pricesIn(prices),
    modelOf: (model) => exact.get(model) ?? prefixes.find(([name]) => model.startsWith(name.slice(0, -1)))?.[1],
  };
}

/** The window and prices of a model. A price counts only beside those of input and output. */
function modelIn(where: string, value: Json): ModelSettings {
  const { limit, ...prices } = numbersIn(where, value, modelFields);
  const isWhole = prices.input !== undefined && prices.output !== undefined;
  if (!isWhole && Object.keys(prices).length > 0) return refuse(where, value, 'an object with input and output, if it has a price');
  return { ...prices, ...(limit !== undefined && { limit }) };
}

function pricesIn(value: Json): OwnPriced[] {
  if (!Array.isArray(value)) return refuse('prices', value, 'a list');
  const all = value.map((given: Json, at): OwnPriced => {
    const where = `prices[${at}]`;
    const { model, from, rows, ...others } = isObject(given) ? given : refuse(where, given, 'an object with model, from and rows');
    if (typeof model !== 'string' || model === '') return refuse(`${where}.model`, model ?? null, 'the name of a model');
    if (typeof from !== 'string' || !isDay(from)) return refuse(`${where}.from`, from ?? null, 'a date such as 2026-01-31');
    if (!Array.isArray(rows) || rows.length === 0) return refuse(`${where}.rows`, rows ?? null, 'a list with at least one row');
    const [other] = Object.keys(others);
    if (other !== undefined) return refuse(`${where}.${other}`, others[other] ?? null, 'model, from or rows');
    const read = rows.map((row: Json, n) => rowIn(`${where}.rows[${n}]`, row));
    const twice = read.findIndex(({ above = 0 }, n) => read.findIndex((row) => (row.above ?? 0) === above) < n);
    if (twice >= 0) return refuse(`${where}.rows[${twice}]`, rows[twice] ?? null, 'the only row for inputs of this size');
    return { model, from, rows: read };
  });
  const twice = all.findIndex(({ model, from }, at) => all.findIndex((one) => one.model === model && one.from === from) < at);
  if (twice >= 0) return refuse(`prices[${twice}]`, value[twice] ?? null, 'the only prices of its model from that day on');
  return all.sort((a, b) => starOf(a) - starOf(b) || b.model.length - a.model.length || Date.parse(b.from) - Date.parse(a.from));
}

const starOf = ({ model }: OwnPriced): number => (model.endsWith('*') ? 1 : 0);

/** Whether a text is a day of the calendar. JavaScript reads 2026-02-31 as a day of March. */
const isDay = (text: string): boolean => {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
};

function rowIn(where: string, value: Json): OwnPriced['rows'][number] {
  const { input, output, ...others } = numbersIn(where, value, rowFields);
  if (input === undefined || output === undefined) return refuse(where, value, 'an object with at least input and output');
  if (!Number.isInteger(others.above ?? 0)) return refuse(`${where}.above`, others.above ?? null, 'a whole number');
  return { input, output, ...others };
}

/** The text of `usage.json` with other prices, and everything else unchanged. @throws BAD_REQUEST if the file or a price is not valid. */
export function withPrices(text: string | undefined, change: (prices: readonly OwnPriced[]) => readonly OwnPriced[]): string {
  const before = settingsFrom(text);
  const parsed = text === undefined ? {} : parseJson(text);
  const changed = `${JSON.stringify({ ...(isObject(parsed) ? parsed : {}), prices: change(before.prices) }, null, 2)}\n`;
  settingsIn(changed);
  return changed;
}

function numbersIn<Name extends string>(where: string, value: Json, fields: readonly Name[]): Partial<Record<Name, number>> {
  if (!isObject(value)) return refuse(where, value, 'an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, number]) => {
      if (!(fields as readonly string[]).includes(name)) return refuse(`${where}.${name}`, number, `one of ${fields.join(', ')}`);
      if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) return refuse(`${where}.${name}`, number, 'a number of 0 or more');
      return [name, number] as const;
    }),
  ) as Partial<Record<Name, number>>;
}

function refuse(where: string, value: Json, wanted: string): never {
  throw badRequest('usage.json', `usage.json: ${where} is ${JSON.stringify(value)}, and must be ${wanted}.`);
}

/** A hash of a text, small enough to be stored exactly as a number. */
function checksum(text: string): number {
  let sum = 5_381;
  for (let at = 0; at < text.length; at++) sum = ((sum * 33) ^ text.charCodeAt(at)) >>> 0;
  return sum;
}
