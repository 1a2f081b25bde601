import { isObject, stringAt } from '../base/index.js';
import type { KnownFile, ToolClass } from '../contract/index.js';
import { changedLines } from '../diff/index.js';
import { type ParsedEntry, toolClassOf } from '../formats/index.js';

/** How much of a file's content is known, and the known content. */
export type Knowledge = Pick<KnownFile, 'known' | 'content'>;

/** The effect of an answered call on one file. */
export interface Touch {
  readonly path: string;
  readonly how: KnownFile['touches'][number]['how'];
  /** True if the content after the call does not depend on earlier calls. */
  readonly isFresh: boolean;
  readonly apply: (before: Knowledge) => Knowledge;
  /** The lines that the call adds and removes, if its arguments contain them. */
  readonly lines?: () => LineChanges;
}

/** Lines that a call adds to a file and removes from it. */
export interface LineChanges {
  readonly added?: number;
  readonly removed?: number;
}

type Said = Pick<ParsedEntry, 'toolName' | 'arguments'>;
type Answered = Pick<ParsedEntry, 'text'>;

/** Before any call touches the file. */
export const nothingKnown: Knowledge = { known: 'unknown', content: null };

/** The effect of each class of file tools. The format of the call knows which tool has which class. */
const effects: Readonly<Partial<Record<ToolClass, (call: Said, result: Answered) => Omit<Touch, 'path'>>>> = {
  read: (call, result) => {
    const isPart = isObject(call.arguments) && (call.arguments.offset !== undefined || call.arguments.limit !== undefined);
    return { how: 'read', isFresh: !isPart, apply: (before) => readPart(before, result, isPart) };
  },
  write: (call) => ({
    how: 'written',
    isFresh: true,
    apply: () => ({ known: 'whole', content: writtenBy(call) ?? null }),
    lines: () => ({ added: linesIn(writtenBy(call) ?? '') }),
  }),
  edit: ({ arguments: given }) => ({
    how: 'changed',
    isFresh: false,
    apply: (before) => changed(before, editsIn(given)),
    lines: () => countLines(editsIn(given)),
  }),
};

const writtenBy = (call: Said): string | undefined => stringAt(call.arguments, 'content') ?? stringAt(call.arguments, 'file_text');
const editsIn = (given: unknown): readonly unknown[] => (isObject(given) && Array.isArray(given.edits) ? given.edits : [given]);

/** The number of lines of a text. A line break at the end does not start another line. */
const linesIn = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0));

/** The lines that edits add and remove. An edit that replaces all occurrences counts once, since their number is not recorded. */
function countLines(edits: readonly unknown[]): LineChanges {
  let [added, removed] = [0, 0];
  for (const edit of edits) {
    const [from, to] = [oldTextOf(edit), newTextOf(edit)];
    if (from === undefined || to === undefined) return {};
    for (const { op } of changedLines(from || undefined, to || undefined)) {
      if (op === 'added') added++;
      if (op === 'removed') removed++;
    }
  }
  return { added, removed };
}

/** The file that a call of a format and its result touched; undefined for other tools and for failed calls. */
export function touchOf(format: string, call: Said, result: Answered & Pick<ParsedEntry, 'isError'>): Touch | undefined {
  const toolClass = toolClassOf(format, call.toolName ?? '');
  if (result.isError || !toolClass) return undefined;
  const effect = effects[toolClass];
  const path = stringAt(call.arguments, 'file_path') ?? stringAt(call.arguments, 'filePath') ?? stringAt(call.arguments, 'path');
  return effect && path !== undefined ? { path, ...effect(call, result) } : undefined;
}

/** Numbered lines of read tools: `   12→text` or `12\ttext`. */
const numbered = /^\s*\d+(?:→|\t)/;

function readPart(before: Knowledge, result: Answered, isPart: boolean): Knowledge {
  const lines = (result.text ?? '').split('\n').filter((line) => numbered.test(line));
  const content = lines.length ? lines.map((line) => line.replace(numbered, '')).join('\n') : (result.text ?? null);
  if (isPart && before.known === 'whole') return before;
  return { known: isPart ? 'part' : 'whole', content };
}

/** Applies text replacements. The content becomes unknown if an edit does not match it. */
function changed(before: Knowledge, edits: readonly unknown[]): Knowledge {
  let { content } = before;
  for (const edit of edits) {
    const [from, to] = [oldTextOf(edit), newTextOf(edit)];
    if (from === undefined || to === undefined) return { known: before.known, content };
    if (content === null || (from !== '' && !content.includes(from))) return nothingKnown;
    const isAll = isObject(edit) && (edit.replace_all === true || edit.replaceAll === true);
    content = from === '' ? to : isAll ? content.replaceAll(from, () => to) : content.replace(from, () => to);
  }
  return { known: before.known === 'unknown' ? 'part' : before.known, content };
}

const textIn = (value: unknown, ...names: string[]): string | undefined =>
  names.map((name) => stringAt(value, name)).find((text) => text !== undefined);

const oldTextOf = (edit: unknown): string | undefined => textIn(edit, 'old_string', 'oldString', 'oldText', 'old_str');
const newTextOf = (edit: unknown): string | undefined => textIn(edit, 'new_string', 'newString', 'newText', 'new_str');

/** The complete to-do list that a call writes; undefined for other calls. */
export function todosOf(call: Pick<ParsedEntry, 'arguments'>): { text: string; status: string }[] | undefined {
  const given = isObject(call.arguments) ? (call.arguments.todos ?? call.arguments.plan) : undefined;
  if (!Array.isArray(given)) return undefined;
  return given.flatMap((todo) => {
    const text = textIn(todo, 'content', 'text', 'description', 'step');
    return text === undefined ? [] : [{ text, status: stringAt(todo, 'status') ?? 'pending' }];
  });
}
