import { accountsOf } from '../project/index.js';
import { machine } from './procedure.js';

export const providerRouter = {
  list: machine.provider.list.handler(({ context: { session } }) => accountsOf(session.engine.options.accounts).list()),
  set: machine.provider.set.handler(async ({ input, context: { session } }) => {
    const accounts = accountsOf(session.engine.options.accounts);
    await accounts.set(input);
    return accounts.list();
  }),
  remove: machine.provider.remove.handler(async ({ input, context: { session } }) => {
    const accounts = accountsOf(session.engine.options.accounts);
    await accounts.remove(input.id);
    return accounts.list();
  }),
};
