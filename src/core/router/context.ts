import { defaultSummarizer, listInstantiations, listSummaries, summarizeCommits, versionsOfCommit } from '../assist/index.js';
import {
  checkpoint,
  compact,
  entries,
  entriesNear,
  find,
  fork,
  graphMap,
  history,
  instantiate,
  materialize,
  outlineRows,
  placedInPieces,
  resolve,
  show,
  snapshot,
  tips,
  update,
} from '../chain/index.js';
import { packOutline } from '../contract/index.js';
import { compareCalls, compareContexts } from '../turns/index.js';
import { countedGraph } from '../usage/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `context`. */
export const contextRouter = {
  checkpoint: os.context.checkpoint.handler(({ input, context }) => checkpoint(chainOf(context), input)),
  materialize: os.context.materialize.handler(({ input, context }) => {
    const made = materialize(chainOf(context), input);
    return { ...made, commits: [...made.commits], losses: [...made.losses], lossCounts: [...made.lossCounts] };
  }),
  resolve: os.context.resolve.handler(({ input, context }) => resolve(chainOf(context), input.principal, input.at)),
  show: os.context.show.handler(({ input, context }) => show(chainOf(context), input.id)),
  history: os.context.history.handler(({ input, context }) => history(chainOf(context), input.id, input.depth)),
  update: os.context.update.handler(({ input, context }) => update(chainOf(context), input.id, input)),
  tips: os.context.tips.handler(({ input, context }) => tips(chainOf(context), input)),
  graph: os.context.graph.handler(({ input, context }) => countedGraph(chainOf(context), input)),
  graphMap: os.context.graphMap.handler(({ input, context }) => graphMap(chainOf(context), input)),
  entries: os.context.entries.handler(({ input, context }) => entries(chainOf(context), input)),
  outline: os.context.outline.handler(async ({ input: { packed, near, ...query }, context }) => {
    const part = near !== undefined && entriesNear(chainOf(context), query, near);
    if (part) return part;
    for (const _ of placedInPieces(chainOf(context), query)) await new Promise((resolve) => setTimeout(resolve));
    const outline = outlineRows(chainOf(context), query);
    return packed ? { ...outline, rows: [], packed: packOutline(outline.rows) } : outline;
  }),
  find: os.context.find.handler(({ input, context }) => find(chainOf(context), input)),
  fork: os.context.fork.handler(({ input, context }) => fork(chainOf(context), input)),
  compact: os.context.compact.handler(({ input, context }) => compact(chainOf(context), input.id, input.summary, [], input.principal)),
  snapshot: os.context.snapshot.handler(({ input, context }) => snapshot(chainOf(context), input.id, input.stop, input.principal)),
  summarize: os.context.summarize.handler(({ input, context, signal }) =>
    summarizeCommits(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  summaries: os.context.summaries.handler(({ input, context }) => listSummaries(chainOf(context), input)),
  summarizer: os.context.summarizer.handler(({ context: { session } }) => session.project().summarizer.status()),
  setSummarizer: os.context.setSummarizer.handler(({ input: { enabled, ...given }, context: { session } }) => {
    const { provider = null, model = null, callsPerDay = defaultSummarizer.callsPerDay, perMinute = defaultSummarizer.perMinute } = given;
    return session.project().summarizer.set(enabled ? { provider, model, callsPerDay, perMinute } : undefined);
  }),
  versions: os.context.versions.handler(({ input, context }) => versionsOfCommit(chainOf(context), input.id)),
  instantiations: os.context.instantiations.handler(({ input, context }) => listInstantiations(chainOf(context), input)),
  instantiate: os.context.instantiate.handler(({ input, context }) => {
    const made = instantiate(chainOf(context), input);
    return { ...made, commits: [...made.commits] };
  }),
  diff: os.context.diff.handler(({ input, context }) => compareContexts(chainOf(context), input)),
  diffCalls: os.context.diffCalls.handler(({ input, context }) => compareCalls(chainOf(context), input)),
};
