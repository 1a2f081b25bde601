import { isPlaceholder } from './placeholders.js';
import { namedSpan, runEnd, type Span, secretSpan } from './span.js';

/** Maximum number of characters after `://` in which the user and password of a URL are searched. */
const maxUserInfoLength = 512;
const userInfo = /[^\s/@"'<>`\\]*/y;
const tokenAsUser = /^[\w.-]{20,}$/;

/** Passwords in URLs and connection strings (`postgres://user:password@host`), and tokens in place of a user. Linear. */
export function* urlPasswords(text: string): Generator<Span> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const from = at + 3;
    const to = from + runEnd(text.slice(from, from + maxUserInfoLength), 0, userInfo);
    if (text[to] !== '@' || !/[A-Za-z]/.test(text[at - 1] ?? '')) continue;
    const colon = text.slice(from, to).indexOf(':');
    const password = colon === -1 ? '' : text.slice(from + colon + 1, to);
    if (password !== '' && !isPlaceholder(password)) yield namedSpan(text, from + colon + 1, to);
    const user = text.slice(from, colon === -1 ? to : from + colon);
    if (tokenAsUser.test(user) && /\d/.test(user) && /[A-Za-z]/.test(user)) yield secretSpan(from, from + user.length);
  }
}
