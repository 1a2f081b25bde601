import { badRequest, type ContextId, canonicalJson, type Json } from '../base/index.js';
import { type ContextRow, commitOf, commonAncestor, entries, outlineRows, type ReadChain } from '../chain/index.js';
import type { ComparedSide, ContextDiff, Entry, FieldChange, Hunk, InputOf, OutlineRow, OutputOf, SideBySide, Stop } from '../contract/index.js';
import { type Alignable, alignMany, alignment, changedFields } from '../diff/index.js';
import { ownRun } from '../requests/index.js';
import { countedInput } from '../usage/index.js';
import { withAnswer } from './original.js';
import { turnOf } from './turns.js';

/** Compares two contexts entry by entry, as a model sees them. */
export function compareContexts(chain: ReadChain, input: InputOf<'context.diff'>): ContextDiff {
  const [a, b] = [outlineRows(chain, { id: input.a, stop: input.stop }), outlineRows(chain, { id: input.b, stop: input.stop })];
  const keys = [new Set(a.rows.map((row) => row.key)), new Set(b.rows.map((row) => row.key))] as const;
  const { hunks, moved } = alignment(
    alignables(chain, input.a, input.stop, a.rows, (row) => keys[1].has(row.key)),
    alignables(chain, input.b, input.stop, b.rows, (row) => keys[0].has(row.key)),
  );
  const counted = (op: Hunk['op'], side: 'aCount' | 'bCount'): number => hunks.reduce((sum, hunk) => sum + (hunk.op === op ? hunk[side] : 0), 0);
  return {
    base: commonAncestor(chain, commitOf(chain, input.a, 'a'), commitOf(chain, input.b, 'b'))?.id ?? null,
    same: counted('same', 'aCount'),
    added: counted('added', 'bCount'),
    removed: counted('removed', 'aCount'),
    changed: counted('changed', 'aCount'),
    tokens: { a: a.tokens, b: b.tokens },
    counted: { a: countedIn(chain, input.a, input.stop), b: countedIn(chain, input.b, input.stop) },
    hunks,
    moved,
  };
}

/** A provider counts the sent input, which is the context from the last compaction on. */
const countedIn = (chain: ReadChain, id: ContextId, stop: Stop | undefined): number | null =>
  stop === undefined || stop === 'compaction' ? countedInput(chain, id) : null;

/** Entries whose key is on both sides are equal, so only the others are read. */
function alignables(
  chain: ReadChain,
  id: ContextId,
  stop: Stop | undefined,
  rows: readonly OutlineRow[],
  isShared: (row: OutlineRow) => boolean,
): Alignable[] {
  const toolNames = new Map(rows.flatMap((row) => (row.kind === 'tool_call' && row.toolCallId ? [[row.toolCallId, row.head ?? ''] as const] : [])));
  const unread = rows.flatMap((row, at) => (isShared(row) ? [] : [at]));
  const [first = 0, last = -1] = [unread[0], unread.at(-1)];
  const read = last < first ? [] : entries(chain, { id, stop, offset: first, limit: last - first + 1 }).entries;
  return rows.map((row, at): Alignable => {
    const tool = row.kind === 'tool_call' || row.kind === 'tool_result' ? (toolNames.get(row.toolCallId ?? '') ?? '') : '';
    const entry = read[at - first];
    return { key: row.key, content: entry ? contentOf(entry) : row.key, likeness: `${row.role} ${row.kind} ${tool}` };
  });
}

/** A string that is equal for entries with the same content. */
export const contentOf = ({ role, kind, toolName, text, arguments: given, media }: Entry): string =>
  `${role} ${kind} ${toolName ?? ''} ${text ?? ''} ${given === undefined ? '' : canonicalJson(given as Json)} ${media?.artifactRef ?? ''}`;

/** Compares the arguments of pairs of tool calls. @throws BAD_REQUEST for a position outside the context. */
export function compareCalls(chain: ReadChain, input: InputOf<'context.diffCalls'>): OutputOf<'context.diffCalls'> {
  const side = (name: 'a' | 'b'): ((at: number) => Entry) => {
    const places = input.pairs.map((pair) => pair[name]);
    const offset = places.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
    const limit = places.reduce((most, at) => Math.max(most, at), 0) - offset + 1;
    const { total, entries: read } = entries(chain, { id: input[name], stop: input.stop, offset, limit });
    return (at) => {
      const entry = read[at - offset];
      if (!entry) throw badRequest('pairs', `${input[name]} has ${total} entries, so position ${at} does not exist.`);
      return entry;
    };
  };
  const [a, b] = [side('a'), side('b')];
  return input.pairs.map((pair) => ({ ...pair, fields: fieldsOf(a(pair.a), b(pair.b)) }));
}

/** Compares the arguments of two calls field by field. Empty for entries that are not calls. */
export const fieldsOf = (a: Entry, b: Entry): FieldChange[] =>
  a.kind === 'tool_call' && b.kind === 'tool_call' ? changedFields((a.arguments ?? {}) as Json, (b.arguments ?? {}) as Json) : [];

/** Compares two turns: what their models saw and replied, and their tokens, cost and time. */
export function compareTurns(chain: ReadChain, left: ContextId, right: ContextId): TurnComparison {
  const [a, b] = [withAnswer(chain, left), withAnswer(chain, right)];
  const { base, same, added, removed, changed, hunks } = compareContexts(chain, { a, b });
  return { base, same, added, removed, changed, hunks, a: sideOf(chain, a), b: sideOf(chain, b) };
}

export type TurnComparison = Omit<ContextDiff, 'tokens' | 'counted' | 'moved'> & { readonly a: ComparedSide; readonly b: ComparedSide };

/** The size of a context, and the recorded tokens, cost and time of its last turn. @throws NOT_FOUND */
export function sideOf(chain: ReadChain, id: ContextId): ComparedSide {
  const row = commitOf(chain, id);
  const whole = outlineRows(chain, { id: row.id });
  const shared = {
    turnId: row.id,
    // A damaged row may say anything.
    summary: row.intact ? row.summary : null,
    context: { entries: whole.total, tokens: whole.tokens, counted: countedInput(chain, row.id) },
  };
  // A snapshot copies earlier turns; it is not a turn.
  if (row.type === 'snapshot' && row.parentId !== null)
    return { ...shared, calls: 0, model: null, tokens: row.tokenCount, usage: null, cost: null, ms: null };
  // A fork contains entries of the original and of its author, so the time between them is not working time.
  const isWork = row.forked === 0 || ownRun(chain, row.id) !== undefined;
  const { model, tokens, usage, cost, costAtLeast, ms, input } = turnOf(chain, row.id);
  return {
    ...shared,
    model,
    tokens,
    calls: input.requests.length,
    usage,
    cost,
    ...(costAtLeast && { costAtLeast }),
    ms: isWork ? ms : null,
  };
}

/** The last common ancestor of all commits, or null. @throws NOT_FOUND */
export function commonBase(chain: ReadChain, ids: readonly ContextId[]): ContextId | null {
  const [first, ...others] = ids.map((id) => commitOf(chain, id));
  let base: ContextRow | undefined = first;
  for (const other of others) base = base && commonAncestor(chain, base, other);
  return base?.id ?? null;
}

/** Aligns several contexts with the first one. A row says whether its entries are equal on all sides. @throws NOT_FOUND */
export function compareMany(chain: ReadChain, input: { ids: readonly ContextId[]; stop?: Stop | undefined }): SideBySide {
  const all = input.ids.map((id) => outlineRows(chain, { id, stop: input.stop }).rows);
  const times = new Map<string, number>();
  for (const row of all.flat()) times.set(row.key, (times.get(row.key) ?? 0) + 1);
  const lists = all.map((rows, at) =>
    alignables(chain, input.ids[at] as ContextId, input.stop, rows, (row) => times.get(row.key) === input.ids.length),
  );
  return {
    base: commonBase(chain, input.ids),
    sides: input.ids.map((id) => sideOf(chain, id)),
    rows: alignMany(lists).map(({ cells, isSame }) => ({ cells: [...cells], same: isSame })),
  };
}
