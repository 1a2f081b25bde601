import { list, matching, name, procedure } from './scalars.js';
import * as z from './z.js';

const price = z.number().nonnegative();

/** Prices in US dollars: per million tokens, and per search. */
const priceRow = z.strictObject({
  above: price.int().optional().describe('The row is for inputs of more tokens than this. Without it, for all inputs.'),
  input: price.describe('The price of a million input tokens.'),
  output: price.describe('The price of a million output tokens.'),
  cacheRead: price.optional().describe('The price of a million tokens that are read from the cache. The default is `input`.'),
  cacheWrite: price.optional().describe('The price of a million tokens that are written to the cache. The default is `input`.'),
  cacheWrite1h: price.optional().describe('The price of a million tokens that the cache keeps for an hour. The default is `cacheWrite`.'),
  webSearch: price.optional().describe('The price of one web search.'),
});

const day = matching(/^20\d\d-[01]\d-[0-3]\d$/, 'a date has the form 2026-01-31', 10).describe('The first day of the prices, such as 2026-01-31.');
const model = name.describe('The model. A star at its end stands for any ending.');

const priced = z.object({ model: z.string(), from: z.string(), rows: z.array(priceRow) });
export type OwnPriced = z.output<typeof priced>;

const models = z.string().describe('The models that the pattern matches, in words.');

export const priceTable = z.object({
  /** The built-in list of prices, and the day of its version. */
  list: z.object({ name: z.string(), date: z.string() }),
  /** The day of Stemma's own data file. */
  asOf: z.string(),
  currency: z.string(),
  /** A person's own prices, which come first. */
  own: z.array(priced),
  /** The models of the open project with the prices of their latest calls. `rows` is empty for a model that no table knows. */
  models: z.array(
    z.object({
      model: z.string(),
      calls: z.number().int(),
      rows: z.array(priceRow),
      limit: z.number().int().nullable(),
      source: z.enum(['own', 'list', 'unknown']),
    }),
  ),
  factors: z.array(
    z.object({
      pattern: z.string(),
      models,
      speed: z.string().optional(),
      tier: z.string().optional(),
      geo: z.string().optional(),
      factor: z.number(),
      source: z.string(),
    }),
  ),
  tools: z.array(z.object({ pattern: z.string(), models, tool: z.string(), price: z.number(), source: z.string() })),
  windows: z.array(z.object({ pattern: z.string(), models, limit: z.number().int(), long: z.number().int().optional(), source: z.string() })),
});
export type PriceTable = z.output<typeof priceTable>;

export const priceContract = {
  list: procedure(
    'Lists prices and context windows with their sources: a person’s own, those of the models of the open project, and what else sets a price.',
  ).returns(priceTable),
  set: procedure(
    'Sets a person’s own prices of a model from a day on. They replace the built-in ones on this machine, and all calls are priced again.',
    { model, from: day, rows: list(priceRow, 20).min(1).describe('The prices, one row for each size of input.') },
  ).returns(priceTable),
  remove: procedure('Removes a person’s own prices of a model.', {
    model,
    from: day.optional().describe('Only the prices from this day on. Without it, all of the model.'),
  }).returns(priceTable),
};
