import { findCommit } from '../chain/index.js';
import {
  askContext,
  commonBase,
  compareFiles,
  compareMany,
  compareTurns,
  fileAt,
  followingTurns,
  listTurns,
  originalOf,
  recordedProvider,
  replaySteps,
  reproduceTurn,
  rerunTurn,
  rowFacts,
  sideOf,
  stateAt,
  stepEntries,
  turnOf,
  turnRequest,
  whatIf,
} from '../turns/index.js';
import { acts, machine, priced, reads, writes } from './procedure.js';

export const turnRouter = {
  list: reads.turn.list.handler(({ input, context }) => listTurns(context.chain, input)),
  get: priced.turn.get.handler(({ input, context }) => turnOf(context.chain, input.turnId)),
  facts: priced.turn.facts.handler(({ input, context }) => rowFacts(context.chain, input.ids)),
  steps: reads.turn.steps.handler(({ input, context }) => {
    const replay = replaySteps(context.chain, input.id, input.last);
    const { total, steps } = replay;
    return input.packed ? { total, steps: [], packed: JSON.stringify(replay) } : { total, steps };
  }),
  state: reads.turn.state.handler(({ input, context }) => stateAt(context.chain, input)),
  entries: reads.turn.entries.handler(({ input, context }) => stepEntries(context.chain, input)),
  file: reads.turn.file.handler(({ input, context }) => fileAt(context.chain, input)),
  original: reads.turn.original.handler(({ input, context }) => originalOf(context.chain, input.id)),
  compareFiles: reads.turn.compareFiles.handler(({ input, context }) => compareFiles(context.chain, input)),
  reproduce: reads.turn.reproduce.handler(({ input, context }) => reproduceTurn(context.chain, input.turnId)),
  providers: machine.turn.providers.handler(async ({ context: { session } }) => {
    const others = await Promise.all(
      (session.engine.options.providers ?? []).map(async (each) => ({ id: each.id, title: each.title, wire: each.wire, ...(await each.models()) })),
    );
    return [{ ...recordedProvider, models: [] }, ...others.map((provider) => ({ ...provider, models: [...provider.models] }))];
  }),
  rerun: writes.turn.rerun.handler(({ input, context, signal }) =>
    rerunTurn(context.chain, input, context.providers, signal, context.session.engine.questions),
  ),
  answer: writes.turn.answer.handler(({ input: { questionId, text, isError }, context: { session } }) => {
    session.engine.questions.answer(questionId, text === undefined ? undefined : { text, isError: isError ?? false });
    return {};
  }),
  request: reads.turn.request.handler(({ input, context }) =>
    turnRequest(context.chain, findCommit(context.chain, input.turnId, 'turnId'), input.wire ?? 'anthropic'),
  ),
  ask: acts.turn.ask.handler(({ input, context, signal }) => askContext(context.chain, input, context.providers, signal)),
  compare: priced.turn.compare.handler(({ input, context }) => compareTurns(context.chain, input.a, input.b)),
  following: reads.turn.following.handler(({ input, context }) => followingTurns(context.chain, input)),
  whatIf: writes.turn.whatIf.handler(({ input, context, signal }) =>
    whatIf(context.chain, input, context.providers, signal, context.session.engine.questions),
  ),
  sides: priced.turn.sides.handler(({ input: { ids }, context }) => ({
    base: commonBase(context.chain, ids),
    sides: ids.map((id) => sideOf(context.chain, id)),
  })),
  compareMany: priced.turn.compareMany.handler(({ input, context }) => compareMany(context.chain, input)),
};
