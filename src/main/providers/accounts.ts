import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORPCError } from '@orpc/server';
import type { Accounts, ModelProvider, NewAccount, ProviderAccount } from '../../core/project/index.js';
import { anthropicProvider } from './anthropic.js';
import { found } from './found.js';
import { geminiProvider } from './gemini.js';
import { openaiProvider } from './openai.js';
import { responsesProvider } from './responses.js';

/** Secrets that the operating system keeps: what is sealed can be read again by this person on this machine alone. */
export interface Vault {
  seal(text: string): Promise<string>;
  unseal(sealed: string): Promise<string>;
}

/** A provider as it is written down: its key only as the operating system has sealed it. */
interface Written {
  readonly id: string;
  readonly title: string;
  readonly wire: NewAccount['wire'];
  readonly url: string;
  readonly sealed?: string | undefined;
}

interface Options {
  /** Stemma's own folder: accounts are this machine's, never a project's. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Missing where the host has none: then keys come from the environment alone. */
  readonly vault: Vault | undefined;
}

const noVault =
  'Here keys come from the environment alone: set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), and start Stemma again.';

/** Who answers on this machine: by the environment, by what a person set, and what is looked for by itself. */
export function openAccounts({ dataDir, env, vault }: Options): Accounts & { readonly providers: () => readonly ModelProvider[] } {
  const file = join(dataDir, 'providers.json');
  const given = found(env);
  const written = (): Written[] => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Written[]) : []);
  // What the environment says of a provider goes before what was set once.
  const own = (): Written[] => written().filter((one) => !given.some((other) => other.account.id === one.id));
  const write = (accounts: readonly Written[]): void => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(`${file}.new`, `${JSON.stringify(accounts, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return {
    providers: () => [...given.map((each) => each.provider), ...own().map((each) => providerOf(each, vault))],
    list: async () => ({
      noKeys: vault ? await problemOf(vault) : noVault,
      providers: [...given.map((each) => each.account), ...own().map(accountOf)],
    }),
    set: async ({ id, key, ...account }: NewAccount) => {
      const named = id ?? freeId(account.title, [...given.map((each) => each.account.id), ...written().map((each) => each.id)]);
      if (given.some((each) => each.account.id === named))
        throw refused('id', `${named} is set by the environment or found by itself: it is changed there`);
      if (key !== undefined && !vault) throw refused('key', noVault);
      const before = written().find((each) => each.id === named);
      const sealed = key !== undefined && vault ? await vault.seal(key) : before?.url === account.url ? before.sealed : undefined;
      write([...written().filter((each) => each.id !== named), { ...account, id: named, ...(sealed !== undefined && { sealed }) }]);
    },
    remove: async (id) => {
      if (!written().some((each) => each.id === id)) throw refused('id', `no provider ${id} was set here`);
      write(written().filter((each) => each.id !== id));
    },
  };
}

const refused = (field: string, message: string): ORPCError<string, unknown> =>
  new ORPCError('BAD_REQUEST', { message, data: { field }, status: 400 });

const accountOf = ({ sealed, ...account }: Written): ProviderAccount => ({ ...account, hasKey: sealed !== undefined, from: 'settings' });

function providerOf({ id, title, wire, url, sealed }: Written, vault: Vault | undefined): ModelProvider {
  const key = async (): Promise<string | undefined> => (sealed !== undefined && vault ? await vault.unseal(sealed) : undefined);
  const server = { id, title, url };
  switch (wire) {
    case 'anthropic':
      return anthropicProvider({ ...server, key });
    case 'gemini':
      return geminiProvider({ ...server, key });
    case 'responses':
      return responsesProvider({ ...server, ...(sealed !== undefined && { key }) });
    case 'openai':
      return openaiProvider({ ...server, ...(sealed !== undefined && { key }) });
  }
}

/** Why the vault does not keep anything; null where it does. */
async function problemOf(vault: Vault): Promise<string | null> {
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
