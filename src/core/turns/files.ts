import { isObject, stringAt } from '../base/index.js';
import type { KnownFile } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';

/** How far a file's content is known, and the content itself where it is. */
export type Knowledge = Pick<KnownFile, 'known' | 'content'>;

/** What a call that was answered did to one file. */
export interface Touch {
  readonly path: string;
  readonly how: KnownFile['touches'][number]['how'];
  /** What is known after it does not depend on what was known before. */
  readonly isFresh: boolean;
  readonly apply: (before: Knowledge) => Knowledge;
}

type Said = Pick<ParsedEntry, 'toolName' | 'arguments'>;
type Answered = Pick<ParsedEntry, 'text'>;

export const nothingKnown: Knowledge = { known: 'unknown', content: null };

/** What each tool that touches a file says of its content; runtimes name the same tools differently. */
const tools: Readonly<Record<string, (call: Said, result: Answered) => Omit<Touch, 'path'>>> = {
  read: (call, result) => {
    const isPart = isObject(call.arguments) && (call.arguments.offset !== undefined || call.arguments.limit !== undefined);
    return { how: 'read', isFresh: !isPart, apply: (before) => readPart(before, result, isPart) };
  },
  write: (call) => ({
    how: 'written',
    isFresh: true,
    apply: () => ({ known: 'whole', content: stringAt(call.arguments, 'content') ?? stringAt(call.arguments, 'file_text') ?? null }),
  }),
  edit: (call) => ({ how: 'changed', isFresh: false, apply: (before) => changed(before, [call.arguments]) }),
  multiedit: (call) => ({
    how: 'changed',
    isFresh: false,
    apply: (before) => changed(before, isObject(call.arguments) && Array.isArray(call.arguments.edits) ? call.arguments.edits : []),
  }),
};

const sameTool: Readonly<Record<string, string>> = {
  read_file: 'read',
  write_file: 'write',
  create_file: 'write',
  replace: 'edit',
  str_replace: 'edit',
  multi_edit: 'multiedit',
};

/** The file that a call and its result touched; undefined for other tools, and for a call that failed. */
export function touchOf(call: Said, result: Answered & Pick<ParsedEntry, 'isError'>): Touch | undefined {
  if (result.isError) return undefined;
  const name = (call.toolName ?? '').toLowerCase();
  const tool = tools[sameTool[name] ?? name];
  const path = stringAt(call.arguments, 'file_path') ?? stringAt(call.arguments, 'filePath') ?? stringAt(call.arguments, 'path');
  return tool && path !== undefined ? { path, ...tool(call, result) } : undefined;
}

/** Lines as readers number them: `   12→text` or `12\ttext`. */
const numbered = /^\s*\d+(?:→|\t)/;

function readPart(before: Knowledge, result: Answered, isPart: boolean): Knowledge {
  const lines = (result.text ?? '').split('\n').filter((line) => numbered.test(line));
  const content = lines.length ? lines.map((line) => line.replace(numbered, '')).join('\n') : (result.text ?? null);
  if (isPart && before.known === 'whole') return before;
  return { known: isPart ? 'part' : 'whole', content };
}

/** The content after edits that replace one text by another; unknown again where an edit does not fit what is known. */
function changed(before: Knowledge, edits: readonly unknown[]): Knowledge {
  let { content } = before;
  for (const edit of edits) {
    const [from, to] = [textIn(edit, 'old_string', 'oldString', 'oldText', 'old_str'), textIn(edit, 'new_string', 'newString', 'newText', 'new_str')];
    if (from === undefined || to === undefined) return { known: before.known, content };
    if (content === null || (from !== '' && !content.includes(from))) return nothingKnown;
    const isAll = isObject(edit) && (edit.replace_all === true || edit.replaceAll === true);
    content = from === '' ? to : isAll ? content.replaceAll(from, () => to) : content.replace(from, () => to);
  }
  return { known: before.known === 'unknown' ? 'part' : before.known, content };
}

const textIn = (value: unknown, ...names: string[]): string | undefined =>
  names.map((name) => stringAt(value, name)).find((text) => text !== undefined);

/** The list of tasks that a call writes down, whole; undefined where it writes none. */
export function todosOf(call: Pick<ParsedEntry, 'arguments'>): { text: string; status: string }[] | undefined {
  const given = isObject(call.arguments) ? (call.arguments.todos ?? call.arguments.plan) : undefined;
  if (!Array.isArray(given)) return undefined;
  return given.flatMap((todo) => {
    const text = textIn(todo, 'content', 'text', 'description', 'step');
    return text === undefined ? [] : [{ text, status: stringAt(todo, 'status') ?? 'pending' }];
  });
}
