import { isIPv6 } from 'node:net';
import { findMatches, isTokenStart, type TextSpan } from './span.js';

const person = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}._-]{0,62}[\p{L}\p{N}_-])?`;
const homes = new RegExp(
  String.raw`(?:(?:/mnt)?/[a-z]/Users/|(?:/var|/usr|/export)?/home/|/Users/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))${person}`,
  'gu',
);
/** E-mail addresses, but not `icon@2x.png` and `git@host:path`, which name no person. */
const emails = /(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9._%+-]{1,64}@(?!\d{1,2}x\.)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/g;

/** Home folders of people in paths: `/home/ada`, `C:\Users\ada`. */
export function* homeFolders(text: string): Generator<TextSpan> {
  if (!text.includes('/home/') && !text.includes('Users')) return;
  for (const { 0: home, index } of findMatches(text, homes, ''))
    if (!/[\p{L}\p{N}_.-]$/u.test(text.slice(Math.max(0, index - 2), index)) || isAfterEscape(text, index))
      yield { from: index, to: index + home.length, kind: 'path', spreads: true };
}

/** E-mail addresses in a text. */
export function* emailAddresses(text: string): Generator<TextSpan> {
  for (const { 0: email, index } of findMatches(text, emails, '@')) {
    // The letter of an escape (`\nada@…`) is not a part of the name.
    const from = text[index - 1] === '\\' && /[nrt]/.test(email[0] ?? '') && email[1] !== '@' ? index + 1 : index;
    yield { from, to: index + email.length, kind: 'email', spreads: true };
  }
}

const isAfterEscape = (text: string, at: number): boolean => /[A-Za-z0-9]/.test(text[at - 1] ?? '') && isTokenStart(text, at);

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d{1,2})`;
const v4 = new RegExp(String.raw`${octet}(?:\.${octet}){3}(?![\w-]|\.\d)`, 'g');
const v4InName = new RegExp(String.raw`ip-${octet}(?:-${octet}){3}(?![\w-])`, 'g');
const v6 = /[0-9A-Fa-f:]{4,45}(?:\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])/g;
/** Addresses that every machine has: loopback, unspecified, broadcast, masks. */
const common = /^(?:127\.|0\.|255\.)/;

/** IP addresses of both versions. Not loopback or unspecified addresses, masks, version numbers after `v`, or times. */
export function* ipAddresses(text: string): Generator<TextSpan> {
  const begins = (at: number): boolean => !/[\w.:-]/.test(text[at - 1] ?? ' ') || isAfterEscape(text, at);
  for (const { 0: found, index } of findMatches(text, v4, '.'))
    if (begins(index) && !common.test(found) && !/\bv(?:ersion)?[ :=]{0,2}$/i.test(text.slice(Math.max(0, index - 10), index)))
      yield ip(index, found);
  for (const { 0: found, index } of findMatches(text, v4InName, 'ip-')) if (isTokenStart(text, index)) yield ip(index, found);
  for (const { 0: found, index } of findMatches(text, v6, ':'))
    if (begins(index) && /\d/.test(found) && found.split(':').length > 3 && found !== '::1' && isIPv6(found)) yield ip(index, found);
}

const ip = (from: number, found: string): TextSpan => ({ from, to: from + found.length, kind: 'ip', spreads: false });
