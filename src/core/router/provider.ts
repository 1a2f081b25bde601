import { accountsOf } from '../project/index.js';
import { os } from './procedure.js';

/** The procedures of `provider`. */
export const providerRouter = {
  list: os.provider.list.handler(({ context: { session } }) => accountsOf(session.engine.options.accounts).list()),
  set: os.provider.set.handler(async ({ input, context: { session } }) => {
    const accounts = accountsOf(session.engine.options.accounts);
    await accounts.set(input);
    return accounts.list();
  }),
  remove: os.provider.remove.handler(async ({ input, context: { session } }) => {
    const accounts = accountsOf(session.engine.options.accounts);
    await accounts.remove(input.id);
    return accounts.list();
  }),
};
