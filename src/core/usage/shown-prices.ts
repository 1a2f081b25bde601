import type { ReadChain } from '../chain/index.js';
import type { PriceTable } from '../contract/index.js';
import { quarterMs } from './facts.js';
import { limitOf, priceTable } from './price-table.js';
import { currency, ownPrices, priceDate, ratesOf, stepsOf } from './prices.js';
import { readUsageSettings, settingsFrom } from './settings.js';

/** The prices and windows of this machine, for a person to check. `text`: the content of `usage.json`. */
export function pricesShown(chain: ReadChain | undefined, text: string | undefined): PriceTable {
  const { asOf, factors, tools, windows } = priceTable;
  return {
    list: { name: '@pydantic/genai-prices', date: priceDate },
    asOf,
    currency,
    factors,
    tools,
    windows,
    own: [...settingsFrom(text).prices],
    models: chain ? modelsOf(chain) : [],
  };
}

/** The models of a project's calls, those with the most calls first. */
function modelsOf(chain: ReadChain): PriceTable['models'] {
  const settings = readUsageSettings(chain);
  const used =
    "SELECT model, SUM(calls) AS calls, MAX(quarter) FROM usageSum WHERE project = ? AND model <> '' GROUP BY model ORDER BY calls DESC, model";
  const base = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: null, output: 0, windowTokens: null, terms: null };
  return chain.db.rows<[model: string, calls: number, quarter: number]>(used, chain.project).map(([model, calls, quarter]) => {
    const at = quarter * quarterMs;
    const rows = stepsOf(model, at, settings).flatMap((above) => {
      const rates = ratesOf(chain, { ...base, at, model, input: above + 1 }, settings);
      return rates ? [{ ...(above > 0 && { above }), ...rates }] : [];
    });
    const isOwn = settings.modelOf(model)?.input !== undefined || ownPrices(settings, model, at) !== undefined;
    return { model, calls, rows, limit: limitOf(chain, model), source: rows.length === 0 ? 'unknown' : isOwn ? 'own' : 'list' };
  });
}
