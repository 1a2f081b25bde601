import { kindOfName } from './names.js';
import { isPlaceholder } from './placeholders.js';
import { findMatches, namedSpan, runEnd, type TextSpan } from './span.js';

/** A word of a shell: in quotes or without, up to the end of the command. */
const shellWord = String.raw`(?:\\{0,8}'[^'\n]{0,512}'|\\{0,8}"[^"\n]{0,512}"|[^\s"'\\|;&<>()]{1,512})`;

/** Commands that read a password or a secret from standard input. */
const sink = new RegExp(
  [
    String.raw`--(?:password|passphrase|token|pass)-(?:stdin|fd[ =]0)|--with-token\b|-pass(?:in|out)?[ \t]{1,4}stdin\b`,
    String.raw`\b(?:passwd|smbpasswd|chpasswd|cryptsetup|systemd-creds|systemd-ask-password|pass[ \t]{1,4}insert)\b`,
    String.raw`\b(?:gh|fly|flyctl|wrangler|docker|podman|heroku|supabase|doppler|modal|railway)[ \t]{1,4}(?:secrets?|config:set)\b`,
    String.raw`\b(?:vercel|netlify)[ \t]{1,4}env[: ]\w{1,10}\b|\bgcloud[ \t]{1,4}secrets\b|\bsecret-tool[ \t]{1,4}store\b|\bkubeseal\b`,
    String.raw`\bvault[ \t]{1,4}(?:kv[ \t]{1,4}put|write|login)\b[^\n|]{0,80}?[= \t]-(?=[\s"'\\]|$)`,
  ].join('|'),
  'g',
);
const printing = /\b(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4}|--[ \t]{1,4})?/g;
/** What may stand between a printed text and the command that reads it: `| tr -d '\n'`. */
const pipe = /[^\n|]{0,40}\|(?=([^\n]{0,200}))/y;
/** A here-string or a here-document after a command. */
const given = new RegExp(
  String.raw`[^\n|<]{0,200}(?:<<<[ \t]{0,4}(${shellWord})|<<-?[ \t]{0,4}\\{0,8}["']?\w{1,20}\\{0,8}["']?[^\n]{0,80}\n[ \t]{0,16}([^\s\\]{4,512}))`,
  'y',
);

/** Secrets that a shell hands to a command: on standard input, or as arguments of `printf` for the marks in its format. Linear. */
export function* inputSecrets(text: string): Generator<TextSpan> {
  for (const { 0: command, index } of findMatches(text, printing, '')) {
    const from = index + command.length;
    const end = wordsEnd(text, from);
    pipe.lastIndex = end;
    const read = end > from ? (pipe.exec(text)?.[1]?.match(sink)?.[0] ?? '') : '';
    if (read !== '') yield* valuesIn(text, from, text.slice(from, end), read === 'chpasswd');
  }
  for (const { 0: command, index } of findMatches(text, sink, '')) {
    given.lastIndex = index + command.length;
    const { 0: all = '', 1: word, 2: line } = given.exec(text) ?? [];
    const value = word ?? line ?? '';
    if (value !== '') yield* valuesIn(text, index + command.length + all.length - value.length, value, command === 'chpasswd');
  }
  yield* formatted(text);
}

const oneWord = new RegExp(shellWord, 'y');

function wordsEnd(text: string, from: number): number {
  let end = from;
  for (let count = 0; count < 3; count++) end = runEnd(text, runEnd(text, end, oneWord), /[ \t]{1,4}/y);
  return end;
}

/** The values of a printed text: after its format, and after the name of an account. */
function* valuesIn(text: string, from: number, words: string, isAccount: boolean): Generator<TextSpan> {
  for (const { 0: word, index } of words.matchAll(new RegExp(shellWord, 'g'))) {
    const quotes = /^\\*["']?/.exec(word)?.[0].length ?? 0;
    const inner = word.slice(quotes, word.length - (/\\*["']$/.exec(word)?.[0].length ?? 0));
    for (const { 0: line, index: at } of inner.matchAll(/(?:[^\\]|\\(?!n)){1,512}/g)) {
      const name = isAccount ? (/^[\w.-]{1,64}:/.exec(line)?.[0].length ?? 0) : 0;
      const value = line.slice(name);
      const place = from + index + quotes + at + name;
      if (value.length >= 4 && !/\s|%[sqb]/.test(value) && !/^n?$/.test(value) && !isPlaceholder(value))
        yield namedSpan(text, place, place + value.length);
    }
  }
}

const format = new RegExp(
  String.raw`\bprintf[ \t]{1,4}(?:--[ \t]{1,4})?(\\{0,8}["'])((?:(?!\1)[\s\S]){1,1024}?)\1((?:[ \t]{1,4}${shellWord}){1,16})`,
  'g',
);
const marks = /(?:([\w.-]{1,40})\\{0,8}["']?[ \t]{0,2}[=:][ \t]{0,2}\\{0,8}["']?)?%[-\d.]{0,6}[sqb]/g;

/** `printf 'user=%s\npassword=%s\n' ada …` */
function* formatted(text: string): Generator<TextSpan> {
  for (const { 0: all, 2: pattern = '', 3: words = '', index } of findMatches(text, format, 'printf')) {
    const given = [...words.matchAll(new RegExp(shellWord, 'g'))];
    for (const [at, { 1: name = '' }] of [...pattern.matchAll(marks)].entries()) {
      const word = given[at];
      // The letter of an escape before a name is not a part of it.
      if (word && (kindOfName(name) ?? kindOfName(name.slice(1))) !== undefined)
        yield* valuesIn(text, index + all.length - words.length + word.index, word[0], false);
    }
  }
}
