import { isPlaceholder } from './placeholders.js';
import { isMachineMade, matchesOf, namedSpan, type Span, secretSpan } from './span.js';

const bearer = /\b[Bb]earer[ \t:]{1,4}\\*["']?([\w.~+/=-]{12,8192})/g;
const basic = /\b[Bb]asic[ \t]{1,4}([A-Za-z0-9+/]{8,1024}={0,2})/g;

/** Values after `Bearer` and `Basic` anywhere in a text, and passwords in the options of commands such as `curl -u`. Linear. */
export function* headerSecrets(text: string): Generator<Span> {
  for (const { 0: all, 1: value = '', index } of matchesOf(text, bearer, 'earer'))
    if (isMachineMade(value) && !isPlaceholder(value)) yield secretSpan(index + all.length - value.length, index + all.length);
  for (const { 0: all, 1: value = '', index } of matchesOf(text, basic, 'asic'))
    if (isUserAndPassword(value)) yield secretSpan(index + all.length - value.length, index + all.length);
  for (const { pattern, needle } of commands)
    for (const { 0: all, 1: value = '', index } of matchesOf(text, pattern, needle))
      if (value.length >= 3 && !isPlaceholder(value) && !/^\d{1,5}$/.test(value)) {
        const from = index + all.lastIndexOf(value);
        yield namedSpan(text, from, from + value.length);
      }
}

/** Whether a value after `Basic` is base64 of `user:password`. */
function isUserAndPassword(value: string): boolean {
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(text);
}

/** Options whose value is a password, in the one notation that each command has. The password is the last group. */
const commands: readonly { readonly name: string; readonly needle: string; readonly pattern: RegExp }[] = [
  {
    name: 'curl and wget',
    needle: ':',
    pattern: /\b(?:curl|wget|http|https)\b[^\n]{0,400}?\s(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?\\*["']?[^\s"':/]{1,64}:([^\s"'\\]{3,256})/g,
  },
  { name: 'sshpass', needle: 'sshpass', pattern: /\bsshpass[ \t]{1,4}-p[ \t]{0,4}\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'mysql', needle: ' -p', pattern: /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,160}?\s-p\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'redis-cli', needle: 'redis-cli', pattern: /\bredis-cli\b[^\n|;]{0,160}?\s-a[ \t]{1,4}\\*["']?([^\s"'\\]{3,256})/g },
  {
    name: 'docker and az',
    needle: 'login',
    pattern: /\b(?:docker|podman|helm registry|az|oc|cf)[ \t]{1,4}login\b[^\n|;]{0,160}?\s-p[ \t]{1,4}\\*["']?([^\s"'\\]{3,256})/g,
  },
  { name: 'openssl', needle: 'pass:', pattern: /\s-pass(?:in|out)?[ \t]{1,4}\\*["']?pass:([^\s"'\\]{3,256})/g },
  { name: 'SQL', needle: 'IDENTIFIED', pattern: /\bIDENTIFIED[ \t]{1,4}(?:WITH[ \t]{1,4}\w{1,40}[ \t]{1,4})?BY[ \t]{1,4}\\*["']([^\s"'\\]{3,256})/g },
  { name: 'JDBC of Oracle', needle: 'jdbc:oracle', pattern: /\bjdbc:oracle:thin:[\w$#.-]{1,64}\/([^\s"'\\@]{3,256})@/g },
];

/** The commands that `headerSecrets` knows, for the documentation. */
export const commandNames: readonly string[] = commands.map(({ name }) => name);
