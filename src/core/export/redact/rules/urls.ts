import { isPlaceholder } from './placeholders.js';
import { findValues, namedSpan, runEnd, secretSpan, type TextSpan } from './span.js';

/** Maximum number of characters after `://` in which the user and password of a URL are searched. */
const maxUserInfoLength = 512;
const userInfo = /[^\s/@"'<>`\\]*/y;
/** The rest of a password that contains an `@` itself: up to the last one before the path. */
const moreInfo = /@[^\s/@"'<>`\\?#,]*(?=@)/y;
const tokenAsUser = /^[\w.-]{20,}$/;
/** A password with `/`, `?` or `#` in the address of a database or a queue. A port is none. */
const databaseUrl =
  /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|cockroachdb|nats|ldaps?|smtps?)(?:\+\w{1,20})?:\/\/[^\s/@:"'<>`\\]{0,128}:((?!\d{1,5}[/?#])[^\s"'<>`\\@]{1,512})@(?=[\w.[-])/gi;
/** `user:password@tcp(host:3306)/db`, as programs in Go write it. */
const goAddress = /(?<![\w.-])[\w.-]{1,64}:([^\s"'`\\]{3,128}?)@(?:tcp|unix)\(/g;
/** The signature of a URL of a content network or a bucket. */
const signature = /[?&;]Signature=([\w%+/=~.-]{20,2048})/g;

/** Passwords in URLs and connection strings (`postgres://user:password@host`), and tokens in place of a user. Linear. */
export function* urlPasswords(text: string): Generator<TextSpan> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const from = at + 3;
    const head = text.slice(from, from + maxUserInfoLength);
    let to = from + runEnd(head, 0, userInfo);
    for (let more = runEnd(head, to - from, moreInfo); more > to - from; more = runEnd(head, to - from, moreInfo)) to = from + more;
    if (text[to] !== '@' || !/[A-Za-z]/.test(text[at - 1] ?? '')) continue;
    const colon = text.slice(from, to).indexOf(':');
    const password = colon === -1 ? '' : text.slice(from + colon + 1, to);
    if (password !== '' && !isPlaceholder(password)) yield namedSpan(text, from + colon + 1, to);
    const user = text.slice(from, colon === -1 ? to : from + colon);
    if (tokenAsUser.test(user) && /\d/.test(user) && /[A-Za-z]/.test(user)) yield secretSpan(from, from + user.length);
  }
  for (const [pattern, needle] of others)
    for (const { value, from, to } of findValues(text, pattern, needle)) if (!isPlaceholder(value)) yield namedSpan(text, from, to);
}

const others = [
  [databaseUrl, '://'],
  [goAddress, '('],
  [signature, 'Signature='],
] as const;
