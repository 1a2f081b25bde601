import { judgeCompaction } from '../assist/index.js';
import type { ContextId } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { UsageContext, UsageSeries } from '../contract/index.js';
import { WorkerFailed } from '../project/index.js';
import {
  loadTokenizer,
  preparePrices,
  usageCalls,
  usageCompaction,
  usageFillers,
  usageOfContext,
  usageSeries,
  usageSessions,
  usageSides,
} from '../usage/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

/** Lets the thread count the tokens, so that the engine answers other calls meanwhile. Without a thread, the engine counts them itself. */
async function inThread<Result>(
  { session }: RouterContext,
  about: 'context' | 'series',
  id: ContextId,
  ask: (chain: Chain, id: ContextId) => Result,
): Promise<Result> {
  const { usageThread, usageSettings, chain } = session.project();
  if (usageThread)
    try {
      return await usageThread.ask<Result>(about, id, usageSettings());
    } catch (error) {
      if (!(error instanceof WorkerFailed)) throw error;
    }
  await loadTokenizer();
  return ask(chain, id);
}

/** The procedures of `usage`. The list of prices is large, so it is loaded at the first call. */
export const usageRouter = {
  context: os.usage.context.handler(({ input, context }) => inThread<UsageContext>(context, 'context', input.id, usageOfContext)),
  calls: os.usage.calls.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return usageCalls(chainOf(context), input);
  }),
  series: os.usage.series.handler(({ input, context }) => inThread<UsageSeries>(context, 'series', input.id, usageSeries)),
  fillers: os.usage.fillers.handler(({ input, context }) => usageFillers(chainOf(context), input.id)),
  sides: os.usage.sides.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return usageSides(chainOf(context), input.ids);
  }),
  compaction: os.usage.compaction.handler(({ input, context }) => usageCompaction(chainOf(context), input)),
  judgeCompaction: os.usage.judgeCompaction.handler(({ input, context, signal }) =>
    judgeCompaction(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  sessions: os.usage.sessions.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return usageSessions(chainOf(context), input);
  }),
};
