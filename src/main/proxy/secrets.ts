import type { IncomingHttpHeaders } from 'node:http';

/** What says who asks, and is never kept. */
const credentialHeaders = ['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'];
const credentialParameters = ['key', 'api_key', 'api-key', 'access_token', 'token'];

/** Shorter ones are no keys, but words such as `Bearer` and `none`, which a text may well have. */
const shortestSecret = 8;

export const cutOut = '[withheld: a credential]';

/** The credentials that came with a call, longest first, so that none is cut in a part of another. */
export function secretsOf(headers: IncomingHttpHeaders, query: URLSearchParams): string[] {
  const values = [...credentialHeaders.flatMap((name) => headers[name] ?? []), ...credentialParameters.flatMap((name) => query.getAll(name))];
  const pieces = values.flatMap((value) => value.split(/[\s;,]+/)).flatMap((piece) => [piece, piece.slice(piece.indexOf('=') + 1)]);
  return [...new Set(pieces)].filter((piece) => piece.length >= shortestSecret).sort((a, b) => b.length - a.length);
}

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, cutOut), text);

/**
 * A JSON document without the secrets, whichever way its strings are escaped; undefined where it is no JSON.
 * `found` says whether there was one.
 */
export function jsonWithoutSecrets(text: string, secrets: readonly string[]): { readonly text: string; readonly found: boolean } | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const plain = JSON.stringify(value);
  // A key has no character that JSON escapes, but for quotes and backslashes.
  const clean = withoutSecrets(plain, [...secrets, ...secrets.map((secret) => JSON.stringify(secret).slice(1, -1))]);
  return clean === plain ? { text, found: false } : { text: clean, found: true };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
