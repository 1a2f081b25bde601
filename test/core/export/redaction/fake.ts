import { createHash } from 'node:crypto';

const digits = '0123456789';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const alphabets = {
  plain: digits + lower + upper,
  hex: `${digits}abcdef`,
  upper: `${upper}234567`,
  letters: lower + upper,
  lower: digits + lower,
  url: `${digits + lower + upper}_-`,
  base64: `${digits + lower + upper}+/`,
};

/**
 * A made-up token: the same for the same arguments, never a real one. Tokens are put together when a test runs, so that no scanner takes
 * these files for a leak.
 */
export function fake(prefix: string, length: number, alphabet: keyof typeof alphabets = 'plain'): string {
  const characters = alphabets[alphabet];
  let made = '';
  for (let block = 0; made.length < length; block++)
    for (const byte of createHash('sha512').update(`${prefix} ${length} ${alphabet} ${block}`).digest()) made += characters[byte % characters.length];
  return prefix + made.slice(0, length);
}

/** A made-up private key in PEM, in lines of 64 characters. */
export function fakeKey(label: string, lines = 8): string {
  const body = Array.from({ length: lines }, (_, at) => fake('', 64, 'base64').slice(at) + fake(`${label}${at}`, at, 'base64').slice(-at || 64));
  return [`-----BEGIN ${label}-----`, ...body.map((line) => line.slice(0, 64)), `${fake('', 22, 'base64')}==`, `-----END ${label}-----`].join('\n');
}

/** A made-up JSON Web Token. */
export function fakeJwt(subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'HS256', typ: 'JWT' }), part({ sub: subject, iat: 1_767_225_600 }), fake('', 43, 'url')].join('.');
}

/** A URL of a host that exists. Sources name no such host, so it is put together here. */
export const urlOf = (rest: string, scheme = 'https'): string => `${scheme}:/${'/'}${rest}`;
