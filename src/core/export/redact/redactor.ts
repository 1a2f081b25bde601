import type { RedactionKind } from '../../contract/index.js';
import { type Form, type FormSpan, formFinder } from './forms.js';
import { findSpans, type SearchOptions, type Span } from './rules/index.js';
import { type Findings, lintTexts } from './secretlint.js';

/** One placeholder of an export: `[secret-1]` replaces the same secret everywhere in it. */
export interface Redaction {
  readonly placeholder: string;
  readonly kind: RedactionKind;
  readonly count: number;
}

/** A text of an export, and the name of the member, field or header whose value it is. */
export interface NamedText {
  readonly text: string;
  readonly name?: string | undefined;
}

/** Replaces secrets and personal data. Pass all texts of an export to `look` before you pass the first one to `replace`. */
export interface Redactor {
  /** Searches the texts. A secret that is found in one of them is also replaced in the others. */
  look(texts: Iterable<NamedText>): Promise<void>;
  replace(text: string, name?: string): string;
  /** The replacements so far. With `written`, only the placeholders in it, with its counts. */
  made(written?: ReadonlyMap<string, number>): Redaction[];
}

/** Counts the placeholders in a document, because it may not show all texts in which something was replaced. */
export function noteWritten(text: string, written: Map<string, number>): void {
  for (const [placeholder] of text.matchAll(/\[(?:secret|path|email|ip)-\d+\]/g)) written.set(placeholder, (written.get(placeholder) ?? 0) + 1);
}

/**
 * A redactor for one export. It removes secrets that our rules or secretlint's recommended rules know, home folders of people
 * (`/home/ada/x` becomes `[path-1]/x`; also `-home-ada-x`, the way agents name folders) and e-mail addresses; on request also IP
 * addresses. Each is removed everywhere in the export, not only where a rule found it.
 */
export function redactor(known: Findings, options: SearchOptions): Redactor {
  const forms = new Map<string, Form>();
  let replacing: ReturnType<typeof replacer> | undefined;
  const current = (): ReturnType<typeof replacer> => {
    replacing ??= replacer(forms, options);
    return replacing;
  };
  return {
    look: async (texts) => {
      replacing = undefined;
      for await (const secret of lintTexts(searched(texts, forms, options), known)) addSecret(forms, secret);
    },
    replace: (text, name) => current().in(text, name),
    made: (written) => {
      const made = current().made();
      if (!written) return made;
      return made.flatMap((one) => (written.has(one.placeholder) ? [{ ...one, count: written.get(one.placeholder) ?? 0 }] : []));
    },
  };
}

/** Searches the texts with our rules and yields the texts for secretlint. */
function* searched(texts: Iterable<NamedText>, forms: Map<string, Form>, options: SearchOptions): Generator<string> {
  const seen = new Set<string>();
  for (const { text, name } of texts) {
    if (text.length <= short) {
      const key = keyOf(text, name);
      if (seen.has(key)) continue;
      seen.add(key);
    }
    for (const span of findSpans(text, name, options)) if (span.spreads) addForm(forms, text.slice(span.from, span.to), span.kind);
    if (text.length > longest) yield* text.split(/\n(?=\n)/);
    else if (text.length >= shortest) yield name === undefined ? text : `${name} = "${text}"`;
  }
}
/** secretlint finds nothing in shorter texts. Longer ones are searched paragraph by paragraph. */
const shortest = 8;
const longest = 64 * 1024;

/** Findings of texts up to this length are cached, because ids, times, paths and words are short and repeat on every line. */
const short = 128;
const maxKept = 50_000;
const keyOf = (text: string, name: string | undefined): string => `${name ?? ''}\0${text}`;

function addForm(forms: Map<string, Form>, form: string, kind: RedactionKind): void {
  if (kind === 'secret') {
    addSecret(forms, form);
    return;
  }
  const of = identityOf(form, kind);
  if (!forms.has(form)) forms.set(form, { kind, of });
  const folder = of.replaceAll(/[^A-Za-z0-9]/g, '-');
  if (kind === 'path' && !forms.has(folder)) forms.set(folder, { kind, of });
}

function addSecret(forms: Map<string, Form>, secret: string): void {
  const of = identityOf(secret, 'secret');
  forms.set(secret, { kind: 'secret', of });
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (!forms.has(escaped)) forms.set(escaped, { kind: 'secret', of });
}

/** The identity of a secret, path or address, which is the same for all its spellings. */
function identityOf(form: string, kind: RedactionKind): string {
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

/** Replaces spans and known forms, and counts; placeholders are numbered in the order of their first use. */
function replacer(forms: ReadonlyMap<string, Form>, options: SearchOptions) {
  const findForms = formFinder(forms);
  const made = new Map<string, Redaction>();
  const numbers: Record<RedactionKind, number> = { secret: 0, path: 0, email: 0, ip: 0 };
  const placeholderOf = ({ kind, of }: Form): string => {
    const key = `${kind} ${of}`;
    const one = made.get(key) ?? { placeholder: `[${kind}-${++numbers[kind]}]`, kind, count: 0 };
    made.set(key, { ...one, count: one.count + 1 });
    return one.placeholder;
  };
  const kept = new Map<string, FormSpan[]>();
  const spansIn = (text: string, name: string | undefined): FormSpan[] => {
    if (text.length > short) return joined(text, findSpans(text, name, options), findForms(text));
    const key = keyOf(text, name);
    const spans = kept.get(key) ?? joined(text, findSpans(text, name, options), findForms(text));
    if (kept.size >= maxKept) kept.clear();
    kept.set(key, spans);
    return spans;
  };
  return {
    in: (text: string, name?: string): string => {
      const parts: string[] = [];
      let done = 0;
      for (const span of spansIn(text, name)) {
        parts.push(text.slice(done, span.from), placeholderOf(span));
        done = span.to;
      }
      return done === 0 ? text : parts.join('') + text.slice(done);
    },
    made: (): Redaction[] => [...made.values()],
  };
}

/** All spans in order. Overlapping spans are joined into one. */
function joined(text: string, spans: readonly Span[], forms: readonly FormSpan[]): FormSpan[] {
  if (spans.length === 0) return [...forms];
  const all = [...spans.map((span) => ({ ...span, of: '' })), ...forms].sort((a, b) => a.from - b.from || b.to - a.to);
  const result: { from: number; to: number; kind: RedactionKind; of: string }[] = [];
  for (const { from, to, kind, of } of all) {
    const last = result.at(-1);
    if (!last || from >= last.to) result.push({ from, to, kind, of });
    else if (to > last.to || kind === 'secret')
      Object.assign(last, { to: Math.max(to, last.to), kind: kind === 'secret' ? kind : last.kind, of: '' });
    else if (last.from === from && last.to === to) last.of ||= of;
  }
  return result.map((span) => ({ ...span, of: span.of || identityOf(text.slice(span.from, span.to), span.kind) }));
}
