import type { ReadChain } from '../chain/index.js';
import type { OwnPriced, PriceTable } from '../contract/index.js';
import { quarterMs } from './facts.js';
import { limitOf } from './limits.js';
import { priceTable } from './price-table.js';
import { currency, hasOwnRates, priceDate, ratesOf, stepsOf } from './prices.js';
import { readUsageSettings, settingsFrom } from './settings.js';

/** The prices and windows of this machine, for a person to check. `text`: the content of `usage.json`. */
export function pricesShown(chain: ReadChain | undefined, text: string | undefined): PriceTable {
  const own = settingsFrom(text).prices;
  return {
    list: { name: '@pydantic/genai-prices', date: priceDate },
    asOf: priceTable.asOf,
    currency,
    own: own.map((row): OwnPriced => ({ ...row, rows: row.rows.map((one) => ({ ...one })) })),
    models: chain ? modelsOf(chain) : [],
    factors: priceTable.factors,
    tools: priceTable.tools,
    windows: priceTable.windows,
  };
}

/** The models of a project's calls, those with the most calls first. */
function modelsOf(chain: ReadChain): PriceTable['models'] {
  const settings = readUsageSettings(chain);
  const used = chain.db.all<{ model: string; calls: number; quarter: number }>(
    "SELECT model, SUM(calls) AS calls, MAX(quarter) AS quarter FROM usageSum WHERE project = ? AND model <> '' GROUP BY model ORDER BY calls DESC, model",
    chain.project,
  );
  const base = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: null, output: 0, windowTokens: null, terms: null };
  return used.map(({ model, calls, quarter }) => {
    const at = quarter * quarterMs;
    const rows = stepsOf(model, at, settings).flatMap((above) => {
      const rates = ratesOf(chain, { ...base, at, model, input: above + 1 }, settings);
      if (!rates) return [];
      const { webSearch, ...prices } = rates;
      return [{ ...(above > 0 && { above }), ...prices, ...(webSearch !== undefined && { webSearch }) }];
    });
    const isOwn = settings.modelOf(model)?.input !== undefined || hasOwnRates(settings, model, at);
    const source = rows.length === 0 ? ('unknown' as const) : isOwn ? ('own' as const) : ('list' as const);
    return { model, calls, rows, limit: limitOf(chain, model), source };
  });
}
