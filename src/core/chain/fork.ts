import { badRequest, type ContextId, type EntryKey, inWords, notFound, toTimestamp } from '../base/index.js';
import type { Commit, Edit, InputOf } from '../contract/index.js';
import {
  type Format,
  findReader,
  outlined,
  type ParsedDelta,
  type ParsedEntry,
  queuedPrefix,
  recordOfKey as recordOf,
  requireFormat,
  type StoredRecord,
  type WritableEntry,
} from '../formats/index.js';
import { type ContextRow, personOf, type ReadChain, selectContext, toCommit, type WriteChain } from './chain.js';
import { addCommit, type CheckpointInput, commitCounts, type NewCommit } from './checkpoint.js';
import { goesOnWithTurn, noteGrowth } from './continued-turns.js';
import { applied, checkShape } from './edits.js';
import { commitAt, findChildren, findCommit, isAncestor, placesTowardsRoot } from './find.js';
import { titleOfCut, titleOfEdits } from './fork-title.js';
import { outlinesOf, readOutline, readParsed, saveOutline } from './outline.js';
import { holderOf, lastRecord, remember } from './records.js';
import { backwards } from './walk.js';

export type ForkInput = InputOf<'context.fork'> & Pick<CheckpointInput, 'ticketId' | 'threadId'>;

/** The position of an entry in a chain: its commit, and its index in the delta. */
interface Found {
  readonly commit: ContextRow;
  readonly index: number;
}

/** The format of a conversation that starts in Stemma. */
const freshFormat = 'claude-code-v1';

/**
 * Forks a context: cuts it after an entry and applies edits. Stored commits do not change (C15).
 * The fork makes new commits from the first changed one up to the cut. Without a cut or edits it returns the commit itself.
 * @throws BAD_REQUEST if an edit names an entry outside the context, or leaves a tool result without its call.
 */
export function fork(chain: WriteChain, input: ForkInput): Commit {
  const edits = input.edits ?? [];
  edits.forEach(checkShape);
  if (input.id === null) return toCommit(begin(chain, input, edits));
  const tip = findCommit(chain, input.id);
  const cut = input.at === undefined ? { commit: tip, index: Number.POSITIVE_INFINITY } : locate(chain, tip, input.at, 'at');
  const keyed = byKey(edits);
  const touched = [...keyed.keys()].map((key) => locate(chain, cut.commit, key, 'edits'));
  for (const place of touched)
    if (place.commit.seq === cut.commit.seq && place.index > cut.index)
      throw badRequest('edits', 'An edit names an entry after the cut, which is not part of the fork.');
  const appended = edits.flatMap((edit) => (edit.op === 'append' && edit.entry ? [edit.entry] : []));
  const isCut = input.at !== undefined && hasMoreAfter(chain, cut);
  if (!isCut && touched.length === 0 && appended.length === 0) return toCommit(whole(chain, cut.commit, input));
  return chain.artifacts.transaction(() => {
    const first = touched.reduce((least, place) => Math.min(least, place.commit.depth), isCut ? cut.commit.depth : cut.commit.depth + 1);
    const originals = span(chain, cut.commit, first);
    if (!originals[0]) return toCommit(onTop(chain, cut.commit, appended, input));
    let parent = findParent(chain, originals[0]);
    for (const original of originals) {
      const isLast = original.seq === cut.commit.seq;
      parent = recommit(chain, original, parent, isLast ? { end: cut.index, keyed, appended } : { ...nothing, keyed }, input);
    }
    return toCommit(parent ?? cut.commit);
  });
}

function byKey(edits: readonly Edit[]): ReadonlyMap<EntryKey, readonly Edit[]> {
  const named = edits.filter(({ key }) => key !== undefined);
  return Map.groupBy(named, ({ key }) => key as EntryKey);
}

/** Copies all commits of a context onto another one and applies the edits to them. */
export function graft(chain: WriteChain, { id, onto, edits, ...input }: ForkInput & { readonly id: ContextId; readonly onto: ContextId }): Commit {
  const change: Change = { ...nothing, keyed: byKey(edits ?? []) };
  return chain.artifacts.transaction(() => {
    let tip = findCommit(chain, onto);
    for (const original of span(chain, findCommit(chain, id), 0)) tip = recommit(chain, original, tip, change, { id, ...input });
    return toCommit(tip);
  });
}

/** The metadata that a fork can set. */
const metadata = ['summary', 'template', 'principal', 'ticketId', 'threadId'] as const;

/**
 * A fork that ends with a commit and changes no content returns that commit. If a cut was given together with new
 * metadata, it makes a sibling commit with the same content and that metadata.
 * @throws BAD_REQUEST for a summary without a cut or edits, because no commit could hold it.
 */
function whole(chain: WriteChain, last: ContextRow, input: ForkInput): ContextRow {
  if (input.at === undefined && input.summary !== undefined)
    throw badRequest(
      'summary',
      'A fork without a cut or edits makes no commit, so it cannot have a summary. Use context.update to set the summary of a commit.',
    );
  const isChanged = metadata.some((field) => input[field] !== undefined && input[field] !== last[field]);
  if (input.at === undefined || !isChanged) return last;
  return chain.artifacts.transaction(() => recommit(chain, last, findParent(chain, last), nothing, input));
}

/**
 * Finds the commit whose context ends with a runtime's record. If visible entries follow the record in its commit, it
 * finds or makes a sibling commit that ends there. An older copy of a session's file ends inside of a commit, and makes none.
 */
export function commitEndingAt(chain: WriteChain, { record, last = record }: StoredRecord, olderCopyOf?: string): ContextRow | undefined {
  const held = holderOf(chain, record);
  if (held === undefined) return undefined;
  const holder = commitAt(chain, held);
  if (olderCopyOf !== undefined && holder.sessionId === olderCopyOf) return holder;
  // The entries that a compaction keeps follow its record and belong to it.
  if (holder.type === 'compaction') return holder;
  const { entries } = readOutline(chain, holder);
  if (last !== record && entries.some(({ hidden }) => !hidden)) return last === null ? undefined : commitEndingAt(chain, { record: last });
  const index = entries.findLastIndex((entry) => recordOf(entry.key) === record);
  const key = entries[index]?.key;
  if (key === undefined || !hasMoreAfter(chain, { commit: holder, index })) return holder;
  // The entries after the record may all be copies from other commits, or prompts that the running turn took up, which no record follows. Then this
  // commit is the one that ends with the record.
  const isBeside = (after: string): boolean => after.startsWith(queuedPrefix) || (holderOf(chain, after) ?? held) !== held;
  if (entries.slice(index + 1).every((entry) => entry.hidden || isBeside(recordOf(entry.key)))) return holder;
  const parent = findParent(chain, holder);
  const sibling = (parent ? findChildren(chain, parent) : []).find(
    (child) => readOutline(chain, child).entries.findLast((entry) => !entry.hidden)?.key === key,
  );
  if (sibling) return sibling;
  const at = readParsed(chain, holder).entries[index]?.at;
  return chain.artifacts.transaction(() => {
    const cut = cutCommit(chain, holder, key, parent, at);
    if (goesOnWithTurn(chain, holder)) noteGrowth(chain, cut);
    return cut;
  });
}

/** Whether visible entries follow this position in its delta. */
const hasMoreAfter = (chain: ReadChain, { commit, index }: Found): boolean =>
  readOutline(chain, commit).entries.some((entry, at) => at > index && !entry.hidden);

/** Maximum number of commits in a group while searching for an entry. */
const maxGroupSize = 512;

/** Groups items, each group twice as large as the last: near items are found fast, far items in few groups. */
function* growing<T>(items: Iterable<T>): Generator<T[]> {
  let group: T[] = [];
  let size = 1;
  for (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
    size = Math.min(size * 2, maxGroupSize);
  }
  if (group.length) yield group;
}

/**
 * Finds an entry between the tip and the root. If a compaction kept it, the compaction's copy counts, because the model saw
 * that one last. @throws NOT_FOUND naming the key.
 */
function locate(chain: ReadChain, tip: ContextRow, key: EntryKey, field: string): Found {
  const held = holderOf(chain, recordOf(key));
  const holder = held && commitAt(chain, held);
  const way = holder && isAncestor(chain, holder, tip) ? [...compactionsSince(chain, holder, tip), holder] : backwards(chain, tip);
  for (const steps of growing(way)) {
    for (const [place, outline] of outlinesOf(chain, steps).entries()) {
      const index = outline.entries.findIndex((entry) => entry.key === key);
      const step = steps[place];
      if (index >= 0 && step) return { commit: commitAt(chain, step.seq), index };
    }
  }
  throw notFound(key, `The chain of ${tip.id} has no entry ${inWords(key)}.`, { field });
}

/** Compactions between a commit and a later one of its chain, newest first. */
function compactionsSince(chain: ReadChain, from: ContextRow, tip: ContextRow): ContextRow[] {
  const select = `${selectContext} WHERE c.run = ? AND c.depth <= ? AND c.depth > ? AND c.type = 'compaction' ORDER BY c.depth DESC`;
  return placesTowardsRoot(chain, tip).flatMap(({ run, depth }) => chain.db.all<ContextRow>(select, run, depth, from.depth));
}

const findParent = (chain: ReadChain, row: ContextRow): ContextRow | null => (row.parent === null ? null : commitAt(chain, row.parent));

/** The commits from a depth up to and including `last`, in order. */
const span = (chain: ReadChain, last: ContextRow, fromDepth: number): ContextRow[] =>
  [...backwards(chain, last).take(last.depth - fromDepth + 1)].reverse().map(({ seq }) => commitAt(chain, seq));

interface Change {
  /** Index of the last kept entry. */
  readonly end: number;
  readonly keyed: ReadonlyMap<EntryKey, readonly Edit[]>;
  readonly appended: readonly WritableEntry[];
}
const nothing: Change = { end: Number.POSITIVE_INFINITY, keyed: new Map(), appended: [] };

/** Copies a commit onto another parent and applies the change. Unedited content keeps its bytes. */
function recommit(chain: WriteChain, original: ContextRow, parent: ContextRow | null, change: Change, input: ForkInput): ContextRow {
  const format = findReader(original.format);
  const parsed = readParsed(chain, original);
  const kept = parsed.entries.slice(0, change.end + 1);
  const isEdited = kept.some((entry) => change.keyed.has(entry.key));
  const titled = { ...input, summary: input.summary ?? describeChanges(kept, change, kept.length < parsed.entries.length) };
  if (!isEdited) {
    const content = chain.artifacts.read(original.artifact);
    const last = kept.at(-1)?.key;
    const bytes = kept.length >= parsed.entries.length || last === undefined ? content : format.cut(content, last);
    if (change.appended.length) {
      const more = format.write(change.appended, writing(chain, original, last && recordOf(last)));
      return store(chain, original, parent, format.concat([bytes, more]), titled);
    }
    // A prefix of the bytes has a prefix of the entries. Other cuts write a message again. Elisions have no position, so both are parsed again.
    const isPrefix = Buffer.compare(bytes, content.subarray(0, bytes.length)) === 0;
    const read = parsed.elisions.length || !isPrefix ? format.parse(bytes) : { entries: kept, elisions: [], problems: [] };
    return store(chain, original, parent, bytes, titled, read);
  }
  const edited = [...kept.flatMap((entry) => applied(entry, change.keyed.get(entry.key) ?? [])), ...change.appended];
  const before = parent ? lastRecord(chain, parent) : undefined;
  const bytes = format.write(edited, writing(chain, original, before));
  return store(chain, original, parent, bytes, titled);
}

/** The title for the changes that a fork makes to a commit; undefined if it changes nothing there. */
function describeChanges(kept: readonly ParsedEntry[], { keyed, appended }: Change, isCut: boolean): string | undefined {
  const edits = [...kept.flatMap((entry) => keyed.get(entry.key) ?? []), ...appended.map((entry): Edit => ({ op: 'append', entry }))];
  return titleOfEdits(kept, edits) ?? (isCut ? titleOfCut(kept.findLast(({ marks }) => !marks?.includes('hidden'))) : undefined);
}

const writing = (chain: ReadChain, near: ContextRow, parentRecord: string | undefined): Parameters<Format['write']>[1] => ({
  keepsOpen: true,
  newId: chain.newId,
  now: toTimestamp(chain.clock()),
  ...(near.sessionId !== null && { sessionId: near.sessionId }),
  ...(parentRecord !== undefined && { parentRecord }),
});

const written = (chain: ReadChain, base: ContextRow, appended: readonly WritableEntry[]): Uint8Array =>
  findReader(base.format).write(appended, writing(chain, base, lastRecord(chain, base)));

/** The entries that a fork would append to a context, as they are read back from its format. Stores nothing. */
export const appendedEntries = (chain: ReadChain, base: ContextRow, appended: readonly WritableEntry[]): readonly ParsedEntry[] =>
  appended.length === 0 ? [] : findReader(base.format).parse(written(chain, base, appended)).entries;

function onTop(chain: WriteChain, base: ContextRow, appended: readonly WritableEntry[], input: ForkInput): ContextRow {
  const summary = input.summary ?? describeChanges([], { ...nothing, appended }, false);
  return store(chain, { ...base, type: 'delta' }, base, written(chain, base, appended), { ...input, summary });
}

function begin(chain: WriteChain, input: ForkInput, edits: readonly Edit[]): ContextRow {
  const appended = edits.flatMap((edit) => (edit.op === 'append' && edit.entry ? [edit.entry] : []));
  if (!appended.length || appended.length !== edits.length)
    throw badRequest('edits', 'A fork without a context starts a conversation. Give at least one append edit and no other edits.');
  const format = requireFormat(freshFormat);
  const bytes = format.write(appended, { keepsOpen: true, newId: chain.newId, now: toTimestamp(chain.clock()) });
  const like: Like = { type: 'delta', format: format.id, template: 'stemma', sessionId: null, ticketId: null, threadId: null, summary: null };
  const summary = input.summary ?? describeChanges([], { ...nothing, appended }, false);
  return chain.artifacts.transaction(() => store(chain, like, null, bytes, { ...input, summary }));
}

type Like = Pick<ContextRow, 'type' | 'format' | 'template' | 'sessionId' | 'ticketId' | 'threadId' | 'summary'>;

function store(chain: WriteChain, like: Like, parent: ContextRow | null, bytes: Uint8Array, input: ForkInput, read?: ParsedDelta): ContextRow {
  const parsed = read ?? findReader(like.format).parse(bytes);
  refuseOrphanResults(chain, parent, parsed.entries);
  const associated = { ...like, ticketId: input.ticketId ?? like.ticketId, threadId: input.threadId ?? like.threadId };
  return write(chain, associated, parent, bytes, parsed, {
    forked: true,
    template: input.template ?? like.template,
    principal: input.principal ?? personOf(chain),
    machine: chain.machine,
    summary: input.summary ?? like.summary ?? undefined,
  });
}

function cutCommit(chain: WriteChain, holder: ContextRow, key: EntryKey, parent: ContextRow | null, createdAt: ParsedEntry['at']): ContextRow {
  const format = findReader(holder.format);
  const bytes = format.cut(chain.artifacts.read(holder.artifact), key);
  return write(chain, holder, parent, bytes, format.parse(bytes), {
    forked: false,
    createdAt,
    template: holder.template,
    principal: holder.principal ?? undefined,
    machine: holder.machine ?? undefined,
    summary: holder.summary ?? undefined,
  });
}

/** Longer content goes into a pack with its own sync, because the database would write it twice: to its log and to its file. */
const maxBytesInDatabase = 64 * 1024;

type Signed = Pick<NewCommit, 'forked' | 'template' | 'principal' | 'machine' | 'summary' | 'createdAt'>;

function write(chain: WriteChain, like: Like, parent: ContextRow | null, bytes: Uint8Array, parsed: ParsedDelta, signed: Signed): ContextRow {
  const format = findReader(like.format);
  const { no, ref } = chain.artifacts.put(bytes, { contentType: format.contentType, bulk: bytes.length > maxBytesInDatabase });
  const { data, counts } = outlined(parsed);
  saveOutline(chain, { artifact: no, format: format.id }, data);
  const row = addCommit(chain, {
    parent,
    type: like.type,
    checkpoint: like.type === 'compaction' ? 'compaction' : 'explicit',
    artifact: no,
    ref,
    format: format.id,
    ...signed,
    sessionId: like.sessionId ?? undefined,
    ticketId: like.ticketId ?? undefined,
    threadId: like.threadId ?? undefined,
    ...commitCounts(like.type, counts),
  });
  remember(chain, row, new Set(parsed.entries.map((entry) => recordOf(entry.key))));
  return row;
}

/** Refuses a tool result without its call, because no runtime accepts one. */
function refuseOrphanResults(chain: ReadChain, parent: ContextRow | null, entries: readonly ParsedEntry[]): void {
  const calls = new Set(entries.flatMap((entry) => (entry.kind === 'tool_call' && entry.toolCallId ? [entry.toolCallId] : [])));
  const open = entries.filter((entry) => entry.kind === 'tool_result' && entry.toolCallId !== undefined && !calls.has(entry.toolCallId));
  if (!open.length) return;
  const missing = new Set(open.map((entry) => entry.toolCallId ?? ''));
  if (parent)
    for (const step of backwards(chain, parent)) {
      for (const entry of readOutline(chain, step).entries) if (entry.kind === 'tool_call') missing.delete(entry.toolCallId ?? '');
      if (missing.size === 0) return;
    }
  const [orphan] = open.filter((entry) => missing.has(entry.toolCallId ?? ''));
  if (orphan)
    throw badRequest(
      'edits',
      `The result ${orphan.key} belongs to the call ${orphan.toolCallId}, which is not in the fork. Drop both or keep both.`,
      { key: orphan.key },
    );
}
