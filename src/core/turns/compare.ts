import { badRequest, type ContextId, canonicalJson, type Json } from '../base/index.js';
import {
  type ContextRow,
  commonAncestor,
  contextSize,
  entries,
  findCommit,
  isResetSince,
  outlinePart,
  outlineRows,
  type PagedQuery,
  type ReadChain,
} from '../chain/index.js';
import type {
  ComparedFile,
  ComparedSide,
  ContextDiff,
  Entry,
  FieldChange,
  Hunk,
  InputOf,
  KnownFile,
  OutlineRow,
  OutputOf,
  SideBySide,
  Stop,
} from '../contract/index.js';
import { type Alignable, alignMany, alignment, changedFields } from '../diff/index.js';
import { ownRun } from '../requests/index.js';
import { countedInput } from '../usage/index.js';
import type { Knowledge } from './files.js';
import { withAnswer } from './original.js';
import { recordingOf } from './recording.js';
import { turnOf } from './turns.js';

/** Compares two contexts entry by entry, as a model sees them. */
export function compareContexts(chain: ReadChain, { a, b, stop }: InputOf<'context.diff'>): ContextDiff {
  const tips = [findCommit(chain, a, 'a'), findCommit(chain, b, 'b')] as const;
  const base = commonAncestor(chain, ...tips);
  const shared = stop === undefined || stop === 'compaction' ? entriesShared(chain, base, tips) : 0;
  const sides = [sideAfter(chain, a, stop, shared), sideAfter(chain, b, stop, shared)] as const;
  const { hunks: rest, moved } = alignmentAfter(chain, stop, shared, sides);
  const hunks = joined(shared, rest);
  const counted = (op: Hunk['op'], side: 'aCount' | 'bCount'): number => hunks.reduce((sum, hunk) => sum + (hunk.op === op ? hunk[side] : 0), 0);
  return {
    base: base?.id ?? null,
    same: counted('same', 'aCount'),
    added: counted('added', 'bCount'),
    removed: counted('removed', 'aCount'),
    changed: counted('changed', 'aCount'),
    tokens: { a: sides[0].tokens, b: sides[1].tokens },
    counted: { a: countedIn(chain, a, stop), b: countedIn(chain, b, stop) },
    hunks,
    moved: moved.map(({ aStart, bStart, count }) => ({ aStart: aStart + shared, bStart: bStart + shared, count })),
  };
}

/** The number of entries with which both contexts begin: those of their common ancestor, if both windows hold all of it. */
function entriesShared(chain: ReadChain, base: ContextRow | undefined, tips: readonly ContextRow[]): number {
  return base && !tips.some((tip) => isResetSince(chain, base, tip)) ? contextSize(chain, base.id).total : 0;
}

/** A context, and the number of its entries after those that both have. */
interface SideAfter {
  readonly id: ContextId;
  readonly tokens: number;
  readonly count: number;
}

function sideAfter(chain: ReadChain, id: ContextId, stop: Stop | undefined, shared: number): SideAfter {
  const isWindow = stop === undefined || stop === 'compaction';
  const { total, tokens } = isWindow ? contextSize(chain, id) : outlineRows(chain, { id, stop });
  return { id, tokens, count: total - shared };
}

/** Aligns what comes after the shared entries. If one context ends there, nothing is read. */
function alignmentAfter(chain: ReadChain, stop: Stop | undefined, shared: number, [a, b]: readonly [SideAfter, SideAfter]) {
  const [aCount, bCount] = [a.count, b.count];
  const only = { aStart: 0, aCount, bStart: 0, bCount };
  if (aCount === 0 || bCount === 0)
    return { hunks: aCount + bCount > 0 ? [{ op: aCount > 0 ? ('removed' as const) : ('added' as const), ...only }] : [], moved: [] };
  const rowsOf = ({ id, count }: SideAfter) => outlinePart(chain, { id, stop, offset: shared, limit: count }).rows;
  const [aRows, bRows] = [rowsOf(a), rowsOf(b)];
  const keys = [new Set(aRows.map((row) => row.key)), new Set(bRows.map((row) => row.key))] as const;
  return alignment(
    alignables(chain, { id: a.id, stop, offset: shared }, aRows, (row) => keys[1].has(row.key)),
    alignables(chain, { id: b.id, stop, offset: shared }, bRows, (row) => keys[0].has(row.key)),
  );
}

/** The hunks of the whole: the shared entries, and the hunks of what follows them. */
function joined(shared: number, rest: readonly Hunk[]): Hunk[] {
  const [first, ...others] = rest.map((hunk) => ({ ...hunk, aStart: hunk.aStart + shared, bStart: hunk.bStart + shared }));
  if (shared === 0) return first ? [first, ...others] : [];
  const same: Hunk = { op: 'same', aStart: 0, aCount: shared, bStart: 0, bCount: shared };
  if (first?.op === 'same') return [{ ...same, aCount: shared + first.aCount, bCount: shared + first.bCount }, ...others];
  return first ? [same, first, ...others] : [same];
}

/** A provider counts the sent input, which is the context from the last compaction on. */
const countedIn = (chain: ReadChain, id: ContextId, stop: Stop | undefined): number | null =>
  stop === undefined || stop === 'compaction' ? countedInput(chain, id) : null;

/** Entries whose key is on both sides are equal, so only the others are read. */
function alignables(
  chain: ReadChain,
  { offset = 0, ...of }: Pick<PagedQuery, 'id' | 'stop' | 'offset'>,
  rows: readonly OutlineRow[],
  isShared: (row: OutlineRow) => boolean,
): Alignable[] {
  const toolNames = new Map(rows.flatMap((row) => (row.kind === 'tool_call' && row.toolCallId ? [[row.toolCallId, row.head ?? ''] as const] : [])));
  const unread = rows.flatMap((row, at) => (isShared(row) ? [] : [at]));
  const [first = 0, last = -1] = [unread[0], unread.at(-1)];
  const read = last < first ? [] : entries(chain, { ...of, offset: offset + first, limit: last - first + 1 }).entries;
  return rows.map((row, at): Alignable => {
    const tool = row.kind === 'tool_call' || row.kind === 'tool_result' ? (toolNames.get(row.toolCallId ?? '') ?? '') : '';
    const entry = read[at - first];
    return { key: row.key, content: entry ? comparedContent(entry) : row.key, likeness: `${row.role} ${row.kind} ${tool}` };
  });
}

/** A string that is equal for entries with the same content. */
const comparedContent = ({ role, kind, toolName, text, arguments: given, media }: Entry): string =>
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
  return input.pairs.map((pair) => ({ ...pair, fields: compareFields(a(pair.a), b(pair.b)) }));
}

/** Compares the arguments of two calls field by field. Empty for entries that are not calls. */
export const compareFields = (a: Entry, b: Entry): FieldChange[] =>
  a.kind === 'tool_call' && b.kind === 'tool_call' ? changedFields((a.arguments ?? {}) as Json, (b.arguments ?? {}) as Json) : [];

/** Compares two turns: what their models saw and replied, and their tokens, cost and time. */
export function compareTurns(chain: ReadChain, left: ContextId, right: ContextId): TurnComparison {
  const [a, b] = [withAnswer(chain, left), withAnswer(chain, right)];
  const { base, same, added, removed, changed, hunks } = compareContexts(chain, { a, b });
  return { base, same, added, removed, changed, hunks, a: sideOf(chain, a), b: sideOf(chain, b) };
}

type TurnComparison = Omit<ContextDiff, 'tokens' | 'counted' | 'moved'> & { readonly a: ComparedSide; readonly b: ComparedSide };

/** The size of a context, and the recorded tokens, cost and time of its last turn. @throws NOT_FOUND */
export function sideOf(chain: ReadChain, id: ContextId): ComparedSide {
  const row = findCommit(chain, id);
  const size = contextSize(chain, row.id);
  const shared = {
    turnId: row.id,
    // A damaged row may say anything.
    summary: row.intact ? row.summary : null,
    context: { entries: size.total, tokens: size.tokens, counted: countedInput(chain, row.id) },
  };
  // A snapshot copies earlier turns; it is not a turn.
  if (row.type === 'snapshot' && row.parentId !== null)
    return { ...shared, calls: 0, model: null, tokens: row.tokenCount, usage: null, cost: null, ms: null };
  // A fork contains entries of the original and of its author, so the time between them is not working time.
  const isWork = row.forked === 0 || ownRun(chain, row.id) !== undefined;
  const { model, tokens, usage, cost, costAtLeast, ms, input } = turnOf(chain, row.id);
  const calls = input.requests.length;
  return { ...shared, model, tokens, calls, usage, cost, ...(costAtLeast && { costAtLeast }), ms: isWork ? ms : null };
}

/** The last common ancestor of all commits, or null. @throws NOT_FOUND */
export function commonBase(chain: ReadChain, ids: readonly ContextId[]): ContextId | null {
  const [first, ...others] = ids.map((id) => findCommit(chain, id));
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
    alignables(chain, { id: input.ids[at] as ContextId, stop: input.stop }, rows, (row) => times.get(row.key) === input.ids.length),
  );
  return {
    base: commonBase(chain, input.ids),
    sides: input.ids.map((id) => sideOf(chain, id)),
    rows: alignMany(lists).map(({ cells, isSame }) => ({ cells: [...cells], same: isSame })),
  };
}

/**
 * The files that a call of either branch wrote or changed and that end differently: with other content, on one side only, or with unknown content. Files
 * that neither branch touched since they parted are equal. @throws NOT_FOUND
 */
export function compareFiles(chain: ReadChain, { a, b }: { a: ContextId; b: ContextId }): ComparedFile[] {
  const [left, right] = [filesAt(chain, a), filesAt(chain, b)];
  const paths = [...new Set([...left.last.keys(), ...right.last.keys()])];
  return paths.flatMap((path): ComparedFile[] => {
    // The same last touch is the same file on both sides.
    if (left.last.get(path) === right.last.get(path)) return [];
    const [before, after] = [left.file(path), right.file(path)];
    const isTouched = [before, after].some((file) => file?.touches.some(({ how }) => how !== 'read'));
    const isSame = before?.content != null && before.content === after?.content;
    if (!isTouched || isSame) return [];
    return [{ path, a: knowledgeOf(before), b: knowledgeOf(after) }];
  });
}

const knowledgeOf = (file: KnownFile | undefined): Knowledge | null => (file ? { known: file.known, content: file.content } : null);

/** The entry of the last touch of each file, by path, and how much of a file is known. */
function filesAt(chain: ReadChain, id: ContextId) {
  const recording = recordingOf(chain, findCommit(chain, id));
  const { length } = recording;
  const last = new Map(recording.stateAfter(length).files.map((file) => [file.path, file.last.key as string]));
  return { last, file: (path: string) => (last.has(path) ? recording.fileAfter(length, path) : undefined) };
}
