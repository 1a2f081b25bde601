import { notFound } from '../base/index.js';
import type { PriceTable } from '../contract/index.js';
import { changePrices, ownUsageSettings, type Session } from '../project/index.js';
import { loadPrices, pricesShown } from '../usage/index.js';
import { machine } from './procedure.js';

async function table({ session }: { readonly session: Session }): Promise<PriceTable> {
  const chain = session.openProject()?.chain;
  await loadPrices();
  if (chain) await session.reading.prepare('usage');
  return pricesShown(chain, ownUsageSettings(session.engine.options.dataDir));
}

/** The procedures of `price`. A person's own prices belong to this machine. */
export const priceRouter = {
  list: machine.price.list.handler(({ context }) => table(context)),
  set: machine.price.set.handler(async ({ input, context }) => {
    changePrices(context.session.engine.options.dataDir, (prices) => [
      ...prices.filter(({ model, from }) => model !== input.model || from !== input.from),
      input,
    ]);
    return await table(context);
  }),
  remove: machine.price.remove.handler(async ({ input, context }) => {
    changePrices(context.session.engine.options.dataDir, (prices) => {
      const others = prices.filter(({ model, from }) => model !== input.model || (input.from !== undefined && from !== input.from));
      if (others.length === prices.length) throw notFound(input.model, `there are no own prices of ${input.model}`);
      return others;
    });
    return await table(context);
  }),
};
