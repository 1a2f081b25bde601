import { judgeCompaction } from '../assist/index.js';
import * as usage from '../usage/index.js';
import { acts, counts, priced } from './procedure.js';

export const usageRouter = {
  context: counts.usage.context.handler(({ input, context }) => usage.withTokenizer(() => usage.usageOfContext(context.chain, input.id))),
  fork: counts.usage.fork.handler(({ input, context }) => usage.usageOfFork(context.chain, input)),
  calls: priced.usage.calls.handler(async ({ input, context }) => {
    const { packed, ...query } = input;
    if (query.id === undefined && query.filter?.miss) await context.reading.prepare('analysis');
    const found = usage.usageCalls(context.chain, query);
    return packed ? { ...found, calls: [], packed: JSON.stringify(found.calls) } : found;
  }),
  series: counts.usage.series.handler(async ({ input, context }) => {
    const series = await usage.withTokenizer(() => usage.usageSeries(context.chain, input.id, input.last));
    return input.packed ? { ...series, calls: [], packed: JSON.stringify(series.calls) } : series;
  }),
  fillers: counts.usage.fillers.handler(({ input, context }) => usage.usageFillers(context.chain, input)),
  largest: counts.usage.largest.handler(({ input, context }) => usage.usageLargest(context.chain, input.id, input.limit)),
  sides: priced.usage.sides.handler(({ input, context }) => usage.usageSides(context.chain, input.ids)),
  compaction: counts.usage.compaction.handler(({ input, context }) => usage.usageCompaction(context.chain, input)),
  judgeCompaction: acts.usage.judgeCompaction.handler(({ input, context, signal }) =>
    judgeCompaction(context.chain, input, context.providers, signal),
  ),
  sessions: priced.usage.sessions.handler(({ input, context }) => usage.usageSessions(context.chain, input)),
};
