import { defined, isObject, stringAt, unavailable } from '../base/index.js';
import type { InputOf } from '../contract/index.js';

/** Secrets that the operating system seals: only the same person on the same machine can unseal them. */
export interface Vault {
  seal(text: string): Promise<string>;
  unseal(sealed: string): Promise<string>;
}

type GivenCredentials = NonNullable<InputOf<'replica.set'>['credentials']>;
type AccessKeys = Exclude<GivenCredentials, { from: unknown }>;

/**
 * Credentials as Stemma's own folder holds them: keys are sealed if the operating system can do that, else readable by this person only. Others exist
 * on this machine already, and are used only if a person chooses one of them by name.
 */
export type StoredCredentials =
  | Extract<GivenCredentials, { from: unknown }>
  | { readonly from: 'keys'; readonly keys: AccessKeys }
  | { readonly from: 'sealed'; readonly sealed: string };

/** Prepares credentials for storing. Seals keys if the vault can; a vault that cannot is no reason to refuse. */
export async function storable(given: GivenCredentials, vault: Vault | undefined): Promise<StoredCredentials> {
  if ('from' in given) return given;
  // Without a keyring the keys stay in a file that only this person can read.
  const sealed = await vault?.seal(JSON.stringify(given)).catch(() => undefined);
  return sealed === undefined ? { from: 'keys', keys: given } : { from: 'sealed', sealed };
}

/** Reads stored credentials. Undefined if the value is not of a known shape. */
export function readCredentials(value: unknown): StoredCredentials | undefined {
  const from = stringAt(value, 'from');
  const sealed = stringAt(value, 'sealed');
  const keys = isObject(value) ? readKeys(value.keys) : undefined;
  if (from === 'environment' || from === 'instance') return { from };
  if (from === 'profile') return { from, profile: stringAt(value, 'profile') };
  if (from === 'sealed' && sealed !== undefined) return { from, sealed };
  return from === 'keys' && keys ? { from, keys } : undefined;
}

/** Reads access keys. Undefined if one of the two is missing. */
function readKeys(value: unknown): AccessKeys | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = ['accessKeyId', 'secretAccessKey', 'sessionToken'].map((key) => stringAt(value, key));
  return accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey, ...defined({ sessionToken }) } : undefined;
}

/** Unseals keys. @throws UNAVAILABLE if this process cannot ask the operating system. */
export async function unsealKeys(sealed: string, replica: string, vault: Vault | undefined): Promise<AccessKeys> {
  if (!vault)
    throw unavailable(
      `The keys of the replica ${replica} are sealed by the operating system, and only the desktop app can unseal them. Use the app, or set the replica again with keys or with credentials such as {"from": "environment"}.`,
      { replica, reason: 'sealed' },
    );
  const keys = readKeys(JSON.parse(await vault.unseal(sealed)));
  if (!keys) throw unavailable(`The sealed keys of the replica ${replica} cannot be read. Set it again with its keys.`, { replica });
  return keys;
}
