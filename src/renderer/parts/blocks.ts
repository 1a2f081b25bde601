import { useCallback, useEffect } from 'react';
import { type ContextId, type Entry, firstWhere, type OutlineRow } from '../../core/contract/index.js';
import type { Ranges } from '../state';

/** The fields of an entry that its block needs. */
export type BlockEntry = Pick<OutlineRow, 'role' | 'kind' | 'tokens' | 'commit' | 'toolCallId'>;

/** A block of the list: an entry, or a tool call with its result. Numbers are positions in the context. */
export interface EntryBlock {
  readonly first: number;
  /** Position of the result of the call at `first`; null if the context has none; undefined if `first` is not a call. */
  readonly result: number | null | undefined;
  readonly commit: ContextId;
  /** True for the first block of a commit. */
  readonly opens: boolean;
}

const known = new WeakMap<readonly BlockEntry[], readonly EntryBlock[]>();

/** Groups the entries of a context into blocks. Each result joins its call. The blocks of the same rows are cached. */
export function groupIntoBlocks(rows: readonly BlockEntry[]): readonly EntryBlock[] {
  const blocks = known.get(rows) ?? groupBlocks(rows);
  known.set(rows, blocks);
  return blocks;
}

function groupBlocks(rows: readonly BlockEntry[]): readonly EntryBlock[] {
  const calls = new Map<string, number>();
  const resultOfCall = new Map<number, number>();
  rows.forEach((row, index) => {
    if (!row.toolCallId) return;
    if (row.kind === 'tool_call') calls.set(row.toolCallId, index);
    if (row.kind !== 'tool_result') return;
    const call = calls.get(row.toolCallId);
    // A second result of a call becomes a separate block.
    if (call !== undefined && !resultOfCall.has(call)) resultOfCall.set(call, index);
  });
  const drawn = new Set(resultOfCall.values());
  const blocks: EntryBlock[] = [];
  let commit: ContextId | undefined;
  rows.forEach((row, first) => {
    if (drawn.has(first)) return;
    const result = row.kind === 'tool_call' ? (resultOfCall.get(first) ?? null) : undefined;
    blocks.push({ first, result, commit: row.commit, opens: row.commit !== commit });
    commit = row.commit;
  });
  return blocks;
}

/** The block that shows the entry at a position. */
export function blockOfEntry(blocks: readonly EntryBlock[], entry: number): number {
  const last = Math.max(0, firstWhere(0, blocks.length, (at) => (blocks[at]?.first ?? 0) > entry) - 1);
  // A result is in the block of its call, which comes before it.
  for (let at = last; at >= 0 && at > last - 400; at--) if (blocks[at]?.result === entry) return at;
  return last;
}

/** Estimates a block's height in pixels before it is measured. */
export function guessHeight(rows: readonly BlockEntry[], block: EntryBlock): number {
  const row = rows[block.first];
  if (!row) return 60;
  const turn = block.opens ? 37 : 0;
  const lines = (tokens: number) => Math.ceil((tokens * 3.8) / 110);
  if (block.result !== undefined) {
    const result = block.result === null ? 0 : (rows[block.result]?.tokens ?? 0);
    return turn + 48 + 18 * Math.min(20, lines(result) + 1);
  }
  if (row.kind === 'thinking') return turn + 58;
  if (row.kind === 'image') return turn + 240;
  return turn + 40 + 20 * Math.min(row.kind === 'text' ? 400 : 20, lines(row.tokens) + 1);
}

/** Estimates the height of the blocks before the block with an entry. */
export const heightBefore = (rows: readonly BlockEntry[], blocks: readonly EntryBlock[], entry: number): number =>
  blocks.slice(0, blockOfEntry(blocks, entry)).reduce((sum, block) => sum + guessHeight(rows, block), 0);

/** The key of each block in a virtual list. A stable function, because a new one makes the list measure all blocks again. */
export const useBlockKeys = (rows: readonly Pick<OutlineRow, 'key'>[], blocks: readonly EntryBlock[]): ((n: number) => string | number) =>
  useCallback((n) => rows[blocks[n]?.first ?? 0]?.key ?? n, [rows, blocks]);

/** Loads the entries of the visible blocks. `before`: the number of entries before the first that a block can have. */
export function useEntriesOfBlocks(
  entries: Ranges<Entry>,
  blocks: readonly EntryBlock[],
  items: readonly { readonly index: number }[],
  before = 0,
): void {
  const [first, last] = [items[0]?.index, items.at(-1)?.index];
  useEffect(() => {
    if (first === undefined || last === undefined) return;
    const places = blocks.slice(first, last + 1).flatMap((block) => [block.first, block.result ?? block.first]);
    if (places.length) entries.need(before + Math.min(...places), before + Math.max(...places) + 1);
  }, [first, last, before, blocks, entries]);
}
