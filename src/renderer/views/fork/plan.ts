import type { Edit, EntryDraft, EntryKey, OutlineRow } from '../../../core/contract/index.js';

/** What a person wants to change, before it is done. */
export interface Changes {
  /** The number of the last entry that stays. */
  readonly cut: number;
  readonly dropped: ReadonlySet<EntryKey>;
  readonly replaced: ReadonlyMap<EntryKey, EntryDraft>;
  /** By the entry that they go before. */
  readonly inserted: ReadonlyMap<EntryKey, readonly EntryDraft[]>;
  readonly appended: readonly EntryDraft[];
}

export interface Plan {
  readonly stays: { readonly entries: number; readonly tokens: number };
  readonly goes: { readonly entries: number; readonly tokens: number };
  readonly tokensAfter: number;
  /** Calls that stay while their result goes with the cut, and where the last of those results stands. */
  readonly openCalls: readonly number[];
  readonly closeAt: number | undefined;
  readonly edits: readonly Edit[];
}

export const noChanges = (cut: number): Changes => ({ cut, dropped: new Set(), replaced: new Map(), inserted: new Map(), appended: [] });

/** A guess at a draft's tokens, by its length. */
const draftTokens = (draft: EntryDraft): number =>
  Math.ceil(((draft.text ?? '').length + (draft.arguments === undefined ? 0 : JSON.stringify(draft.arguments).length)) / 3.8);

const sum = (drafts: readonly EntryDraft[]): number => drafts.reduce((total, draft) => total + draftTokens(draft), 0);

export function planOf(rows: readonly OutlineRow[], changes: Changes): Plan {
  const { cut, dropped, replaced, inserted, appended } = changes;
  let stays = 0;
  let goes = 0;
  let stayEntries = 0;
  let after = sum(appended);
  const edits: Edit[] = [];
  const open = new Map<string, number>();
  rows.forEach((row, index) => {
    if (index > cut) {
      goes += row.tokens;
      return;
    }
    const before = inserted.get(row.key) ?? [];
    for (const entry of before) edits.push({ op: 'insert', key: row.key, entry });
    after += sum(before);
    const isDropped = dropped.has(row.key);
    const draft = replaced.get(row.key);
    if (isDropped) edits.push({ op: 'drop', key: row.key });
    else if (draft) edits.push({ op: 'replace', key: row.key, entry: draft });
    stays += row.tokens;
    if (!isDropped) {
      stayEntries++;
      after += draft ? draftTokens(draft) : row.tokens;
    }
    if (!row.toolCallId) return;
    if (row.kind === 'tool_call' && !isDropped) open.set(row.toolCallId, index);
    if (row.kind === 'tool_result' && !isDropped) open.delete(row.toolCallId);
  });
  for (const entry of appended) edits.push({ op: 'append', entry });
  const results = rows.flatMap((row, index) =>
    index > cut && row.kind === 'tool_result' && row.toolCallId && open.has(row.toolCallId) ? [index] : [],
  );
  return {
    stays: { entries: stayEntries, tokens: stays },
    goes: { entries: Math.max(0, rows.length - 1 - cut), tokens: goes },
    tokensAfter: after,
    openCalls: [...open.values()],
    closeAt: results.at(-1),
    edits,
  };
}

/** The other half of a tool pair: a call's result, or a result's call. */
export function partnerOf(rows: readonly OutlineRow[], index: number): number | undefined {
  const row = rows[index];
  if (!row?.toolCallId) return undefined;
  const wanted = row.kind === 'tool_call' ? 'tool_result' : row.kind === 'tool_result' ? 'tool_call' : undefined;
  const found = rows.findIndex((other) => other.kind === wanted && other.toolCallId === row.toolCallId);
  return found >= 0 ? found : undefined;
}
