import { handedAt } from '../import/index.js';
import type { Reading } from '../project/index.js';
import { removeDiscarded } from '../runner/index.js';
import {
  changeBranch,
  changeSession,
  deleteSession,
  diagnose,
  findPlace,
  listSessions,
  repairSession,
  type SessionFacts,
  storedSessions,
} from '../sessions/index.js';
import { loadPrices } from '../usage/index.js';
import { counts, priced, reads, writes } from './procedure.js';

const factsOf = ({ reading }: { readonly reading: Reading }): SessionFacts => ({ live: reading.project().live() });

export const sessionRouter = {
  diagnose: reads.session.diagnose.handler(({ input, context }) => diagnose(context.chain, input)),
  repair: writes.session.repair.handler(({ input, context }) => repairSession(context.chain, input)),
  list: counts.session.list.handler(async ({ input, context }) => {
    const facts = factsOf(context);
    const stored = storedSessions(context.chain, input, facts);
    if (stored) return stored;
    await loadPrices();
    return listSessions(context.chain, input, facts);
  }),
  place: priced.session.place.handler(({ input, context }) => ({ ...findPlace(context.chain, input), handed: handedAt(context.chain, input.id) })),
  rename: writes.session.rename.handler(({ input, context }) => changeSession(context.chain, input, factsOf(context))),
  archive: writes.session.archive.handler(({ input, context }) => changeSession(context.chain, input, factsOf(context))),
  pin: writes.session.pin.handler(({ input, context }) => changeSession(context.chain, input, factsOf(context))),
  tag: writes.session.tag.handler(({ input, context }) => changeSession(context.chain, input, factsOf(context))),
  delete: writes.session.delete.handler(async ({ input, context }) => {
    const deleted = deleteSession(context.chain, input);
    await removeDiscarded(context.session.engine.runner(context.project));
    return deleted;
  }),
};

export const branchRouter = {
  rename: writes.branch.rename.handler(({ input, context }) => changeBranch(context.chain, input)),
  archive: writes.branch.archive.handler(({ input, context }) => changeBranch(context.chain, input)),
  delete: writes.branch.delete.handler(async ({ input, context }) => {
    const deleted = changeBranch(context.chain, input);
    await removeDiscarded(context.session.engine.runner(context.project));
    return deleted;
  }),
};
