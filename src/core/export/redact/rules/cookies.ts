import { isPlaceholder } from './placeholders.js';
import { namedSpan, runEnd, type TextSpan } from './span.js';

/** A header with cookies, also as an item of a list or a member `value`, or an option of curl with cookies, also on a later line of the command. */
const header =
  /\b(?:Set-)?Cookie2?(?:\\*["'`]?\s{0,4}[:=]\s{0,4}\\*["'`]?|\\*["'`]\s{0,4},\s{0,24}(?:\\*["'`]value\\*["'`]\s{0,4}:\s{0,4})?\\*["'`])|\bcurl\b(?:[^\n]|(?<=\\\r?)\n){0,2000}?\s(?:-b|--cookie)[ =]?\\*["']?|<Cookie\s/gi;
const line =
  /(?:(?<=;)(?:\r?\n|\\+n)[ \t]{1,8}(?=[\w.$%-]{1,128}=)|=\\*"[^;\s"',\\]{1,4096}\\*"(?=;|\r?\n|$|\\*["'`]|\\+[rn])|[^\r\n"'`\\]|\\(?![nrt"'`]))+/y;
const pair = /([\w.$%-]{1,128})=(?:\\*")?([^;\s"',\\]{1,4096})/g;
/** Cookies as a program keeps them: `cookies={'sid': '…'}`. */
const object = /\bcookies?\\*["'`]?\s{0,4}[:=]\s{0,4}\{([^{}]{1,4096})\}/gi;
const member = /\\*["'`]?([\w.$%-]{1,128})\\*["'`]?\s{0,4}:\s{0,4}\\*["'`]([^;\s"'`,\\]{1,4096})/g;
/** Cookies that a server sets, as a list. */
const setList = /\bset-cookie\\*["'`]?\s{0,4}[:=]\s{0,24}\[([^\]]{1,16384})\]/gi;
/** The list of cookies of a recorded browser, and a cookie in it. */
const recordedList = /\bcookies\\*["'`]?\s{0,4}[:=]\s{0,24}\[([^\]]{1,16384})\]/gi;
/** The cookies that a program gives to a browser: `page.setCookie({ name: 'sid', value: '…' })`. */
const givenCookies = /\b(?:set|add)Cookies?\(([^()]{1,16384})\)/g;
const recorded =
  /\\*["'`]?name\\*["'`]?\s{0,4}:\s{0,4}\\*["'`]([\w.$%-]{1,128})\\*["'`]\s{0,24},\s{0,24}\\*["'`]?value\\*["'`]?\s{0,4}:\s{0,4}\\*["'`]([^;\s"'`,\\]{1,4096})/g;
/** What a cookie says about itself. */
const attribute = /^(?:expires|path|domain|max-age|samesite|priority|version)$/i;
/** Names of cookies that hold a session, whatever their value is. */
const session = /sess|sid$|token|auth|csrf|xsrf|jwt|remember|login/i;
/** A line of a file of cookies: domain, two switches, path and time, then name and value. */
const fileLine = /\t(?:TRUE|FALSE)\t\/[^\t\n]{0,512}\t(?:TRUE|FALSE)\t\d{1,20}\t([^\t\n]{1,128})\t([^\t\r\n]{1,4096})/g;

/** The values of cookies in headers, options of curl and files of cookies. Linear in the length of the text. */
export function* cookieSecrets(text: string, name: string | undefined): Generator<TextSpan> {
  if (name !== undefined && /^(?:set-)?cookies?$/i.test(name)) yield* pairsIn(text, 0, text.length);
  if (/cookie|-b/i.test(text)) {
    header.lastIndex = 0;
    for (let match = header.exec(text); match; match = header.exec(text)) {
      const from = match.index + match[0].length;
      const to = runEnd(text, from, line);
      yield* pairsIn(text, from, to);
      // A line that is longer than any header is searched once.
      header.lastIndex = Math.max(from, to);
    }
  }
  if (/cookies?\W/i.test(text))
    for (const { 0: all, 1: members = '', index } of text.matchAll(object)) {
      const from = index + all.length - members.length - 1;
      yield* pairsIn(text, from, from + members.length, member);
    }
  if (/cookies?\W/i.test(text))
    for (const [lists, pattern] of [
      [setList, pair],
      [recordedList, recorded],
      [givenCookies, recorded],
    ] as const)
      for (const { 0: all, 1: list = '', index } of text.matchAll(lists)) {
        const from = index + all.length - list.length - 1;
        yield* pairsIn(text, from, from + list.length, pattern);
      }
  if (text.includes('\tTRUE\t') || text.includes('\tFALSE\t'))
    for (const { 0: all, 1: cookie = '', 2: value = '', index } of text.matchAll(fileLine))
      if (isSecret(cookie, value)) yield namedSpan(text, index + all.length - value.length, index + all.length);
}

function* pairsIn(text: string, from: number, to: number, pattern: RegExp = pair): Generator<TextSpan> {
  for (const { 0: all, 1: cookie = '', 2: value = '', index } of text.slice(from, to).matchAll(pattern)) {
    const end = from + index + all.length;
    if (isSecret(cookie, value)) yield namedSpan(text, end - value.length, end);
  }
}

const isSecret = (cookie: string, value: string): boolean =>
  !attribute.test(cookie) && value.length >= (session.test(cookie) ? 4 : 8) && !isPlaceholder(value);
