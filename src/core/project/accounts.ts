import { badRequest } from '../base/index.js';
import type { ProviderAccounts, Wire } from '../contract/index.js';

/** What a person says of a provider. */
export interface NewAccount {
  readonly id?: string | undefined;
  readonly title: string;
  readonly wire: Wire;
  readonly url: string;
  readonly key?: string | undefined;
}

/** Who answers when a turn is run, and where their keys are: outside of core, with the process that has them. */
export interface Accounts {
  list(): Promise<ProviderAccounts>;
  set(account: NewAccount): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The accounts of an engine. @throws BAD_REQUEST where it was started without any. */
export function accountsOf(accounts: Accounts | undefined): Accounts {
  if (!accounts) throw badRequest('provider', 'this engine was started without providers');
  return accounts;
}
