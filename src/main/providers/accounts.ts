import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORPCError } from '@orpc/server';
import { makeFolders, replaceFile } from '../../core/files/index.js';
import type { Accounts, ModelProvider, NewAccount, ProviderAccount, Vault } from '../../core/project/index.js';
import { found, providerFor } from './found.js';

/** A stored provider. Its key is sealed by the operating system. */
interface StoredAccount {
  readonly id: string;
  readonly title: string;
  readonly wire: NewAccount['wire'];
  readonly url: string;
  readonly sealed?: string | undefined;
}

interface Options {
  /** Stemma's own folder. Accounts belong to this machine, never to a project. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The vault of the host. Without one, keys come only from the environment. */
  readonly vault: Vault | undefined;
}

const noVault =
  'Here keys come only from the environment. Set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), and restart Stemma.';

/** The providers of this machine: from the environment, from the settings, and local servers. */
export function openAccounts({ dataDir, env, vault }: Options): Accounts & { readonly providers: () => readonly ModelProvider[] } {
  const file = join(dataDir, 'providers.json');
  const given = found(env);
  const written = (): StoredAccount[] => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StoredAccount[]) : []);
  // The environment takes precedence over the settings.
  const own = (): StoredAccount[] => written().filter((one) => !given.some((other) => other.account.id === one.id));
  const write = (accounts: readonly StoredAccount[]): void => {
    makeFolders(dataDir);
    replaceFile(file, `${JSON.stringify(accounts, null, 2)}\n`);
  };
  return {
    providers: () => [...given.map((each) => each.provider), ...own().map((each) => providerOf(each, vault))],
    list: async () => ({
      noKeys: vault ? await testVault(vault) : noVault,
      providers: [...given.map((each) => each.account), ...own().map(accountOf)],
    }),
    set: async ({ id, key, ...account }: NewAccount) => {
      const named = id ?? freeId(account.title, [...given.map((each) => each.account.id), ...written().map((each) => each.id)]);
      if (given.some((each) => each.account.id === named))
        throw refused('id', `${named} comes from the environment or is a local server. Change it there.`);
      if (key !== undefined && !vault) throw refused('key', noVault);
      const before = written().find((each) => each.id === named);
      const sealed = key !== undefined && vault ? await vault.seal(key) : before?.url === account.url ? before.sealed : undefined;
      write([...written().filter((each) => each.id !== named), { ...account, id: named, ...(sealed !== undefined && { sealed }) }]);
    },
    remove: async (id) => {
      if (!written().some((each) => each.id === id)) throw refused('id', `The settings contain no provider ${id}.`);
      write(written().filter((each) => each.id !== id));
    },
  };
}

const refused = (field: string, message: string): ORPCError<string, unknown> =>
  new ORPCError('BAD_REQUEST', { message, data: { field }, status: 400 });

const accountOf = ({ sealed, ...account }: StoredAccount): ProviderAccount => ({ ...account, hasKey: sealed !== undefined, from: 'settings' });

function providerOf({ wire, sealed, ...server }: StoredAccount, vault: Vault | undefined): ModelProvider {
  return providerFor(wire, { ...server, ...(sealed !== undefined && { key: async () => vault?.unseal(sealed) }) });
}

/** Why the vault cannot store keys, or null if it can. */
async function testVault(vault: Vault): Promise<string | null> {
  try {
    await vault.seal('a test');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function freeId(title: string, taken: readonly string[]): string {
  const plain =
    title
      .toLowerCase()
      .replace(/[^a-z0-9.]+/g, '-')
      .replace(/^[-.]+|-+$/g, '')
      .slice(0, 50) || 'provider';
  for (let number = 1; ; number++) {
    const id = number === 1 ? plain : `${plain}-${number}`;
    if (!taken.includes(id)) return id;
  }
}
