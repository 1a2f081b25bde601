import { removeDiscarded } from '../runner/index.js';
import { changeBranch, changeSession, deleteSession, listSessions, placeOf, type SessionFacts } from '../sessions/index.js';
import { preparePrices } from '../usage/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

/** A session counts as live for this many milliseconds after its last change. */
const restingMs = 120_000;

/** The ends of the sessions on which an agent works, as live capture observes it. */
function factsOf({ session }: RouterContext): SessionFacts {
  const { watching, files } = session.project().capture.status();
  const since = session.project().chain.clock() - restingMs;
  const live = files.filter(({ open, changedAt }) => watching && (open || Date.parse(changedAt) >= since)).flatMap(({ tip }) => tip ?? []);
  return { live: new Set(live) };
}

/** The procedures of `session`. */
export const sessionRouter = {
  list: os.session.list.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return listSessions(chainOf(context), input, factsOf(context));
  }),
  place: os.session.place.handler(async ({ input, context }) => {
    await preparePrices(chainOf(context));
    return placeOf(chainOf(context), input.id, input.session);
  }),
  rename: os.session.rename.handler(({ input, context }) => changeSession(chainOf(context), input, factsOf(context))),
  archive: os.session.archive.handler(({ input, context }) => changeSession(chainOf(context), input, factsOf(context))),
  pin: os.session.pin.handler(({ input, context }) => changeSession(chainOf(context), input, factsOf(context))),
  tag: os.session.tag.handler(({ input, context }) => changeSession(chainOf(context), input, factsOf(context))),
  delete: os.session.delete.handler(async ({ input, context }) => {
    const deleted = deleteSession(chainOf(context), input);
    await removeDiscarded(context.session.engine.runner(context.session.project()));
    return deleted;
  }),
};

/** The procedures of `branch`. */
export const branchRouter = {
  rename: os.branch.rename.handler(({ input, context }) => changeBranch(chainOf(context), input)),
  archive: os.branch.archive.handler(({ input, context }) => changeBranch(chainOf(context), input)),
  delete: os.branch.delete.handler(async ({ input, context }) => {
    const deleted = changeBranch(chainOf(context), input);
    await removeDiscarded(context.session.engine.runner(context.session.project()));
    return deleted;
  }),
};
