import { isEnvironmentName, isWeakName, kindOfName, type NameKind, nameBeside } from './names.js';
import { isRandom, namedSpan, runEnd, type TextSpan } from './span.js';
import { isKeyOfLetters, isMixed, isSecretValue, type Setting } from './values.js';

/** Every name of a secret contains one of these. */
const keyword =
  /pass|pwd|sessionid|sessid|\bconnect\.sid|\bpw\b|_pw\b|secret|token|key|credential|auth|bearer|jwt|mnemonic|phrase|signature|\bsig\b|\bpat\b|psk/gi;
const nameRun = /[\w.-]+/y;
const maxNameLength = 80;

/**
 * The text between a name and its value: the quotes that end the name, then a sign (`=`, `:`, `:=`, `?=`, `+=`, `.=`, `=>`, `：`), which may have a type
 * before it (`token: string = '…'`), or a member `value` (`name: TOKEN, value: …`).
 */
const sign =
  /(?:\\*["'`])?\]?(?:\*\*)?[ \t]{0,8}(?:\{ get; (?:\w{1,10} )?(?:set|init); \}[ \t]{1,4}=|\\*["']?:\s{0,4}\{\s{0,24}\\*["']S\\*["']\s{0,4}:|:[ \t]*[&\w][^\n=:"'`;,(){}]{0,30}=[ \t]{0,8}(?=\\*["'`])|(?:=>|[:?+.]?={1,3}|[:：＝])(?!:)|(?:\s{0,4},?\s{0,24}(?:\\*["'`]type\\*["'`]\s{0,4}:\s{0,4}\\*["'`]\w{1,20}\\*["'`]\s{0,4},\s{0,24})?(?:\\*["'`])?value(?:\\*["'`])?\s{0,4}[=:]))(?:\*\*(?=[ \t`]))?[ \t]{0,8}(?:(?:\\+n|\r?\n)[ \t]{0,16}(?=\\*["'`])|\\{1,8}\r?\n[ \t]{1,24}|\\{3,12}n[ \t]{1,24})?/iy;
const space = /[ \t]{1,4}/y;
const quote = /\\*["'`]/y;
const threeQuotes = /(\\*["'])\1\1(?:(?:\\+r)?\\+n|\r?\n)?/y;
/** `<password>…</password>` */
const element = />(?:\s|\\{1,8}[nrt]){0,64}(?:<!\[CDATA\[)?(?=[^<>\s]{1,512}\s{0,64}(?:<\/|\]\]>))/y;
/** `<property name="password">…</property>`, `<wsse:Password Type="…">…</wsse:Password>` */
const elementWithName = /(?:\\*["'])?(?:\s[^<>]{0,120})?>\s{0,64}(?:<!\[CDATA\[)?(?=[^<>\s]{1,512}\s{0,64}(?:<\/|\]\]>))/y;
/** `<key>password</key><string>…</string>`, `<name>password</name><value>…</value>` */
const nextElement = /<\/(?:key|name)>(?:\s|\\{1,8}[rnt]){0,24}<(?:string|value)>(?=[^<>\s]{1,512}<\/)/y;
/** A part of a form: `name="password"`, other headers, an empty line, and the value. */
const formPart = /\\*["'](?:;[^\r\n\\]{0,200})?((?:\\+r)?\\+n|\r?\n)(?:[\w-]{1,40}:[^\r\n\\]{0,200}\1){0,3}\1/y;
/** `setPassword("…")` */
const setter = /\([ \t]{0,4}(?=\\*["'`])/y;
/** A value where a variable has none: `SECRET_KEY || "…"` */
const fallback = /(?:\\*["'`])?[\])]{0,2}[ \t]{1,4}(?:\|\||\?\?|or)[ \t]{1,4}(?=\\*["'`])/y;
/** `setItem('token', '…')` */
const nextArgument = /\\*["'`],[ \t]{0,4}(?=\\*["'`])/y;
/** `the password is …` */
const sentence = /[ \t]{1,4}(?:is|was)[ \t]{1,4}(?=\S{0,64}\d)/iy;
/** `set the password to …` */
const given = /[ \t]{1,4}(?:to|of|with|as)[ \t]{1,4}(?=\S{6})/iy;
/** `read -r PASSWORD <<< …` */
const hereString = /[ \t]{1,4}<<<[ \t]{0,4}/y;
/** `DefaultPassword    REG_SZ    …` */
const registry = /[ \t]{1,16}REG_\w{1,12}[ \t]{1,16}/y;
/** `PASSWORD=$(cat <<EOF`, and the value on the next line; `PASSWORD=$(echo …)` */
const printed =
  /(?:\$\(|`)[ \t]{0,4}(?:cat[ \t]{0,4}<<-?[ \t]{0,4}\\{0,8}["']?\w{1,20}\\{0,8}["']?[ \t]{0,4}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)[ \t]{0,16}|(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?)/y;
/** The brace before a value in a connection string: `PWD={…};` */
const brace = /\{(?=[^{}\s]{1,256}\}(?:[;"'\\]|$))/y;
/** The default of a variable in Terraform, after the name of the variable. */
const terraformDefault = /\\*["']\s{0,4}\{(?:(?!\n\}|\n(?:variable|resource)\b)[\s\S]){0,1024}?\bdefault\s{0,16}=\s{0,4}(?=\\*["'])/y;
/** A tag or an anchor of YAML before a value. */
const yamlMark = /(?:(?:&[\w-]{1,64}|!![\w:.-]{1,64})[ \t]{1,4}){1,2}/y;
/** The kind of a string in Python, C# or SQL: `b"…"`, `f'…'`, `@"…"`, `N'…'`. */
const stringKind = /(?:[bBrRfFuUNE]{1,2}|[@$]{1,2})(?=\\*["'])/y;
/** `Bearer` and its like before the value of an authorization. */
const scheme = /[A-Za-z][\w-]{2,20}[ \t]{1,4}(?=\S)/y;

/** A name of a secret, and its position in the text. */
interface Name {
  readonly name: string;
  readonly kind: NameKind;
  readonly from: number;
  readonly to: number;
}

/** Values after names of secrets, in any notation: shell, env files, JSON, YAML, TOML, XML, queries, code, flags. Linear. */
export function* assignedSecrets(text: string): Generator<TextSpan> {
  keyword.lastIndex = 0;
  for (let match = keyword.exec(text); match; match = keyword.exec(text)) {
    const from = spacedStart(text, nameStart(text, match.index), match[0]);
    const to = runEnd(text, match.index, nameRun);
    let next = Math.max(to, keyword.lastIndex);
    const kind = to - from <= maxNameLength ? kindAt(text, from, to) : undefined;
    const named = kind && { name: text.slice(from, to), kind, from, to };
    const value = named && valueAfter(text, named);
    for (const span of value ? [value] : named ? valuesBelow(text, named) : []) {
      yield span;
      next = Math.max(next, span.to);
    }
    keyword.lastIndex = next;
  }
}

/** `"name": "sessionid", "value": "…"` */
const valueBeside = /\\*["'`]\s{0,4},\s{0,24}\\*["'`]value\\*["'`]\s{0,4}:/iy;

function kindAt(text: string, from: number, to: number): NameKind | undefined {
  const name = text.slice(from, to);
  return kindOfName(name) ?? (runEnd(text, to, valueBeside) > to ? kindOfName(nameBeside(name)) : undefined);
}

/** The start of the name that contains a keyword at `at`. The letter of an escape before it (`\nTOKEN=`) is not a part of the name. */
function nameStart(text: string, at: number): number {
  let from = at;
  while (from > 0 && at - from <= maxNameLength && /[\w.-]/.test(text[from - 1] ?? '')) from--;
  return text[from - 1] === '\\' && /[nrt]/.test(text[from] ?? '') ? from + 1 : from;
}

/** `API key: …` in a sentence or a form: the word before `key` belongs to the name. */
function spacedStart(text: string, from: number, word: string): number {
  const before =
    word.toLowerCase() === 'key'
      ? /(?:api|access|secret|private|auth|account|licen[cs]e|signing|encryption) $/i.exec(text.slice(Math.max(0, from - 16), from))
      : null;
  return from - (before?.[0].length ?? 0);
}

function valueAfter(text: string, name: Name): TextSpan | undefined {
  const start = valueStart(text, name);
  if (start === undefined) return undefined;
  const block = runEnd(text, start, threeQuotes);
  if (block > start) return quotedValue(text, block, text.slice(start, block).replace(/(?:\\+r)?\\+n$|\s+$/, ''), name);
  const open = text.slice(start, runEnd(text, start, quote));
  if (open !== '' && !(isWeakName(name.name) && open.endsWith('`'))) return quotedValue(text, start + open.length, open, name);
  if (/[?&]/.test(text[name.from - 1] ?? '')) return valueInRun(text, start, queryRun, name, 'plain');
  if (isWeakName(name.name) && !isMixed(wordAt(text, start))) return undefined;
  if (/^(?!.*=>).*[>[]$/s.test(text.slice(name.to, start))) return valueInRun(text, start, elementRun, name, 'plain');
  return valueInRun(text, name.kind === 'header' ? runEnd(text, start, scheme) : start, unquotedRun, name, settingOf(text, name, start));
}

/** The sign of a value that stands on the lines below its name in YAML: `password: >-`, or nothing after the colon. */
const blockSign =
  /(?:\\*["'])?:[ \t]{0,8}(?:(?:&[\w-]{1,64}|!![\w:.-]{1,64})[ \t]{0,4}){0,2}([>|][-+\d]{0,2}[ \t]{0,8})?(?:#[^\n]{0,120}?)?(?=\r?\n|(?:\\+r)?\\+n)/y;
const blockLine =
  /(?:\r?\n|(?:\\+r)?\\+n)([+-]?(?:[ \t]{0,64}(?:\d{1,6}(?:→|\t|:|\|))?)[ \t]{1,64})(?:\\*["'])?([^\s"'\\:]{4,4096})(?:\\*["'])?[ \t]*(?=\r?\n|(?:\\+r)?\\+n|\\*["']|$)/y;
/** A line of a text after `>` or `|`, which may have any characters. */
const literalLine =
  /(?:\r?\n|(?:\\+r)?\\+n)([+-]?(?:[ \t]{0,64}(?:\d{1,6}(?:→|\t|:|\|))?)[ \t]{1,64})(?:\\*["'])?((?:[^\s\\]|\\+["']){4,4096}?)(?:\\*["'])?[ \t]*(?=\r?\n|(?:\\+r)?\\+n|$)/y;
const maxBlockLines = 64;
const emptyLines = /(?:(?:\r?\n|(?:\\+r)?\\+n)[+-]?[ \t]{0,64}(?=\r?\n|(?:\\+r)?\\+n)){1,8}/y;

/** The lines of a value that stands below its name in YAML. Without `>` or `|`, only one that no nested member or word could be. */
function valuesBelow(text: string, { name, kind, to }: Name): TextSpan[] {
  blockSign.lastIndex = to;
  const sign = blockSign.exec(text);
  if (!sign || isWeakName(name)) return [];
  const spans: TextSpan[] = [];
  let place = blockSign.lastIndex;
  let indent = 0;
  for (let at = 0; at < (sign[1] ? maxBlockLines : 1); at++) {
    const line = sign[1] ? literalLine : blockLine;
    if (sign[1]) place = runEnd(text, place, emptyLines);
    line.lastIndex = place;
    const [all = '', lead = '', value = ''] = line.exec(text) ?? [];
    if (value === '' || lead.length < indent) break;
    indent = lead.length;
    const from = place + all.lastIndexOf(value);
    place += all.length;
    if (spans.length > 0 || (isSecretValue(value, kind, 'quoted') && (sign[1] || isRandom(value))))
      spans.push(namedSpan(text, from, from + value.length));
    else break;
  }
  return spans;
}

/** The start of the value, or undefined if no value follows the name. */
function valueStart(text: string, { name, kind, from, to }: Name): number | undefined {
  const signed = runEnd(text, to, sign);
  if (signed > to) return afterMarks(text, signed, from);
  if (/\bvariable\s{1,4}\\*["']$/.test(text.slice(Math.max(0, from - 16), from))) return runEnd(text, to, terraformDefault) || undefined;
  if (text[to] === '>')
    return /<(?:[\w-]{1,16}:)?$/.test(text.slice(Math.max(0, from - 18), from)) && runEnd(text, to, element) > to
      ? runEnd(text, to, element)
      : undefined;
  for (const [pattern, doesBegin] of placed) {
    const value = runEnd(text, to, pattern);
    if (value > to && doesBegin.test(text.slice(Math.max(0, from - 24), to))) return value;
  }
  const argument = runEnd(text, to, nextArgument);
  if (argument > to && isArgument(text, name, from, argument)) return argument;
  if (kind === 'password' && runEnd(text, to, sentence) > to) return runEnd(text, to, sentence);
  const told = runEnd(text, to, given);
  if (kind === 'password' && told > to && isMixed(wordAt(text, told))) return told;
  const spaced = runEnd(text, to, space);
  if (spaced === to) return undefined;
  // In `config set --secret NAME VALUE`, a name follows the switch, and not the secret.
  const isSwitch = name === '--secret' && /\bset[ \t]{1,4}$/.test(text.slice(Math.max(0, from - 16), from));
  const isFlag = name.startsWith('--') && text[spaced] !== '-';
  const isBeforeQuote = kind === 'password' && !isWeakName(name) && /^\\*["']/.test(text.slice(spaced, spaced + 8));
  const isPassword = kind === 'password' && !isWeakName(name) && isMixed(wordAt(text, spaced));
  return !isSwitch && (isFlag || isBeforeQuote || isPassword || isSetBySpace(text.slice(Math.max(0, from - 80), from), name, kind))
    ? spaced
    : undefined;
}

/** The start of a value after what says how it is written: a tag of YAML, the kind of a string, a command that prints it, a brace. */
function afterMarks(text: string, signed: number, from: number): number {
  const marked = runEnd(text, runEnd(text, signed, yamlMark), stringKind);
  return /[;\s"']/.test(text[from - 1] ?? '') && runEnd(text, marked, brace) > marked ? marked + 1 : runEnd(text, marked, printed);
}

/** What stands between a name and its value in other places, and how the name begins there. */
const placed: readonly (readonly [between: RegExp, name: RegExp])[] = [
  [elementWithName, /\b(?:name|key|id)=\\*["'][\w.-]+$|<[\w-]{1,16}:[\w.-]+$/i],
  [nextElement, /<(?:key|name)>[\w.-]+$/],
  [hereString, /(?:^|[^\w-])[\w.-]+$/],
  [registry, /(?:^|\s)\w+$/],
  [formPart, /\bname=\\*["'][\w.-]+$/],
  [setter, /(?:^|[^\w])(?:[\w.]{1,20}[._])?set_?[A-Za-z]\w{2,40}$/],
  [fallback, /(?:^|\W)[A-Z][A-Z0-9_]{2,40}$/],
];

/** Whether a string names the next argument of a call, or the next item of a list: `['password', 'Xk39…']`, but not `['password', 'email']`. */
function isArgument(text: string, name: string, from: number, next: number): boolean {
  const before = text.slice(Math.max(0, from - 8), from);
  if (/\(\s?\\*["'`]$/.test(before)) return true;
  return /[[,]\s{0,4}\\*["'`]$/.test(before) && doesNameNext(name, text.slice(runEnd(text, next, quote), next + 128).replace(/\\*["'`].*$/s, ''));
}

/** Names of secrets that name the next item of a list only if that is no word. */
const bareName = /^[\w-]{0,40}(?:password|passwd|passphrase|pwd|secret|token|key|credentials?)$/i;
/** Items of a list that name the next item: flags and headers with secrets. */
const listedName = /^--?[a-z][\w-]{0,60}$|^(?:proxy-)?authorization$|^(?:set-)?cookie$|^[\w-]{0,40}(?:api-?key|token)$/i;

/** Whether a string in a list names the next one. */
export const doesNameNext = (name: string, next: string): boolean =>
  listedName.test(name) || (bareName.test(name) && next.length >= 8 && isRandom(next));

/** Commands and files in which only a space separates a name from its value: `setenv`, `config set`, Dockerfiles, `.netrc`. */
const isSetBySpace = (before: string, name: string, kind: NameKind): boolean =>
  (isEnvironmentName(name) && /(?:setenv|setx|set -[a-zA-Z]{1,4}|ENV)[ \t]+$/.test(before)) ||
  /#define[ \t]+$/.test(before) ||
  (kind === 'password' && /\blogin\s{1,4}\S{1,64}\s{1,24}$/.test(before)) ||
  /\bconfig(?:ure)?[ \t]{1,4}set[ \t]{1,4}(?:-{1,2}[\w-]{1,40}[ \t]{1,4}){0,3}(?:\S{1,64}[:/.])?$/.test(before);

/** The value in quotes. It ends at the same quotes with the same number of backslashes before them. */
function quotedValue(text: string, start: number, open: string, name: Name): TextSpan | undefined {
  const limit = text.slice(start, start + 4_096);
  let length = limit.indexOf(open);
  // A quote with more backslashes before it is a part of the value.
  while (length > 0 && limit[length - 1] === '\\') length = limit.indexOf(open, length + open.length);
  if (length <= 0) return undefined;
  if (open.length > 2) length = limit.slice(0, length).trimEnd().length;
  const from = name.kind === 'header' ? Math.min(runEnd(text, start, scheme), start + length) : start;
  return isSecretOf(name, text.slice(from, start + length), 'quoted') ? namedSpan(text, from, start + length) : undefined;
}

/** A value without quotes: up to a space, a quote, or an escaped break. Punctuation in it is a part of it, unless it ends a statement. */
const unquotedRun = /(?:[^\s"'`\\<>,;&|，。；、）」』】]|[,;&|](?=[^\s"'`\\=]{1,64}(?:[\s"'`\\]|$))|\\(?![nrtu"'`\\]))+/y;
const queryRun = /[\w.~%+/=-]+/y;
const elementRun = /(?:[^<\]\s\\]|\](?!\]>)|\\(?![nrt])){1,512}/y;
const ends: Readonly<Record<Setting, RegExp>> = {
  quoted: /$/,
  shell: /[,;]+$|&&.*$/,
  plain: /[,;]+$|&&.*$|;[A-Za-z ]+=.*$/,
  code: /[,;&|)\]}].*$|[,;.)\]}]+$/,
};
const wordAt = (text: string, at: number): string => text.slice(at, at + enough).slice(0, runEnd(text.slice(at, at + enough), 0, unquotedRun));
/** The number of characters that suffice to decide whether a value is a secret. */
const enough = 256;

function valueInRun(text: string, start: number, run: RegExp, name: Name, setting: Setting): TextSpan | undefined {
  const head = text.slice(start, start + enough);
  const value = head.slice(0, runEnd(head, 0, run)).replace(ends[setting], '');
  const isGlued = text.slice(name.to, start) === '=' && /^[\s"'`]?$/.test(text[name.from - 1] ?? '');
  if (value === '' || !isSecretOf(name, value, setting, isGlued)) return undefined;
  return namedSpan(text, start, value.length === enough ? runEnd(text, start, run) : start + value.length);
}

/** Excludes the name itself, as in `exports.token = token`, and a word under a name with other meanings, as in `pass: 'fail'`. */
const isSecretOf = ({ name, kind }: Name, value: string, setting: Setting, isGlued = false): boolean =>
  !name.endsWith(value) &&
  !(isWeakName(name) && value.length < 16 && !/\d/.test(value)) &&
  !(name.includes(' ') && value.length < 16) &&
  (isSecretValue(value, kind, setting) || (kind === 'key' && isKeyOfLetters(name, value, setting, isGlued)));

/** The start of a line or of a string, or a setting before it: `user=x password=…`. */
const lineStart =
  /(?:(?:^|[\r\n]|\\n|\\*["'`])[ \t+>#-]*|[\w.-]{1,20}=[^\s="'`]{1,40}[ \t]+)(?:(?:export|set|setx|ENV|env|-e|local|declare(?: -x)?)[ \t]+)?$/;
const lineEnd = /[ \t]*(?:#[^\n]{0,120})?(?:\r?\n|\\+n|\\*["'`]|$)/y;

/** The setting of a value without quotes, by the text around it. */
function settingOf(text: string, { name, from, to }: Name, start: number): Setting {
  const before = text.slice(Math.max(0, from - 64), from);
  if (isEnvironmentName(name) || name.startsWith('--')) return 'shell';
  if (/[：＝]/.test(text.slice(to, start))) return 'plain';
  if (before.endsWith(';') || /^\s+$/.test(text.slice(to, start))) return 'plain';
  const end = start + runEnd(text.slice(start, start + enough), 0, unquotedRun);
  const isWholeLine = lineStart.test(before) && (runEnd(text, end, lineEnd) > end || end === text.length);
  return isWholeLine && !/[ \t]=/.test(text.slice(to, start)) && !/[;,(){}]/.test(text.slice(end - 1, end)) ? 'plain' : 'code';
}
