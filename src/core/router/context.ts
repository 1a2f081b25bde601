import { defaultSummarizer, listInstantiations, listSummaries, summarizeCommits, versionsOfCommit } from '../assist/index.js';
import * as chain from '../chain/index.js';
import { packOutline } from '../contract/index.js';
import { titledGraph } from '../sessions/index.js';
import { compareCalls, compareContexts } from '../turns/index.js';
import { unstoredWindows } from '../usage/index.js';
import { countsCalls, live, reads, writes } from './procedure.js';

export const contextRouter = {
  checkpoint: writes.context.checkpoint.handler(({ input, context }) => chain.checkpoint(context.chain, input)),
  materialize: reads.context.materialize.handler(({ input, context }) => chain.readMaterialized(context.chain, input)),
  resolve: reads.context.resolve.handler(({ input, context }) => chain.resolve(context.chain, input.principal, input.at)),
  show: reads.context.show.handler(({ input, context }) => chain.show(context.chain, input.id)),
  history: reads.context.history.handler(({ input, context }) => chain.history(context.chain, input.id, input.depth)),
  update: writes.context.update.handler(({ input, context }) => chain.update(context.chain, input.id, input)),
  tips: reads.context.tips.handler(({ input, context }) => chain.tips(context.chain, input)),
  graph: countsCalls.context.graph.handler(({ input, context }) => titledGraph(context.chain, input, unstoredWindows)),
  graphMap: reads.context.graphMap.handler(({ input, context }) => chain.graphMap(context.chain, input)),
  entries: reads.context.entries.handler(({ input, context }) => chain.entries(context.chain, input)),
  outline: reads.context.outline.handler(async ({ input: { packed, near, ...query }, context }) => {
    const part = near !== undefined && chain.entriesNear(context.chain, query, near);
    if (part) return part;
    if (query.limit === undefined) for (const _ of chain.placedInPieces(context.chain, query)) await new Promise((resolve) => setTimeout(resolve));
    const outline = chain.outlinePart(context.chain, query);
    return packed ? { ...outline, rows: [], packed: packOutline(outline.rows) } : outline;
  }),
  find: reads.context.find.handler(({ input, context }) => chain.find(context.chain, input)),
  fork: writes.context.fork.handler(({ input, context }) => chain.fork(context.chain, input)),
  compact: writes.context.compact.handler(({ input, context }) => chain.compact(context.chain, input.id, input.summary, [], input.principal)),
  snapshot: writes.context.snapshot.handler(({ input, context }) => chain.snapshot(context.chain, input.id, input.stop, input.principal)),
  summarize: writes.context.summarize.handler(({ input, context, signal }) => summarizeCommits(context.chain, input, context.providers, signal)),
  summaries: reads.context.summaries.handler(({ input, context }) => listSummaries(context.chain, input)),
  summarizer: live.context.summarizer.handler(({ context: { session } }) => session.project().summarizer.status()),
  setSummarizer: writes.context.setSummarizer.handler(({ input: { enabled, ...given }, context: { session } }) => {
    const { provider = null, model = null, callsPerDay = defaultSummarizer.callsPerDay, perMinute = defaultSummarizer.perMinute } = given;
    return session.project().summarizer.set(enabled ? { provider, model, callsPerDay, perMinute } : undefined);
  }),
  versions: reads.context.versions.handler(({ input, context }) => versionsOfCommit(context.chain, input.id)),
  instantiations: reads.context.instantiations.handler(({ input, context }) => listInstantiations(context.chain, input)),
  instantiate: writes.context.instantiate.handler(({ input, context }) => chain.instantiate(context.chain, input)),
  diff: reads.context.diff.handler(({ input, context }) => compareContexts(context.chain, input)),
  diffCalls: reads.context.diffCalls.handler(({ input, context }) => compareCalls(context.chain, input)),
};
