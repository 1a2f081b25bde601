import { type ContextId, type EntryKey, isObject, notFound, stringAt } from '../base/index.js';
import { type Chain, entries } from '../chain/index.js';
import type { Entry, KnownFile, MomentState } from '../contract/index.js';
import { tokensByKind } from './turns.js';

/** What the agent had in front of it at a moment: the window, open calls, files as it knew them, its list of tasks. */
export function stateAt(chain: Chain, query: { id: ContextId; entry?: EntryKey | undefined }): MomentState {
  // What a compaction took out of the window is still known of the files.
  const history = entries(chain, { id: query.id, stop: 'root' }).entries;
  const window = entries(chain, { id: query.id }).entries;
  const [known, seen] = [upTo(history, query.entry), upTo(window, query.entry)];
  if (!known && !seen) throw notFound(query.entry ?? '', `no entry ${query.entry} is in ${query.id} or before it`);
  return momentOf(known ?? history, seen ?? []);
}

/** The list up to and including the entry; undefined where it is not in the list. */
function upTo(list: readonly Entry[], key: EntryKey | undefined): readonly Entry[] | undefined {
  if (key === undefined) return list;
  const at = list.findIndex((entry) => entry.key === key);
  return at < 0 ? undefined : list.slice(0, at + 1);
}

/** The state after a list of entries: a pure function of what they say. */
export function momentOf(history: readonly Entry[], window: readonly Entry[]): MomentState {
  const results = new Map(
    history.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId !== undefined ? [[entry.toolCallId, entry] as const] : [])),
  );
  const calls = history.filter((entry) => entry.kind === 'tool_call' && entry.toolCallId !== undefined);
  const files = new Map<string, KnownFile>();
  for (const call of calls) {
    const result = results.get(call.toolCallId ?? '');
    if (result && !result.isError) touch(files, call, result);
  }
  return {
    entry: history.at(-1)?.key ?? null,
    window: { entries: window.length, tokens: window.reduce((sum, entry) => sum + entry.tokens, 0), byKind: tokensByKind(window) },
    openCalls: calls
      .filter((call) => !results.has(call.toolCallId ?? ''))
      .map((call) => ({ key: call.key, toolCallId: call.toolCallId ?? '', toolName: call.toolName ?? null })),
    files: [...files.values()],
    todos: todosIn(calls),
  };
}

type Touch = (known: KnownFile, call: Entry, result: Entry) => Pick<KnownFile, 'known' | 'content'>;

/** What each tool that touches a file says of its content; runtimes name the same tools differently. */
const touches: Readonly<Record<string, { readonly how: KnownFile['touches'][number]['how']; readonly apply: Touch }>> = {
  read: { how: 'read', apply: (known, call, result) => readPart(known, call, result) },
  write: { how: 'written', apply: (_, call) => ({ known: 'whole', content: stringAt(call.arguments, 'content') ?? null }) },
  edit: { how: 'changed', apply: (known, call) => changed(known, [call.arguments]) },
  multiedit: {
    how: 'changed',
    apply: (known, call) => changed(known, isObject(call.arguments) && Array.isArray(call.arguments.edits) ? call.arguments.edits : []),
  },
};

const sameTool: Readonly<Record<string, keyof typeof touches>> = {
  read_file: 'read',
  write_file: 'write',
  create_file: 'write',
  replace: 'edit',
  str_replace: 'edit',
  multi_edit: 'multiedit',
};

function touch(files: Map<string, KnownFile>, call: Entry, result: Entry): void {
  const name = (call.toolName ?? '').toLowerCase();
  const tool = touches[sameTool[name] ?? name];
  const path = stringAt(call.arguments, 'file_path') ?? stringAt(call.arguments, 'filePath') ?? stringAt(call.arguments, 'path');
  if (!tool || path === undefined) return;
  const before = files.get(path) ?? { path, known: 'unknown', content: null, touches: [] };
  files.set(path, { ...before, ...tool.apply(before, call, result), touches: [...before.touches, { key: call.key, how: tool.how }] });
}

/** Lines as readers number them: `   12→text` or `12\ttext`. */
const numbered = /^\s*\d+(?:→|\t)/;

function readPart(known: KnownFile, call: Entry, result: Entry): Pick<KnownFile, 'known' | 'content'> {
  const lines = (result.text ?? '').split('\n').filter((line) => numbered.test(line));
  const content = lines.length ? lines.map((line) => line.replace(numbered, '')).join('\n') : (result.text ?? null);
  const isPart = isObject(call.arguments) && (call.arguments.offset !== undefined || call.arguments.limit !== undefined);
  if (isPart && known.known === 'whole') return { known: 'whole', content: known.content };
  return { known: isPart ? 'part' : 'whole', content };
}

/** The content after edits that replace one text by another; unknown again where an edit does not fit what is known. */
function changed(known: KnownFile, edits: readonly unknown[]): Pick<KnownFile, 'known' | 'content'> {
  let { content } = known;
  for (const edit of edits) {
    const [from, to] = [stringAt(edit, 'old_string') ?? stringAt(edit, 'oldString'), stringAt(edit, 'new_string') ?? stringAt(edit, 'newString')];
    if (from === undefined || to === undefined) return { known: known.known, content };
    if (content === null || (from !== '' && !content.includes(from))) return { known: 'unknown', content: null };
    const isAll = isObject(edit) && (edit.replace_all === true || edit.replaceAll === true);
    content = from === '' ? to : isAll ? content.replaceAll(from, () => to) : content.replace(from, () => to);
  }
  return { known: known.known === 'unknown' ? 'part' : known.known, content };
}

function todosIn(calls: readonly Entry[]): MomentState['todos'] {
  const last = calls.findLast((call) => isObject(call.arguments) && Array.isArray(call.arguments.todos));
  const todos = isObject(last?.arguments) && Array.isArray(last.arguments.todos) ? last.arguments.todos : [];
  return todos.flatMap((todo) => {
    const text = stringAt(todo, 'content') ?? stringAt(todo, 'text') ?? stringAt(todo, 'description');
    return text === undefined ? [] : [{ text, status: stringAt(todo, 'status') ?? 'pending' }];
  });
}
