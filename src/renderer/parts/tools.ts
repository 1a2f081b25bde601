import type { ToolClass } from '../../core/contract/index.js';

const pathFields = ['file_path', 'filePath', 'absolute_path', 'notebook_path', 'path'];

/** The input fields to show in the header of a call, by tool class. Other tools show their first short text. */
const leadFields: Readonly<Partial<Record<ToolClass, readonly string[]>>> = {
  shell: ['command'],
  read: pathFields,
  write: pathFields,
  edit: pathFields,
  search: ['pattern', 'query', 'path'],
  fetch: ['url'],
  task: ['description'],
};

/** Whether a value is an object. */
export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as text: a string as it is, anything else as JSON. */
export const showValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));

/** JSON longer than this stays unformatted, because parsing it would block the window. */
const setLimit = 200_000;

/** Formats one line of JSON. Tokens stay as sent; only white space is added. Undefined for other texts. */
export function jsonInLines(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length < 100 || trimmed.length > setLimit || !/^[[{]/.test(trimmed) || trimmed.includes('\n')) return undefined;
  try {
    JSON.parse(trimmed);
  } catch {
    return undefined;
  }
  let depth = 0;
  let set = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of trimmed.matchAll(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === '{' || token === '[') {
      depth++;
      set += token + line();
    } else if (token === '}' || token === ']') {
      depth--;
      set += line() + token;
    } else if (token === ',') set += token + line();
    else set += token === ':' ? ': ' : token;
  }
  return set;
}

/** A short text for the input, for the header of the call. */
export function leadOf(tool: ToolClass | undefined, input: unknown): string | undefined {
  if (!isRecord(input)) return input === undefined ? undefined : showValue(input).slice(0, 200);
  const fields = (tool && leadFields[tool]) ?? [];
  const found = [...fields.map((name) => input[name]), ...Object.values(input)].find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found.split('\n', 1)[0]?.slice(0, 300) : undefined;
}

export interface EditedText {
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** The number of common lines at the start and end. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A text replacement as lines: common lines at both ends, removed and added lines between them. */
export function editOf(oldText: string, newText: string): EditedText {
  const a = oldText === '' ? [] : oldText.split('\n');
  const b = newText === '' ? [] : newText.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return {
    before: a.slice(0, head),
    removed: a.slice(head, a.length - tail),
    added: b.slice(head, b.length - tail),
    after: tail ? a.slice(-tail) : [],
  };
}

/** The replacements of an edit call. */
export function editsOf(tool: ToolClass | undefined, input: unknown): readonly EditedText[] | undefined {
  if (tool !== 'edit' || !isRecord(input)) return undefined;
  const one = (record: Record<string, unknown>): EditedText[] => {
    const [before, after] = [textIn(record, oldFields), textIn(record, newFields)];
    return before === undefined || after === undefined ? [] : [editOf(before, after)];
  };
  const given: unknown[] = Array.isArray(input.edits) ? input.edits : [input];
  const edits = given.filter(isRecord).flatMap(one);
  return edits.length === given.length ? edits : undefined;
}

const oldFields = ['old_string', 'oldString', 'oldText'];
const newFields = ['new_string', 'newString', 'newText'];
const textIn = (record: Record<string, unknown>, names: readonly string[]): string | undefined =>
  names.map((name) => record[name]).find((value) => typeof value === 'string');

/** The path of the file that a call names. */
export const pathIn = (input: Record<string, unknown>): string | undefined => textIn(input, pathFields);
