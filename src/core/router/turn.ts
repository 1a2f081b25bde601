import { commitOf } from '../chain/index.js';
import {
  askContext,
  commonBase,
  compareMany,
  compareTurns,
  fileAt,
  followingTurns,
  listTurns,
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
import { preparePrices } from '../usage/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `turn`. */
export const turnRouter = {
  list: os.turn.list.handler(({ input, context }) => listTurns(chainOf(context), input)),
  get: os.turn.get.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return turnOf(chainOf(context), input.turnId);
  }),
  facts: os.turn.facts.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return rowFacts(chainOf(context), input.ids);
  }),
  steps: os.turn.steps.handler(({ input, context }) => {
    const { id, packed } = input;
    const { steps } = replaySteps(chainOf(context), id);
    return packed ? { steps: [], packed: JSON.stringify({ steps, turns: listTurns(chainOf(context), { id }) }) } : { steps };
  }),
  state: os.turn.state.handler(({ input, context }) => stateAt(chainOf(context), input)),
  entries: os.turn.entries.handler(({ input, context }) => stepEntries(chainOf(context), input)),
  file: os.turn.file.handler(({ input, context }) => fileAt(chainOf(context), input)),
  reproduce: os.turn.reproduce.handler(({ input, context }) => reproduceTurn(chainOf(context), input.turnId)),
  providers: os.turn.providers.handler(async ({ context: { session } }) => {
    const others = await Promise.all(
      (session.engine.options.providers ?? []).map(async (each) => ({ id: each.id, title: each.title, wire: each.wire, ...(await each.models()) })),
    );
    return [{ ...recordedProvider, models: [] }, ...others.map((provider) => ({ ...provider, models: [...provider.models] }))];
  }),
  rerun: os.turn.rerun.handler(({ input, context, signal }) =>
    rerunTurn(chainOf(context), input, context.session.engine.options.providers ?? [], signal, context.session.engine.questions),
  ),
  answer: os.turn.answer.handler(({ input: { questionId, text, isError }, context: { session } }) => {
    session.engine.questions.answer(questionId, text === undefined ? undefined : { text, isError: isError ?? false });
    return {};
  }),
  request: os.turn.request.handler(({ input, context }) =>
    turnRequest(chainOf(context), commitOf(chainOf(context), input.turnId, 'turnId'), input.wire ?? 'anthropic'),
  ),
  ask: os.turn.ask.handler(({ input, context, signal }) =>
    askContext(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  compare: os.turn.compare.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return compareTurns(chainOf(context), input.a, input.b);
  }),
  following: os.turn.following.handler(({ input, context }) => followingTurns(chainOf(context), input)),
  whatIf: os.turn.whatIf.handler(({ input, context, signal }) =>
    whatIf(chainOf(context), input, context.session.engine.options.providers ?? [], signal, context.session.engine.questions),
  ),
  sides: os.turn.sides.handler(async ({ input: { ids }, context }) => {
    await preparePrices(chainOf(context));
    return { base: commonBase(chainOf(context), ids), sides: ids.map((id) => sideOf(chainOf(context), id)) };
  }),
  compareMany: os.turn.compareMany.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return compareMany(chainOf(context), input);
  }),
};
