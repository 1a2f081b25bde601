import { hash } from 'node:crypto';
import { setImmediate as breath } from 'node:timers/promises';
import { bytesOf, isObject, parseJson } from '../base/index.js';
import { encodeCbor, readArray, type Seals } from '../formats/index.js';

export interface Redaction {
  /** What stands in the text instead: `[secret-1]`, the same for the same secret everywhere in one export. */
  readonly placeholder: string;
  readonly kind: 'secret' | 'path' | 'email';
  readonly count: number;
}

/** What was found in which piece of text before, by its hash, so that an export that was looked at is not searched a second time. */
export type Findings = Map<string, readonly string[]>;

/** All of an export is looked at before any of it is replaced. */
export interface Redactor {
  look(texts: Iterable<string>): Promise<void>;
  replace(text: string): string;
  /** What was replaced so far; of `written`, only what stands in it, as often as it does. */
  made(written?: ReadonlyMap<string, number>): Redaction[];
}

/** Notes which placeholders stand in a text: not all of what is replaced is shown everywhere. */
export function noteWritten(text: string, written: Map<string, number>): void {
  for (const [placeholder] of text.matchAll(/\[(?:secret|path|email)-\d+\]/g)) written.set(placeholder, (written.get(placeholder) ?? 0) + 1);
}

/**
 * Takes out the secrets that secretlint's recommended rules find, the homes of people in absolute paths
 * (`/home/ada/x` → `[path-1]/x`, and `-home-ada-x`, as agents name folders after them), and e-mail addresses. Each is
 * taken out wherever it stands, not only where a rule saw it.
 */
export function redactor(known: Findings): Redactor {
  const forms: Forms = new Map();
  let replacing: ReturnType<typeof replacer> | undefined;
  const now = (): ReturnType<typeof replacer> => {
    replacing ??= replacer(forms);
    return replacing;
  };
  return {
    look: async (texts) => {
      for await (const secret of secretsIn(homesIn(texts, forms), known)) putSecret(forms, secret);
    },
    replace: (text) => now().in(text),
    made: (written) => {
      const made = now().made();
      if (!written) return made;
      return made.flatMap((one) => (written.has(one.placeholder) ? [{ ...one, count: written.get(one.placeholder) ?? 0 }] : []));
    },
  };
}

/** What there is to search in a value: its texts, each with the name that it stands under. Many secrets are known by that name alone. */
export function* textsIn(value: unknown, name?: string): Generator<string> {
  if (typeof value === 'string') yield named(name, value);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (value instanceof Uint8Array) {
    const said = saidIn(value);
    if (said?.isJson) yield* withNames(said.text, stringsOf(said.text));
    else if (said) yield named(name, said.text);
  } else if (isObject(value))
    for (const [key, member] of Object.entries(value)) {
      yield key;
      yield* textsIn(member, key);
    }
}

const named = (name: string | undefined, text: string): string => (name === undefined ? text : `${name} = "${text}"`);

/** What bytes say, if they are a text: CBOR formats keep the input of a call as the bytes of its JSON. */
function saidIn(bytes: Uint8Array): { readonly text: string; readonly isJson: boolean } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isJson: parseJson(text) !== undefined };
  } catch {
    return undefined;
  }
}

/** The value with its texts replaced, names of members among them; what does not change is the same value. */
export function replaceIn<T>(value: T, redact: Redactor): T {
  if (typeof value === 'string') return redact.replace(value) as T;
  if (Array.isArray(value)) {
    const list = value.map((item: unknown) => replaceIn(item, redact));
    return list.some((item, at) => item !== value[at]) ? (list as T) : value;
  }
  if (value instanceof Uint8Array) {
    const said = saidIn(value);
    const left = said && (said.isJson ? replaceInJson(said.text, redact) : redact.replace(said.text));
    return left === said?.text || left === undefined ? value : (bytesOf(left) as T);
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => ({ key, member, newKey: redact.replace(key), newMember: replaceIn(member, redact) }));
  if (!members.some(({ key, member, newKey, newMember }) => key !== newKey || member !== newMember)) return value;
  return Object.fromEntries(members.map(({ newKey, newMember }) => [newKey, newMember])) as T;
}

/** JSON or JSON lines without what was found: only strings change, all else stays byte for byte, and it still parses. */
export async function redactJson(json: string, redact: Redactor, seals?: Seals): Promise<string> {
  await redact.look(withNames(json, stringsOf(json)));
  return replaceInJson(json, redact, seals);
}

function replaceInJson(json: string, redact: Redactor, seals: Seals = {}): string {
  const pieces = stringsOf(json);
  const changed = pieces.map(({ text }) => redact.replace(text));
  const broken = brokenSeals(json, pieces, changed, seals);
  const parts: string[] = [];
  let done = 0;
  for (const [at, { text, from, to }] of pieces.entries()) {
    const seal = broken.get(at);
    const left = seal === undefined ? (changed[at] as string) : seal;
    if (left === text) continue;
    parts.push(json.slice(done, from), JSON.stringify(left));
    done = to;
  }
  return parts.join('') + json.slice(done);
}

/** The same of a text that is no more than that. Private keys have lines, but no empty ones: paragraphs are searched one by one. */
export async function redactText(text: string, redact: Redactor): Promise<string> {
  await redact.look(text.split(/\n(?=\n)/));
  return redact.replace(text);
}

/** And of a CBOR array, item by item; one that cannot be read is left out. */
export async function redactArray(bytes: Uint8Array, redact: Redactor): Promise<Uint8Array> {
  const values = readArray(bytes).items.map(({ value }) => value);
  await redact.look(textsIn(values));
  return encodeCbor(replaceIn(values, redact));
}

/** An object or a list of the JSON, while it is open. */
interface Container {
  readonly names: Set<string>;
  readonly seals: { readonly at: number; readonly name: string }[];
  isChanged: boolean;
}

/** Seals in objects that change, by their places among the strings of the JSON: what is sealed says, encrypted, what was taken out. */
function brokenSeals(json: string, pieces: readonly Piece[], changed: readonly string[], seals: Seals): ReadonlyMap<number, string | null> {
  const broken = new Map<number, string | null>();
  if (!Object.keys(seals).some((seal) => json.includes(`"${seal}"`))) return broken;
  const open: Container[] = [];
  const close = (): void => {
    const done = open.pop();
    for (const { at, name } of done?.seals ?? []) {
      const seal = seals[name];
      // What it seals may stand beside it or around it.
      if (!seal?.of.some((name) => done?.names.has(name))) open.at(-1)?.seals.push({ at, name });
      else if (done?.isChanged) broken.set(at, seal.broken);
    }
  };
  let end = 0;
  for (const [at, { text, from, to }] of pieces.entries()) {
    for (const mark of json.slice(end, from))
      if (mark === '{' || mark === '[') open.push({ names: new Set(), seals: [], isChanged: false });
      else if (mark === '}' || mark === ']') close();
    end = to;
    const before = pieces[at - 1];
    const name = before && isNameOf(json, before, from) ? before.text : '';
    if (isName(json, to)) open.at(-1)?.names.add(text);
    else if (Object.hasOwn(seals, name) && text !== '') open.at(-1)?.seals.push({ at, name });
    if (changed[at] !== text) for (const one of open) one.isChanged = true;
  }
  while (open.length > 0) close();
  return broken;
}

/** A piece of the text: what to search, and how it stands between `from` and `to`. */
interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The strings of JSON, by looking for their ends: a regular expression would run out of stack in a long one. */
function stringsOf(json: string): Piece[] {
  const pieces: Piece[] = [];
  for (let from = json.indexOf('"'); from !== -1; ) {
    let end = json.indexOf('"', from + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    const to = end + 1;
    pieces.push({ text: JSON.parse(json.slice(from, to)) as string, from, to });
    from = json.indexOf('"', to);
  }
  return pieces;
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote;
  while (json[before - 1] === '\\') before--;
  return (quote - before) % 2 === 1;
}

const isNameOf = (json: string, name: Piece, from: number): boolean => /^\s*:\s*$/.test(json.slice(name.to, from));
const isName = (json: string, to: number): boolean => /^\s*:/.test(json.slice(to, to + 20));

function* withNames(json: string, pieces: readonly Piece[]): Generator<string> {
  for (const [at, { text, from }] of pieces.entries()) {
    const before = pieces[at - 1];
    yield named(before && isNameOf(json, before, from) ? before.text : undefined, text);
  }
}

/** How many characters are searched in one go; between two of them the engine hears others. */
const goLength = 128 * 1024;
const mostFindings = 200_000;

const none: readonly string[] = [];
const keyOf = (piece: string): string => hash('sha256', piece, 'base64');

/** Secrets of the pieces, each piece read when it is asked for. */
async function* secretsIn(pieces: Iterable<string>, known: Findings): AsyncGenerator<string> {
  for (const go of gosOf(pieces)) {
    if (known.size + go.length > mostFindings) known.clear();
    const keyed = go.map((piece) => ({ piece, key: keyOf(piece) }));
    const fresh = keyed.filter(({ key }) => !known.has(key));
    const [first] = fresh;
    if (first) {
      const found = [...(await lint(fresh.map(({ piece }) => piece).join('\n')))];
      for (const { piece, key } of fresh) known.set(key, found.length === 0 ? none : found.filter((secret) => piece.includes(secret)));
      // A key with blank lines in it goes across pieces: it is remembered with the first of them.
      const across = found.filter((secret) => !fresh.some(({ piece }) => piece.includes(secret)));
      if (across.length > 0) known.set(first.key, [...(known.get(first.key) ?? none), ...across]);
    }
    for (const { key } of keyed) yield* known.get(key) ?? none;
    await breath();
  }
}

/** The same pieces, each once, in goes of about one length. */
function* gosOf(pieces: Iterable<string>): Generator<string[]> {
  let go = new Set<string>();
  let length = 0;
  for (const piece of pieces) {
    if (go.has(piece)) continue;
    if (length > 0 && length + piece.length > goLength) {
      yield [...go];
      go = new Set();
      length = 0;
    }
    go.add(piece);
    length += piece.length + 1;
  }
  if (go.size > 0) yield [...go];
}

async function lint(content: string): Promise<Set<string>> {
  // Loaded when somebody redacts: an engine that starts does not wait for it.
  const [{ lintSource }, { creator: rule }] = await Promise.all([import('@secretlint/core'), import('@secretlint/secretlint-rule-preset-recommend')]);
  const rules = [{ id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } }];
  const config = { rules: [{ id: 'recommended', rule, rules }] };
  const source = { content, filePath: 'export.txt', ext: '.txt', contentType: 'text' as const };
  const { messages } = await lintSource({ source, options: { noPhysicFilePath: true, config } });
  return new Set(messages.flatMap(({ range, data }) => valuesOf(data, content) ?? [content.slice(...range)]));
}

/** The values that a message names. Its range is only taken without them: that of an AWS key ends before the key does. */
function valuesOf(data: unknown, content: string): string[] | undefined {
  const values = Object.entries(data ?? {}).flatMap(([name, value]) =>
    name !== 'typeName' && typeof value === 'string' && value.length >= 6 && content.includes(value) ? [value] : [],
  );
  return values.length > 0 ? values : undefined;
}

/** Longer runs of base64 than a secret is: a picture's bytes. Nothing is searched in them. */
const isBytes = (text: string): boolean => text.length > 4_096 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

const person = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}._-]{0,62}[\p{L}\p{N}_-])?`;
const homes = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.-])(?:(?:/mnt)?/[a-z]/Users/|(?:/var|/usr|/export)?/home/|/Users/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))${person}`,
  'gu',
);
/** But no `icon@2x.png`, and no `git@host:path`, which are nobody's. */
const emails = /(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9._%+-]{1,64}@(?!\d{1,2}x\.)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/g;

/** Everything that is taken out, as it stands in texts, and what it is a form of. */
type Forms = Map<string, { readonly kind: Redaction['kind']; readonly of: string }>;

function put(forms: Forms, form: string, kind: Redaction['kind'], of: string): void {
  if (!forms.has(form)) forms.set(form, { kind, of });
}

function putSecret(forms: Forms, secret: string): void {
  forms.set(secret, { kind: 'secret', of: secret });
  put(forms, JSON.stringify(secret).slice(1, -1), 'secret', secret);
}

/** The pieces as they come, with the homes and addresses in them noted. */
function* homesIn(pieces: Iterable<string>, forms: Forms): Generator<string> {
  for (const piece of pieces) {
    if (isBytes(piece)) continue;
    for (const [home] of piece.matchAll(homes)) {
      const plain = home.replaceAll(/\\+/g, '\\');
      put(forms, home, 'path', plain);
      put(forms, plain.replaceAll(/[^A-Za-z0-9]/g, '-'), 'path', plain);
    }
    for (const [email] of piece.matchAll(emails)) put(forms, email, 'email', email.toLowerCase());
    yield piece;
  }
}

const isWord = /[\p{L}\p{N}_]$/u;

/** Replaces what was found, longest first, and counts; placeholders are numbered as they are first needed. */
function replacer(forms: Forms) {
  const alternatives = [...forms.keys()]
    .sort((a, b) => b.length - a.length)
    .map(
      (form) =>
        form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&') +
        (forms.get(form)?.kind === 'secret' || !isWord.test(form) ? '' : String.raw`(?![\p{L}\p{N}_])`),
    );
  const any = alternatives.length === 0 ? undefined : new RegExp(alternatives.join('|'), 'gu');
  const made = new Map<string, { placeholder: string; kind: Redaction['kind']; count: number }>();
  const numbers = { secret: 0, path: 0, email: 0 };
  const placeholderOf = (form: string): string => {
    const { kind, of } = forms.get(form) as { kind: Redaction['kind']; of: string };
    const one = made.get(of) ?? { placeholder: `[${kind}-${++numbers[kind]}]`, kind, count: 0 };
    made.set(of, { ...one, count: one.count + 1 });
    return one.placeholder;
  };
  return {
    in: (text: string): string => (any === undefined ? text : text.replaceAll(any, placeholderOf)),
    made: (): Redaction[] => [...made.values()],
  };
}
