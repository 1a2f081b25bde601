import { judgeCompaction } from '../assist/index.js';
import type { UsageSeries } from '../contract/index.js';
import { type Answered, WorkerFailed } from '../project/index.js';
import {
  type LongQuestion,
  loadTokenizer,
  longAnswers,
  preparePrices,
  usageCalls,
  usageCompaction,
  usageFillers,
  usageSessions,
  usageSides,
} from '../usage/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

/** Lets the thread answer, so that the engine answers other calls meanwhile. Without a thread, the engine answers itself. */
async function inThread<About extends keyof typeof longAnswers>({ session }: RouterContext, about: About, question: LongQuestion) {
  const { usageThread, usageSettings, chain } = session.project();
  if (usageThread)
    try {
      return await usageThread.ask(about, question, usageSettings());
    } catch (error) {
      if (!(error instanceof WorkerFailed)) throw error;
    }
  await loadTokenizer();
  return longAnswers[about](chain, question) as Answered<About>;
}

/** The procedures of `usage`. The list of prices is large, so it is loaded at the first call. */
export const usageRouter = {
  context: os.usage.context.handler(({ input, context }) => inThread(context, 'context', input)),
  calls: os.usage.calls.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    const { packed, ...query } = input;
    const found = usageCalls(chainOf(context), query);
    return packed ? { ...found, calls: [], packed: JSON.stringify(found.calls) } : found;
  }),
  series: os.usage.series.handler(async ({ input, context }) => {
    const { packed, ...series } = await inThread(context, 'series', { id: input.id });
    return input.packed ? { ...series, calls: [], packed } : { ...series, calls: JSON.parse(packed) as UsageSeries['calls'] };
  }),
  fillers: os.usage.fillers.handler(({ input, context }) => usageFillers(chainOf(context), input.id)),
  largest: os.usage.largest.handler(({ input, context }) => inThread(context, 'largest', input)),
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
