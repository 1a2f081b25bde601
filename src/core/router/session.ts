import { handedAt } from '../import/index.js';
import type { Reading } from '../project/index.js';
import { removeDiscarded } from '../runner/index.js';
import * as sessions from '../sessions/index.js';
import { loadPrices } from '../usage/index.js';
import { counts, priced, reads, writes } from './procedure.js';

const factsOf = ({ reading }: { readonly reading: Reading }): sessions.SessionFacts => ({ live: reading.project().live() });

export const sessionRouter = {
  diagnose: reads.session.diagnose.handler(({ input, context }) => sessions.diagnose(context.chain, input)),
  repair: writes.session.repair.handler(({ input, context }) => sessions.repairSession(context.chain, input)),
  list: counts.session.list.handler(async ({ input, context }) => {
    const facts = factsOf(context);
    const stored = sessions.storedSessions(context.chain, input, facts);
    if (stored) return stored;
    await loadPrices();
    return sessions.listSessions(context.chain, input, facts);
  }),
  place: priced.session.place.handler(({ input, context }) => ({
    ...sessions.findPlace(context.chain, input),
    handed: handedAt(context.chain, input.id),
  })),
  rename: writes.session.rename.handler(({ input, context }) => sessions.changeSession(context.chain, input, factsOf(context))),
  archive: writes.session.archive.handler(({ input, context }) => sessions.changeSession(context.chain, input, factsOf(context))),
  pin: writes.session.pin.handler(({ input, context }) => sessions.changeSession(context.chain, input, factsOf(context))),
  tag: writes.session.tag.handler(({ input, context }) => sessions.changeSession(context.chain, input, factsOf(context))),
  delete: writes.session.delete.handler(async ({ input, context }) => {
    const deleted = sessions.deleteSession(context.chain, input);
    await removeDiscarded(context.session.engine.runner(context.project));
    return deleted;
  }),
};

export const branchRouter = {
  rename: writes.branch.rename.handler(({ input, context }) => sessions.changeBranch(context.chain, input)),
  archive: writes.branch.archive.handler(({ input, context }) => sessions.changeBranch(context.chain, input)),
  delete: writes.branch.delete.handler(async ({ input, context }) => {
    const deleted = sessions.changeBranch(context.chain, input);
    await removeDiscarded(context.session.engine.runner(context.project));
    return deleted;
  }),
};
