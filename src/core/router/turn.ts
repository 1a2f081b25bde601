import { findCommit } from '../chain/index.js';
import * as turns from '../turns/index.js';
import { acts, machine, priced, reads, writes } from './procedure.js';

export const turnRouter = {
  list: reads.turn.list.handler(({ input, context }) => turns.listTurns(context.chain, input)),
  get: priced.turn.get.handler(({ input, context }) => turns.turnOf(context.chain, input.turnId)),
  facts: priced.turn.facts.handler(({ input, context }) => turns.rowFacts(context.chain, input.ids)),
  steps: reads.turn.steps.handler(({ input, context }) => {
    const replay = turns.replaySteps(context.chain, input.id, input.last);
    const { total, steps } = replay;
    return input.packed ? { total, steps: [], packed: JSON.stringify(replay) } : { total, steps };
  }),
  state: reads.turn.state.handler(({ input, context }) => turns.stateAt(context.chain, input)),
  entries: reads.turn.entries.handler(({ input, context }) => turns.stepEntries(context.chain, input)),
  file: reads.turn.file.handler(({ input, context }) => turns.fileAt(context.chain, input)),
  original: reads.turn.original.handler(({ input, context }) => turns.originalOf(context.chain, input.id)),
  compareFiles: reads.turn.compareFiles.handler(({ input, context }) => turns.compareFiles(context.chain, input)),
  reproduce: reads.turn.reproduce.handler(({ input, context }) => turns.reproduceTurn(context.chain, input.turnId)),
  providers: machine.turn.providers.handler(async ({ context: { session } }) => {
    const others = await Promise.all(
      (session.engine.options.providers ?? []).map(async (each) => ({ id: each.id, title: each.title, wire: each.wire, ...(await each.models()) })),
    );
    return [{ ...turns.recordedProvider, models: [] }, ...others.map((provider) => ({ ...provider, models: [...provider.models] }))];
  }),
  rerun: writes.turn.rerun.handler(({ input, context, signal }) =>
    turns.rerunTurn(context.chain, input, context.providers, signal, context.session.engine.questions),
  ),
  answer: writes.turn.answer.handler(({ input: { questionId, text, isError }, context: { session } }) => {
    session.engine.questions.answer(questionId, text === undefined ? undefined : { text, isError: isError ?? false });
    return {};
  }),
  request: reads.turn.request.handler(({ input, context }) =>
    turns.turnRequest(context.chain, findCommit(context.chain, input.turnId, 'turnId'), input.wire ?? 'anthropic'),
  ),
  ask: acts.turn.ask.handler(({ input, context, signal }) => turns.askContext(context.chain, input, context.providers, signal)),
  compare: priced.turn.compare.handler(({ input, context }) => turns.compareTurns(context.chain, input.a, input.b)),
  following: reads.turn.following.handler(({ input, context }) => turns.followingTurns(context.chain, input)),
  whatIf: writes.turn.whatIf.handler(({ input, context, signal }) =>
    turns.whatIf(context.chain, input, context.providers, signal, context.session.engine.questions),
  ),
  sides: priced.turn.sides.handler(({ input: { ids }, context }) => ({
    base: turns.commonBase(context.chain, ids),
    sides: ids.map((id) => turns.sideOf(context.chain, id)),
  })),
  compareMany: priced.turn.compareMany.handler(({ input, context }) => turns.compareMany(context.chain, input)),
};
