import { findValues, isRandom, namedSpan, type TextSpan } from './span.js';
import { isMixed, isSecretValue } from './values.js';

const lineStart = String.raw`(?:^|[\n"'\x60])`;
const string = String.raw`\\{0,8}["'\x60][^"'\x60\\\n]{0,200}\\{0,8}["'\x60]`;
const password = String.raw`\\{0,8}["'\x60]([^"'\x60\\\n]{3,256})\\{0,8}["'\x60]`;
const comma = String.raw`\s{0,4},\s{0,24}`;

const global = (source: string): RegExp => new RegExp(source, 'g');
const always = (): boolean => true;

/** Notations in which the place of a value says that it is a password. The password is the last group. */
const notations: readonly (readonly [name: string, needle: string, pattern: RegExp, isPassword: (value: string) => boolean])[] = [
  [
    '.pgpass',
    ':',
    global(
      String.raw`${lineStart}[ \t]{0,8}(?:[\w.-]{1,128}|\*):(?:\d{3,5}|\*):(?:(?!\d{1,9}:)[\w.-]{1,64}|\*):[\w.@-]{1,64}:([^\s:"'\x60\\]{4,256})(?=[\s"'\x60\\]|$)`,
    ),
    isRandom,
  ],
  [
    '.netrc',
    'password',
    /\b(?:machine[ \t]{1,8}[\w.*-]{1,128}|default)(?:\s{1,24}(?:login|account)\s{1,24}[^\s\\"']{1,64}){0,2}\s{1,24}password\s{1,24}([^\s\\"']{3,256})/g,
    always,
  ],
  [
    'calls with a user and a password',
    ',',
    global(
      String.raw`(?:\bauth[ \t]{0,2}=[ \t]{0,2}\(|\b(?:HTTPBasicAuth|PSCredential|BasicCredentials|UserPassAuth|basicAuth|BasicAuth|SetBasicAuth)\(|\.(?:auth|login|authenticate)\()\s{0,8}${string}${comma}${password}`,
    ),
    isRandom,
  ],
  [
    'calls with an address, a user and a password',
    ',',
    global(
      String.raw`\b(?:getConnection|PDO|mysqli?_connect|mysqli|pg_connect|oci_connect|odbc_connect|createPool|DriverManagerDataSource)\(\s{0,8}${string}${comma}${string}${comma}${password}`,
    ),
    isRandom,
  ],
  [
    'calls with a user and a password',
    ':',
    /\b(?:btoa|b64encode|Buffer\.from|encodeBase64|EncodeToString)\(\s{0,8}(?:b|\[\]byte\()?\\{0,8}["'`][\w.@-]{1,64}:([^"'`\\\n]{3,256})/g,
    isRandom,
  ],
  ['expect', 'send', /(?:assword|assphrase)[^\n]{0,40}\n[^\n]{0,40}?\bsend(?:line|ln)?[ (]{1,3}(?:-- )?\\{0,8}["']([^"'\\\n]{3,256})/g, always],
  [
    'IMAP and FTP',
    ' ',
    /(?:\bLOGIN[ \t]{1,4}[^\s"']{1,64}|\bquote[ \t]{1,4}PASS|(?<=\n[ \t]{0,8})user[ \t]{1,4}[^\s"']{1,64})[ \t]{1,4}\\{0,8}"?([^\s"'\\]{3,256})/g,
    isMixed,
  ],
  ['SMTP', 'AUTH', /\bAUTH[ \t]{1,4}(?:PLAIN|LOGIN)[ \t]{1,4}([A-Za-z0-9+/]{8,512}={0,2})/g, isMixed],
  [
    'Redis',
    '',
    /(?:(?<=[>\n][ \t]{0,4})AUTH(?:[ \t]{1,4}[\w.-]{1,64}(?=[ \t]{1,4}[^\s\\]))?|\b(?:requirepass|masterauth))[ \t]{1,4}\\{0,8}["']?([^\s"'\\()]{4,256})/g,
    always,
  ],
  [
    'credentials',
    '',
    /\b(?:[Cc]redentials?|[Ll]ogin)\b[^\n:]{0,24}:[ \t]{1,4}`?[\w.@-]{2,64}`?[ \t]{0,2}[/:,|][ \t]{0,2}`?([^\s`"'\\]{6,256})/g,
    isMixed,
  ],
  ['Cisco and HAProxy', '', /\b(?:(?:secret|password|key)[ \t]{1,4}[05789]|insecure-password)[ \t]{1,4}([^\s"'\\]{4,256})/g, isRandom],
];

/** Passwords that only their place gives away: files of accounts, and calls with a user and a password. Linear in the length of the text. */
export function* accountSecrets(text: string): Generator<TextSpan> {
  for (const [, needle, pattern, isPassword] of notations)
    for (const { value: raw, from } of findValues(text, pattern, needle)) {
      const value = raw.trimEnd().replace(/[,;.)]+$/, '');
      if (isSecretValue(value, 'password', 'shell') && isPassword(value)) yield namedSpan(text, from, from + value.length);
    }
}

/** The notations that `accountSecrets` knows, for the documentation. */
export const notationNames: readonly string[] = notations.map(([name]) => name);
