import { judgeCompaction } from '../assist/index.js';
import {
  loadPrices,
  loadTokenizer,
  measureContext,
  usageCalls,
  usageCompaction,
  usageFillers,
  usageOfContext,
  usageSeries,
  usageSessions,
} from '../usage/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `usage`. The list of prices is large, so it is loaded at the first question. */
export const usageRouter = {
  context: os.usage.context.handler(async ({ input, context }) => {
    await loadTokenizer();
    await measureContext(chainOf(context), input.id);
    return usageOfContext(chainOf(context), input.id);
  }),
  calls: os.usage.calls.handler(async ({ input, context }) => {
    await loadPrices();
    return usageCalls(chainOf(context), input);
  }),
  series: os.usage.series.handler(async ({ input, context }) => {
    await loadTokenizer();
    await measureContext(chainOf(context), input.id);
    return usageSeries(chainOf(context), input.id);
  }),
  fillers: os.usage.fillers.handler(({ input, context }) => usageFillers(chainOf(context), input.id)),
  compaction: os.usage.compaction.handler(({ input, context }) => usageCompaction(chainOf(context), input)),
  judgeCompaction: os.usage.judgeCompaction.handler(({ input, context, signal }) =>
    judgeCompaction(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  sessions: os.usage.sessions.handler(async ({ input, context }) => {
    await loadPrices();
    return usageSessions(chainOf(context), input);
  }),
};
