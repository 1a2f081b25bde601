import { badRequest, isObject, type Json, parseJson } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';

/** A person's own prices, per million tokens, and window of a model. */
export interface ModelSettings {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly limit?: number;
}

/** A person's budgets, in the currency of the price list. */
export interface Budgets {
  readonly day?: number;
  readonly session?: number;
}

export interface UsageSettings {
  /** A version that changes when the prices change. */
  readonly version: number;
  readonly budgets: Budgets;
  /** The settings of a model: for its exact name, else for the longest matching name that ends with `*`. */
  modelOf(model: string): ModelSettings | undefined;
}

/** Increase this number with the version of the price list. */
const listVersion = 1;
const none: UsageSettings = { version: listVersion, budgets: {}, modelOf: () => undefined };

const latest = new WeakMap<ReadChain, { readonly text: string | undefined; readonly settings: UsageSettings }>();

/** The settings of this machine: `usage.json` in Stemma's data folder. @throws BAD_REQUEST if the file is not as `docs/usage.md` describes it. */
export function settingsOf(chain: ReadChain): UsageSettings {
  const text = chain.usageSettings();
  const before = latest.get(chain);
  if (before && before.text === text) return before.settings;
  const settings = text === undefined ? none : settingsIn(text);
  latest.set(chain, { text, settings });
  return settings;
}

const modelFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'limit'] as const;
const budgetFields = ['day', 'session'] as const;

function settingsIn(text: string): UsageSettings {
  const parsed = parseJson(text);
  if (!isObject(parsed)) throw badRequest('usage.json', 'The file usage.json is not a JSON object.');
  const { models = {}, budgets = {}, ...others } = parsed;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw badRequest('usage.json', `usage.json has the unknown member ${JSON.stringify(other)}. It can have models and budgets.`);
  const byName = Object.entries(isObject(models) ? models : refuse('models', models, 'an object')).map(
    ([name, value]) => [name, numbersIn(`models.${name}`, value, modelFields)] as const,
  );
  const exact = new Map(byName);
  const prefixes = byName.filter(([name]) => name.endsWith('*')).sort(([a], [b]) => b.length - a.length);
  return {
    version: listVersion + checksum(text) * 16,
    budgets: numbersIn('budgets', budgets, budgetFields),
    modelOf: (model) => exact.get(model) ?? prefixes.find(([name]) => model.startsWith(name.slice(0, -1)))?.[1],
  };
}

function numbersIn<Name extends string>(where: string, value: Json, fields: readonly Name[]): Partial<Record<Name, number>> {
  if (!isObject(value)) return refuse(where, value, 'an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, number]) => {
      if (!(fields as readonly string[]).includes(name)) return refuse(`${where}.${name}`, number, `one of ${fields.join(', ')}`);
      if (typeof number !== 'number' || !(number >= 0)) return refuse(`${where}.${name}`, number, 'a number of 0 or more');
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
