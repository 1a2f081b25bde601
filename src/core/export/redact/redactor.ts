import type { RedactionKind } from '../../contract/index.js';
import { replaceInBytes, textsInBytes } from './bytes.js';
import { type Room, roomFor, Unsearchable } from './compressed.js';
import { type Form, type FormSpan, formFinder } from './forms.js';
import { encodedRuns, findSpans, readingsOf, type SearchOptions, type TextSpan } from './rules/index.js';
import { type Findings, lintTexts } from './secretlint.js';
import { splitTokens } from './split.js';
import type { NamedText } from './texts.js';

/** One placeholder of an export: `[secret-1]` replaces the same secret everywhere in it. */
export interface Redaction {
  readonly placeholder: string;
  readonly kind: RedactionKind;
  readonly count: number;
}

/** Replaces secrets and personal data. Pass all texts of an export to `look` before you pass the first one to `replace`. */
export type Redactor = ReturnType<typeof redactor>;

/** Counts the placeholders in a document, because it may not show all texts in which something was replaced. */
export function noteWritten(text: string, written: Map<string, number>): void {
  for (const [placeholder] of text.matchAll(/\[(?:secret|path|email|ip)-\d+\]/g)) written.set(placeholder, (written.get(placeholder) ?? 0) + 1);
}

/**
 * A redactor for one export. It removes secrets that our rules or secretlint's recommended rules know, home folders of people
 * (`/home/ada/x` becomes `[path-1]/x`; also `-home-ada-x`, the way agents name folders) and e-mail addresses; on request also IP
 * addresses. Each is removed everywhere in the export, not only where a rule found it.
 */
export function redactor(known: Findings, options: SearchOptions) {
  const forms = new Map<string, Form>();
  const placeholders: Placeholders = { made: new Map(), numbers: { secret: 0, path: 0, email: 0, ip: 0 } };
  let replacing: ReturnType<typeof replacer> | undefined;
  const current = (): ReturnType<typeof replacer> => (replacing ??= replacer(forms, options, placeholders));
  return {
    /** Searches the texts. A secret that is found in one of them is also replaced in the others. */
    look: async (texts: Iterable<NamedText>): Promise<void> => {
      replacing = undefined;
      for await (const secret of lintTexts(searched(texts, forms, options), known)) addSecret(forms, secret);
    },
    replace: (text: string, name?: string): string => current()(text, name),
    /** The replacements so far. With `written`, only the placeholders in it, with its counts. */
    made: (written?: ReadonlyMap<string, number>): Redaction[] => {
      const made = [...placeholders.made.values()];
      if (!written) return made;
      return made.flatMap((one) => (written.has(one.placeholder) ? [{ ...one, count: written.get(one.placeholder) ?? 0 }] : []));
    },
  };
}

/** Searches the texts with our rules and yields the texts for secretlint. */
function* searched(texts: Iterable<NamedText>, forms: Map<string, Form>, options: SearchOptions): Generator<string> {
  const seen = new Set<string>();
  const split = splitTokens();
  for (const { text, name } of withEncoded(texts)) {
    for (const piece of split(text, name)) addSecret(forms, piece);
    if (text.length <= short) {
      const key = cacheKey(text, name);
      if (seen.has(key)) continue;
      seen.add(key);
    }
    for (const span of findSpans(text, name, options)) {
      if (span.spreads) addForm(forms, text.slice(span.from, span.to), span.kind, span.value);
      if (span.spreads && span.value !== undefined) addForm(forms, span.value, span.kind);
    }
    yield* paragraphsOf(text, name);
    for (const reading of readingsOf(text)) if (reading.rules === 'all') yield* paragraphsOf(reading.text, name);
  }
}

const paragraphsOf = (text: string, name: string | undefined): readonly string[] =>
  text.length > longest ? text.split(/\n(?=\n)/) : text.length < shortest ? [] : [name === undefined ? text : `${name} = "${text}"`];

/** The texts, and the texts that are encoded in them. */
function* withEncoded(texts: Iterable<NamedText>, depth = 0, given?: Room): Generator<NamedText> {
  for (const named of texts) {
    yield named;
    if (named.text.length < shortestRun || depth === maxDepth) continue;
    const room = given ?? roomFor(named.text.length);
    for (const { bytes } of encodedRuns(named.text)) yield* searchable(withEncoded(textsInBytes(bytes, named.name, room), depth + 1, room));
  }
}

/** The texts of a file up to the one that expands too much. `replace` removes the file. */
function* searchable(texts: Iterable<NamedText>): Generator<NamedText> {
  try {
    yield* texts;
  } catch (error) {
    if (!(error instanceof Unsearchable)) throw error;
  }
}
/** Runs of encoded bytes are at least this long, and are decoded inside of each other this many times. */
const shortestRun = 24;
const maxDepth = 3;
/** A short run in a text is replaced whole. A longer one, and one that is a whole value, is a file that stays readable. */
const longestWhole = 512;

/** secretlint finds nothing in shorter texts. Longer ones are searched paragraph by paragraph. */
const shortest = 8;
const longest = 64 * 1024;

/** Findings of texts up to this length are cached, because ids, times, paths and words are short and repeat on every line. */
const short = 128;
const maxKept = 50_000;
const cacheKey = (text: string, name: string | undefined): string => `${name ?? ''}\0${text}`;

function addForm(forms: Map<string, Form>, form: string, kind: RedactionKind, value?: string): void {
  if (kind === 'secret') {
    addSecret(forms, form, value);
    return;
  }
  const of = identifySecret(form, kind);
  if (!forms.has(form)) forms.set(form, { kind, of });
  const folder = of.replaceAll(/[^A-Za-z0-9]/g, '-');
  if (kind === 'path' && !forms.has(folder)) forms.set(folder, { kind, of });
}

function addSecret(forms: Map<string, Form>, secret: string, value = secret): void {
  const of = identifySecret(value, 'secret');
  forms.set(secret, { kind: 'secret', of });
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (!forms.has(escaped)) forms.set(escaped, { kind: 'secret', of });
}

/** The identity of a secret, path or address, which is the same for all its spellings. */
function identifySecret(form: string, kind: RedactionKind): string {
  switch (kind) {
    case 'secret':
      return form.replaceAll(/\\+[nr]|\s+|\\+(?=["'\\/])/g, '');
    case 'path':
      return form.replaceAll(/\\+/g, '\\');
    case 'email':
    case 'ip':
      return form.toLowerCase();
  }
}

/** The placeholders of one export, by what they replace, and the number of each kind. */
interface Placeholders {
  readonly made: Map<string, Redaction>;
  readonly numbers: Record<RedactionKind, number>;
}

/** Replaces spans and known forms, and counts; placeholders are numbered in the order of their first use. */
function replacer(forms: ReadonlyMap<string, Form>, options: SearchOptions, { made, numbers }: Placeholders) {
  const find = formFinder(forms);
  const findForms = (text: string): readonly FoundForm[] => find(text).map((span) => ({ ...span, spreads: false }));
  const placeholderOf = ({ kind, of }: Form): string => {
    const key = `${kind} ${of}`;
    const one = made.get(key) ?? { placeholder: `[${kind}-${++numbers[kind]}]`, kind, count: 0 };
    made.set(key, { ...one, count: one.count + 1 });
    return one.placeholder;
  };
  const kept = new Map<string, readonly FormSpan[]>();
  const spansIn = (text: string, name: string | undefined): readonly FormSpan[] => {
    if (text.length > short) return joined(text, findSpans(text, name, options, findForms));
    const key = cacheKey(text, name);
    const spans = kept.get(key) ?? joined(text, findSpans(text, name, options, findForms));
    if (kept.size >= maxKept) kept.clear();
    kept.set(key, spans);
    return spans;
  };
  const replace = (text: string, name: string | undefined, depth: number, room: Room): string => {
    const files = depth < maxDepth ? filesIn(text, name, depth, room) : [];
    const parts: string[] = [];
    let done = 0;
    for (const { from, to, ...span } of merged(spansIn(text, name), files)) {
      parts.push(text.slice(done, from), 'made' in span ? span.made : placeholderOf(span));
      done = to;
    }
    return done === 0 ? text : parts.join('') + text.slice(done);
  };
  /** Encoded files in a text that contain something to replace, each with its new encoding, or with a placeholder if it is short. */
  const filesIn = (text: string, name: string | undefined, depth: number, room: Room): (FormSpan | Made)[] => {
    if (text.length < shortestRun) return [];
    const found: (FormSpan | Made)[] = [];
    for (const { from, to, bytes, encode } of encodedRuns(text)) {
      const isWhole = to - from === text.length || to - from > longestWhole;
      if (isWhole) {
        const left = replaceInBytes(bytes, { replace: (inner, innerName) => replace(inner, innerName, depth + 1, room) }, name, room);
        if (left !== bytes) found.push({ from, to, made: encode(left) });
      } else if (hasFinding(textsInBytes(bytes, name, room), depth + 1, room)) {
        found.push({ from, to, kind: 'secret', of: identifySecret(text.slice(from, to), 'secret') });
      }
    }
    return found;
  };
  const hasFinding = (texts: Iterable<NamedText>, depth: number, room: Room): boolean => {
    try {
      for (const { text, name } of texts)
        if (spansIn(text, name).length > 0 || (depth < maxDepth && filesIn(text, name, depth, room).length > 0)) return true;
      return false;
    } catch (error) {
      if (error instanceof Unsearchable) return true;
      throw error;
    }
  };
  return (text: string, name?: string): string => replace(text, name, 0, roomFor(text.length));
}

/** A range of a text, and the text in its place. */
interface Made {
  readonly from: number;
  readonly to: number;
  readonly made: string;
}

/** Encoded files between the spans. A span that overlaps a file covers both. */
function merged(spans: readonly FormSpan[], files: readonly (FormSpan | Made)[]): readonly (FormSpan | Made)[] {
  if (files.length === 0) return spans;
  const result: (FormSpan | Made)[] = [];
  for (const one of [...spans, ...files].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = result.at(-1);
    if (!last || one.from >= last.to) result.push(one);
    else {
      const span = 'made' in last ? one : last;
      if (!('made' in span)) result[result.length - 1] = { ...span, from: last.from, to: Math.max(last.to, one.to) };
    }
  }
  return result;
}

type FoundForm = FormSpan & Pick<TextSpan, 'spreads'>;

const nothing: FormSpan[] = [];

function joined(text: string, spans: readonly (TextSpan | FoundForm)[]): FormSpan[] {
  if (spans.length === 0) return nothing;
  const all = spans
    .map((span) => ({ ...span, of: 'of' in span ? span.of : span.value === undefined ? '' : identifySecret(span.value, span.kind) }))
    .sort((a, b) => a.from - b.from || b.to - a.to);
  const result: { from: number; to: number; kind: RedactionKind; of: string }[] = [];
  for (const { from, to, kind, of } of all) {
    const last = result.at(-1);
    if (!last || from >= last.to) result.push({ from, to, kind, of });
    else if (to > last.to || kind === 'secret')
      Object.assign(last, { to: Math.max(to, last.to), kind: kind === 'secret' ? kind : last.kind, of: '' });
    else if (last.from === from && last.to === to) last.of ||= of;
  }
  return result.map((span) => ({ ...span, of: span.of || identifySecret(text.slice(span.from, span.to), span.kind) }));
}
