import { setImmediate as breath } from 'node:timers/promises';

export interface Redaction {
  /** What stands in the text instead: `[secret-1]`, the same for the same secret everywhere in one export. */
  readonly placeholder: string;
  readonly kind: 'secret' | 'path' | 'email';
  readonly count: number;
}

/** What was found in which piece of text before, so that an export that was looked at is not searched a second time. */
export type Findings = Map<string, readonly string[]>;

/** A piece of the text: what to search, and how it stands between `from` and `to`. */
interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * The text without the secrets that secretlint's recommended rules find, without the homes of people in absolute paths
 * (`/home/ada/x` → `[path-1]/x`, and `-home-ada-x`, as agents name folders after them), and without e-mail addresses. Each is
 * taken out wherever it stands, not only where a rule saw it.
 * In JSON and JSON lines only strings change, names of members among them: the rest stays byte for byte, and it still parses.
 */
export async function redact(text: string, form: 'json' | 'plain', known: Findings): Promise<{ text: string; redactions: Redaction[] }> {
  const pieces = form === 'json' ? stringsOf(text) : [{ text, from: 0, to: text.length }];
  const searched = [...new Set(form === 'json' ? withNames(text, pieces) : text.split(/\n(?=\n)/))];
  const replace = replacer(await secretsIn(searched, known), searched);
  const parts: string[] = [];
  let done = 0;
  for (const { text: said, from, to } of pieces) {
    const left = replace.in(said);
    if (left === said) continue;
    parts.push(text.slice(done, from), form === 'json' ? JSON.stringify(left) : left);
    done = to;
  }
  return { text: parts.join('') + text.slice(done), redactions: replace.made() };
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

/** Many secrets are known by the name that they stand under: a member's name and its text are searched as one. */
const withNames = (json: string, pieces: readonly Piece[]): string[] =>
  pieces.map(({ text, from }, at) => {
    const name = pieces[at - 1];
    return name !== undefined && /^\s*:\s*$/.test(json.slice(name.to, from)) ? `${name.text} = "${text}"` : text;
  });

/** How many characters are searched in one go; between two of them the engine hears others. */
const goLength = 128 * 1024;
const mostFindings = 200_000;

async function secretsIn(pieces: readonly string[], known: Findings): Promise<Set<string>> {
  const secrets = new Set<string>();
  for (const go of gosOf(pieces.filter((piece) => !known.has(piece)))) {
    const found = await lint(go.join('\n'));
    if (known.size + go.length > mostFindings) known.clear();
    for (const piece of go) known.set(piece, found.size === 0 ? none : [...found].filter((secret) => piece.includes(secret)));
    // A key with blank lines in it goes across paragraphs: it is remembered with the first of them.
    const across = [...found].filter((secret) => !go.some((piece) => piece.includes(secret)));
    if (across.length > 0) known.set(go[0] ?? '', [...(known.get(go[0] ?? '') ?? none), ...across]);
    for (const secret of found) secrets.add(secret);
    await breath();
  }
  for (const piece of pieces) for (const secret of known.get(piece) ?? none) secrets.add(secret);
  return secrets;
}

const none: readonly string[] = [];

function gosOf(pieces: readonly string[]): string[][] {
  const gos: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    if (length + piece.length > goLength) {
      gos.push([]);
      length = 0;
    }
    gos.at(-1)?.push(piece);
    length += piece.length + 1;
  }
  return gos;
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

const person = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}._-]{0,62}[\p{L}\p{N}_-])?`;
const homes = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.-])(?:(?:/mnt)?/[a-z]/Users/|/home/|/Users/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))${person}`,
  'gu',
);
const emails = /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/g;

/** Replaces what was found, longest first, and counts; placeholders are numbered as they are first needed. */
function replacer(secrets: ReadonlySet<string>, pieces: readonly string[]) {
  const forms = new Map<string, { kind: Redaction['kind']; of: string }>();
  const put = (form: string, kind: Redaction['kind'], of: string) => forms.has(form) || forms.set(form, { kind, of });
  for (const secret of secrets) {
    put(secret, 'secret', secret);
    put(JSON.stringify(secret).slice(1, -1), 'secret', secret);
  }
  for (const piece of pieces) {
    for (const [home] of piece.matchAll(homes)) {
      const plain = home.replaceAll(/\\+/g, '\\');
      put(home, 'path', plain);
      put(home.replaceAll(/\\+/g, '\\').replaceAll(/[^A-Za-z0-9]/g, '-'), 'path', plain);
    }
    for (const [email] of piece.matchAll(emails)) put(email, 'email', email.toLowerCase());
  }
  const isWord = /[\p{L}\p{N}_]$/u;
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
