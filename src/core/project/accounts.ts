import { badRequest } from '../base/index.js';
import type { InputOf, ProviderAccounts } from '../contract/index.js';

/** The account settings of a provider. */
export type NewAccount = InputOf<'provider.set'>;

/** The providers of model calls and their keys. It is implemented outside of core, in the process that has the keys. */
export interface Accounts {
  list(): Promise<ProviderAccounts>;
  set(account: NewAccount): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The accounts of an engine. @throws BAD_REQUEST if it was started without them. */
export function accountsOf(accounts: Accounts | undefined): Accounts {
  if (!accounts) throw badRequest('provider', 'this engine was started without providers');
  return accounts;
}
