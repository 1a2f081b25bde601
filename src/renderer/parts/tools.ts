/** What of a call's input stands in its head line, per tool of the agents we know; others show their first short text. */
const leadFields: Record<string, readonly string[]> = {
  Bash: ['command'],
  Read: ['file_path'],
  Write: ['file_path'],
  Edit: ['file_path'],
  MultiEdit: ['file_path'],
  NotebookEdit: ['notebook_path'],
  Glob: ['pattern'],
  Grep: ['pattern'],
  LS: ['path'],
  WebFetch: ['url'],
  WebSearch: ['query'],
  Task: ['description'],
  Agent: ['description'],
  Skill: ['skill'],
  TaskOutput: ['task_id'],
};

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));

/** JSON longer than this is left as it is: nobody reads it, and parsing it would hold up the window. */
const setLimit = 200_000;

/** A text that is one line of JSON, set in lines: every token as it was, only the white space is ours. Undefined for any other text. */
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

/** The input in a few words, for the line that names the call. */
export function leadOf(tool: string, input: unknown): string | undefined {
  if (!isRecord(input)) return input === undefined ? undefined : textOf(input).slice(0, 200);
  const fields = Object.hasOwn(leadFields, tool) ? (leadFields[tool] ?? []) : [];
  const found = [...fields.map((name) => input[name]), ...Object.values(input)].find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found.split('\n', 1)[0]?.slice(0, 300) : undefined;
}

export interface EditedText {
  readonly path?: string | undefined;
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Lines at the begin and end that both have. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** One replacement of text as lines: what both share at the ends, and what went and came between. */
export function editOf(oldText: string, newText: string, path?: string): EditedText {
  const a = oldText === '' ? [] : oldText.split('\n');
  const b = newText === '' ? [] : newText.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return {
    path,
    before: a.slice(0, head),
    removed: a.slice(head, a.length - tail),
    added: b.slice(head, b.length - tail),
    after: tail ? a.slice(-tail) : [],
  };
}

/** The replacements that a call of an editing tool asks for. */
export function editsOf(tool: string, input: unknown): readonly EditedText[] | undefined {
  if (!isRecord(input)) return undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const one = (record: Record<string, unknown>): EditedText[] => {
    const [before, after] = [text(record.old_string), text(record.new_string)];
    return before === undefined || after === undefined ? [] : [editOf(before, after, text(input.file_path))];
  };
  if (tool === 'Edit') {
    const edits = one(input);
    return edits.length ? edits : undefined;
  }
  if (tool === 'MultiEdit' && Array.isArray(input.edits)) {
    const edits = input.edits.filter(isRecord).flatMap(one);
    return edits.length === input.edits.length ? edits : undefined;
  }
  return undefined;
}
