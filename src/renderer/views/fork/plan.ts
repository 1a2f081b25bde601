import type { Edit, EntryDraft, EntryKey, OutlineRow } from '../../../core/contract/index.js';

export interface Changes {
  /** The place of the last entry that is kept. */
  readonly cut: number;
  readonly dropped: ReadonlySet<EntryKey>;
  readonly replaced: ReadonlyMap<EntryKey, EntryDraft>;
  /** New entries by the key of the entry that they precede. */
  readonly inserted: ReadonlyMap<EntryKey, readonly EntryDraft[]>;
  readonly appended: readonly EntryDraft[];
}

/** The entries that a fork keeps and removes, and its edits for the engine. */
export interface ForkPlan {
  readonly kept: { readonly entries: number; readonly tokens: number };
  readonly removed: { readonly entries: number; readonly tokens: number };
  readonly tokensAfter: number;
  /** Places of kept calls whose result is after the cut. `closeAt` is the place of the last of those results. */
  readonly openCalls: readonly number[];
  readonly closeAt: number | undefined;
  readonly edits: readonly Edit[];
}

/** No changes, cut after an entry. */
export const noChanges = (cut: number): Changes => ({ cut, dropped: new Set(), replaced: new Map(), inserted: new Map(), appended: [] });

/** Estimates the tokens of a draft from its length. */
const draftTokens = (draft: EntryDraft): number =>
  Math.ceil(((draft.text ?? '').length + (draft.arguments === undefined ? 0 : JSON.stringify(draft.arguments).length)) / 3.8);

const sum = <T>(all: readonly T[], tokensOf: (one: T) => number): number => all.reduce((total, one) => total + tokensOf(one), 0);

/** Computes what a fork with these changes keeps, removes and edits. */
export function planOf(rows: readonly OutlineRow[], { cut, dropped, replaced, inserted, appended }: Changes): ForkPlan {
  const [kept, removed] = [rows.slice(0, cut + 1), rows.slice(cut + 1)];
  const stays = kept.filter(({ key }) => !dropped.has(key));
  const touched = kept.filter(({ key }) => dropped.has(key) || replaced.has(key) || inserted.has(key));
  const added = [...touched.flatMap(({ key }) => inserted.get(key) ?? []), ...appended];
  const edits = touched.flatMap(({ key }): Edit[] => {
    const inserts = (inserted.get(key) ?? []).map((entry): Edit => ({ op: 'insert', key, entry }));
    if (dropped.has(key)) return [...inserts, { op: 'drop', key }];
    const draft = replaced.get(key);
    return draft ? [...inserts, { op: 'replace', key, entry: draft }] : inserts;
  });
  const open = new Map<string, number>();
  kept.forEach(({ key, kind, toolCallId }, index) => {
    if (!toolCallId || dropped.has(key)) return;
    if (kind === 'tool_call') open.set(toolCallId, index);
    if (kind === 'tool_result') open.delete(toolCallId);
  });
  const lastResult = removed.findLastIndex(({ kind, toolCallId = '' }) => kind === 'tool_result' && open.has(toolCallId));
  const draftOrRow = (row: OutlineRow): number => {
    const draft = replaced.get(row.key);
    return draft ? draftTokens(draft) : row.tokens;
  };
  return {
    kept: { entries: stays.length, tokens: sum(kept, ({ tokens }) => tokens) },
    removed: { entries: removed.length, tokens: sum(removed, ({ tokens }) => tokens) },
    tokensAfter: sum(stays, draftOrRow) + sum(added, draftTokens),
    openCalls: [...open.values()],
    closeAt: lastResult < 0 ? undefined : cut + 1 + lastResult,
    edits: [...edits, ...appended.map((entry): Edit => ({ op: 'append', entry }))],
  };
}

/** The position of the other half of a tool pair: the result of a call, or the call of a result. */
export function partnerOf(rows: readonly OutlineRow[], index: number): number | undefined {
  const row = rows[index];
  if (!row?.toolCallId) return undefined;
  const wanted = row.kind === 'tool_call' ? 'tool_result' : row.kind === 'tool_result' ? 'tool_call' : undefined;
  const found = rows.findIndex((other) => other.kind === wanted && other.toolCallId === row.toolCallId);
  return found >= 0 ? found : undefined;
}

/** The entry that is being written: a changed entry, a new entry before another entry, or a new entry at the end. */
export type Writing = { readonly kind: 'replace' | 'insert'; readonly index: number } | { readonly kind: 'append' };

/** The changes after the written entry is applied. */
export function withDraft(rows: readonly OutlineRow[], changes: Changes, writing: Writing, draft: EntryDraft): Changes {
  if (writing.kind === 'append') return { ...changes, appended: [...changes.appended, draft] };
  const key = rows[writing.index]?.key;
  if (!key) return changes;
  if (writing.kind === 'replace') return { ...changes, replaced: new Map(changes.replaced).set(key, draft) };
  return { ...changes, inserted: new Map(changes.inserted).set(key, [...(changes.inserted.get(key) ?? []), draft]) };
}

/** The changes with further entries dropped. */
export function withDropped(rows: readonly OutlineRow[], changes: Changes, indexes: readonly number[]): Changes {
  const keys = indexes.flatMap((index) => rows[index]?.key ?? []);
  return { ...changes, dropped: new Set([...changes.dropped, ...keys]) };
}

/** The changes without those of one entry. */
export function withoutChanges(changes: Changes, key: EntryKey): Changes {
  const others = <T>(map: ReadonlyMap<EntryKey, T>): ReadonlyMap<EntryKey, T> => new Map([...map].filter(([each]) => each !== key));
  return {
    ...changes,
    replaced: others(changes.replaced),
    inserted: others(changes.inserted),
    dropped: new Set([...changes.dropped].filter((each) => each !== key)),
  };
}

/** The changes as text, to keep them as a draft. */
export const packChanges = ({ cut, dropped, replaced, inserted, appended }: Changes): string =>
  JSON.stringify({ cut, dropped: [...dropped], replaced: [...replaced], inserted: [...inserted], appended });

/** The changes of a kept draft; undefined if the text is not a draft, or if the context has fewer entries than its cut. */
export function unpackChanges(text: string | undefined, entries: number): Changes | undefined {
  if (text === undefined) return undefined;
  try {
    const { cut, dropped, replaced, inserted, appended } = JSON.parse(text);
    return cut < entries ? { cut, dropped: new Set(dropped), replaced: new Map(replaced), inserted: new Map(inserted), appended } : undefined;
  } catch {
    return undefined;
  }
}
