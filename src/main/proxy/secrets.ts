import type { IncomingHttpHeaders } from 'node:http';
import { attempt } from '../../core/base/index.js';

/** Headers with credentials, which are not stored (R5). */
const credentialHeaders = ['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'];
const credentialParameters = ['key', 'api_key', 'api-key', 'access_token', 'token'];

/** Shorter values are words such as `Bearer` and `none`, which ordinary text may contain. */
const minSecretLength = 8;

export const cutOut = '[withheld: a credential]';

/** The credentials of a call, longest first, so that a short credential is not replaced inside a longer one. */
export function secretsOf(headers: IncomingHttpHeaders, query: URLSearchParams): string[] {
  const values = [...credentialHeaders.flatMap((name) => headers[name] ?? []), ...credentialParameters.flatMap((name) => query.getAll(name))];
  const pieces = values.flatMap((value) => value.split(/[\s;,]+/)).flatMap((piece) => [piece, piece.slice(piece.indexOf('=') + 1)]);
  return [...new Set(pieces)].filter((piece) => piece.length >= minSecretLength).sort((a, b) => b.length - a.length);
}

/** Replaces every secret in a text. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, cutOut), text);

/** Removes secrets from a JSON document, however its strings escape them. `found`: whether one was removed. Undefined if it is not JSON. */
export function jsonWithoutSecrets(text: string, secrets: readonly string[]): { readonly text: string; readonly found: boolean } | undefined {
  const value: unknown = attempt(() => JSON.parse(text));
  if (value === undefined) return undefined;
  const plain = JSON.stringify(value);
  // The only characters of a key that JSON escapes are quotes and backslashes.
  const clean = withoutSecrets(plain, [...secrets, ...secrets.map((secret) => JSON.stringify(secret).slice(1, -1))]);
  return clean === plain ? { text, found: false } : { text: clean, found: true };
}
