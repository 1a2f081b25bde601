import { badRequest, type ContextId, type EntryKey, inWords, notFound, timestampOf } from '../base/index.js';
import type { Commit, Edit } from '../contract/index.js';
import {
  type Format,
  formatOf,
  outlined,
  type ParsedDelta,
  type ParsedEntry,
  readerOf,
  recordOfKey as recordOf,
  type WritableEntry,
} from '../formats/index.js';
import { type Chain, type ContextRow, selectContext, toCommit } from './chain.js';
import { addCommit } from './checkpoint.js';
import { childrenOf, commitAt, commitOf, isAncestor, placesTowardsRoot } from './find.js';
import { writable } from './materialize.js';
import { outlineOf, outlinesOf, parsedOf, saveOutline } from './outline.js';
import { backwards } from './walk.js';

export interface ForkInput {
  readonly id: ContextId | null;
  readonly at?: EntryKey | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly template?: string | undefined;
  readonly principal?: string | undefined;
  readonly summary?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly threadId?: string | undefined;
}

/** The entry's place in a chain: the commit that holds it, and the entry's number in its delta. */
interface Found {
  readonly commit: ContextRow;
  readonly index: number;
}

/** The format of a conversation that begins here. */
const freshFormat = 'claude-code-v1';

/**
 * Branches off a context, cut after any entry and edited at will; nothing that is stored changes (C15).
 * Commits from the first that is touched up to the cut are made again on a branch; without cut or edits there is
 * nothing to make, and the commit itself is the branch's beginning.
 * @throws BAD_REQUEST where an edit names no entry of the context, or leaves a tool result without its call.
 */
export function fork(chain: Chain, input: ForkInput): Commit {
  const edits = input.edits ?? [];
  edits.forEach(checkShape);
  if (input.id === null) return toCommit(begin(chain, input, edits));
  const tip = commitOf(chain, input.id);
  const cut = input.at === undefined ? { commit: tip, index: Number.POSITIVE_INFINITY } : locate(chain, tip, input.at, 'at');
  const keyed = new Map<EntryKey, Edit[]>();
  for (const edit of edits) if (edit.key !== undefined) keyed.set(edit.key, [...(keyed.get(edit.key) ?? []), edit]);
  const touched = [...keyed.keys()].map((key) => locate(chain, cut.commit, key, 'edits'));
  for (const place of touched)
    if (place.commit.seq === cut.commit.seq && place.index > cut.index)
      throw badRequest('edits', 'an edit names an entry behind the cut: it is not part of the fork');
  const appended = edits.flatMap((edit) => (edit.op === 'append' && edit.entry ? [edit.entry] : []));
  const isCut = leavesSomething(chain, cut);
  if (!isCut && touched.length === 0 && appended.length === 0) return toCommit(whole(chain, cut.commit, input));
  return chain.artifacts.transaction(() => {
    const first = touched.reduce((least, place) => Math.min(least, place.commit.depth), isCut ? cut.commit.depth : cut.commit.depth + 1);
    let parent: ContextRow | null = first > cut.commit.depth ? cut.commit : parentOf(chain, ancestorAt(chain, cut.commit, first));
    for (const original of span(chain, cut.commit, first)) {
      const end = original.seq === cut.commit.seq ? cut.index : Number.POSITIVE_INFINITY;
      parent = again(chain, original, parent, { end, keyed, appended: original.seq === cut.commit.seq ? appended : [] }, input);
    }
    return toCommit(first > cut.commit.depth ? onTop(chain, cut.commit, appended, input) : (parent ?? cut.commit));
  });
}

/** What a fork says of its branch. */
const signs = ['summary', 'template', 'principal', 'ticketId', 'threadId'] as const;

/**
 * A fork that ends where a commit does and changes nothing: that commit. Where a cut asked for it and something is said of the branch, the
 * same content once more beside it, which carries that.
 * @throws BAD_REQUEST for a summary where nothing was asked for that could carry it.
 */
function whole(chain: Chain, last: ContextRow, input: ForkInput): ContextRow {
  if (input.at === undefined && input.summary !== undefined)
    throw badRequest('summary', 'a fork without a cut or edits makes no commit that could carry a summary; context.update sets that of a commit');
  const isSaid = signs.some((sign) => input[sign] !== undefined && input[sign] !== last[sign]);
  if (input.at === undefined || !isSaid) return last;
  const nothing: Change = { end: Number.POSITIVE_INFINITY, keyed: new Map(), appended: [] };
  return chain.artifacts.transaction(() => again(chain, last, parentOf(chain, last), nothing, input));
}

/** The commit that holds a runtime's record, as the project found it first. */
const holderOf = (chain: Chain, record: string): ContextRow['seq'] | undefined =>
  chain.db.one<{ context: ContextRow['seq'] }>('SELECT context FROM record WHERE project = ? AND record = ?', chain.project, record)?.context;

/**
 * The commit at which a context ends exactly with a runtime's record: the one that holds it, where nothing that a model
 * would see comes after it; else the prefix of that one as a commit beside it, made if it is not there yet.
 */
export function commitEndingAt(chain: Chain, record: string): ContextRow | undefined {
  const held = holderOf(chain, record);
  if (held === undefined) return undefined;
  const holder = commitAt(chain, held);
  // What a compaction keeps comes after its own record, and is part of it.
  if (holder.type === 'compaction') return holder;
  const { entries } = outlineOf(chain, holder.artifact, holder.format);
  const index = entries.findLastIndex((entry) => recordOf(entry.key) === record);
  const key = entries[index]?.key;
  if (key === undefined || !leavesSomething(chain, { commit: holder, index })) return holder;
  // What of the same answer was copied from elsewhere comes after its record, too.
  if (entries.slice(index + 1).every((entry) => entry.hidden || (holderOf(chain, recordOf(entry.key)) ?? held) !== held)) return holder;
  const parent = parentOf(chain, holder);
  const beside = (parent ? childrenOf(chain, parent) : []).find((child) => endsWith(chain, child, key));
  if (beside) return beside;
  const at = parsedOf(chain, holder.artifact, holder.format).entries[index]?.at;
  return chain.artifacts.transaction(() => cutCommit(chain, holder, key, parent, { forked: false, ...(at && { createdAt: at }) }));
}

/** The runtime's record that the last entry of a context came from: what a next record goes on from. */
export function lastRecord(chain: Chain, row: ContextRow): string | undefined {
  for (const step of backwards(chain, row)) {
    const last = outlineOf(chain, step.artifact, step.format).entries.at(-1);
    if (last) return recordOf(last.key);
  }
  return undefined;
}

function endsWith(chain: Chain, row: ContextRow, key: EntryKey): boolean {
  const { entries } = outlineOf(chain, row.artifact, row.format);
  return entries.findLast((entry) => !entry.hidden)?.key === key;
}

/** Whether anything that a model would see comes after the place in its delta. */
const leavesSomething = (chain: Chain, { commit, index }: Found): boolean =>
  outlineOf(chain, commit.artifact, commit.format).entries.some((entry, at) => at > index && !entry.hidden);

function checkShape(edit: Edit): void {
  if (edit.op === 'append' ? edit.key !== undefined : edit.key === undefined)
    throw badRequest(
      'edits',
      edit.op === 'append' ? 'an append goes to the end and names no entry' : `${inWords(edit.op)} needs the key of an entry`,
    );
  if (edit.op === 'drop' ? edit.entry !== undefined : edit.entry === undefined)
    throw badRequest('edits', edit.op === 'drop' ? 'a drop brings no entry' : `${inWords(edit.op)} needs the entry that it brings`);
}

/** Most commits whose outlines are looked through together, on the way to an entry. */
const lookedAtOnce = 512;

/** The items in groups, each twice as large as the one before: what is near is found at once, what is far in few groups. */
function* growing<T>(items: Iterable<T>): Generator<T[]> {
  let group: T[] = [];
  let size = 1;
  for (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
    size = Math.min(size * 2, lookedAtOnce);
  }
  if (group.length) yield group;
}

/**
 * Finds an entry on the way from the tip to the root, whatever lies between: where a compaction keeps it, there, since that is what the
 * model saw last. @throws NOT_FOUND naming the key.
 */
function locate(chain: Chain, tip: ContextRow, key: EntryKey, field: string): Found {
  const known = chain.db.one<{ context: ContextRow['seq'] }>(
    'SELECT context FROM record WHERE project = ? AND record = ?',
    chain.project,
    recordOf(key),
  );
  const holder = known && commitAt(chain, known.context);
  const way = holder && isAncestor(chain, holder, tip) ? [...compactionsSince(chain, holder, tip), holder] : backwards(chain, tip);
  for (const steps of growing(way)) {
    for (const [place, outline] of outlinesOf(chain, steps).entries()) {
      const index = outline.entries.findIndex((entry) => entry.key === key);
      const step = steps[place];
      if (index >= 0 && step) return { commit: commitAt(chain, step.seq), index };
    }
  }
  throw notFound(key, `no entry ${inWords(key)} is in ${tip.id} or before it`, { field });
}

/** Compactions between a commit and a later one of its chain, the latest first. */
function compactionsSince(chain: Chain, from: ContextRow, tip: ContextRow): ContextRow[] {
  return placesTowardsRoot(chain, tip).flatMap(({ line, depth }) =>
    chain.db.all<ContextRow>(
      `${selectContext} WHERE c.line = ? AND c.depth <= ? AND c.depth > ? AND c.type = 'compaction' ORDER BY c.depth DESC`,
      line,
      depth,
      from.depth,
    ),
  );
}

const parentOf = (chain: Chain, row: ContextRow): ContextRow | null => (row.parent === null ? null : commitAt(chain, row.parent));

function ancestorAt(chain: Chain, row: ContextRow, depth: number): ContextRow {
  for (const step of backwards(chain, row)) if (step.depth === depth) return commitAt(chain, step.seq);
  throw new Error(`${row.id} has no ancestor at depth ${depth}`);
}

/** The commits from a depth up to and including `last`, in order. */
function span(chain: Chain, last: ContextRow, fromDepth: number): ContextRow[] {
  const rows: ContextRow[] = [];
  for (const step of backwards(chain, last)) {
    if (step.depth < fromDepth) break;
    rows.push(commitAt(chain, step.seq));
  }
  return rows.reverse();
}

interface Change {
  /** The last entry that stays, by number. */
  readonly end: number;
  readonly keyed: ReadonlyMap<EntryKey, readonly Edit[]>;
  readonly appended: readonly WritableEntry[];
}

/** Makes a commit again on another parent, with what changes in it. A part that only ends earlier stays as it was written. */
function again(chain: Chain, original: ContextRow, parent: ContextRow | null, change: Change, input: ForkInput): ContextRow {
  const format = readerOf(original.format);
  const parsed = parsedOf(chain, original.artifact, original.format);
  const kept = parsed.entries.slice(0, change.end + 1);
  const isEdited = kept.some((entry) => change.keyed.has(entry.key));
  if (!isEdited) {
    const whole = chain.artifacts.read(original.artifact);
    const last = kept.at(-1)?.key;
    const bytes = kept.length >= parsed.entries.length || last === undefined ? whole : format.cut(whole, last);
    if (change.appended.length) {
      const more = format.write(change.appended, writing(chain, original, last && recordOf(last)));
      return store(chain, original, parent, format.concat([bytes, more]), format, input);
    }
    // The beginning of a delta reads as the beginning of its entries; what a delta elides has no place in it, so that it is read again.
    const read = parsed.elisions.length ? format.parse(bytes) : { entries: kept, elisions: [], problems: [] };
    return store(chain, original, parent, bytes, format, input, read);
  }
  const edited = [...kept.flatMap((entry) => applied(entry, change.keyed.get(entry.key) ?? [])), ...change.appended];
  const before = parent ? lastRecord(chain, parent) : undefined;
  const bytes = format.write(edited, writing(chain, original, before));
  return store(chain, original, parent, bytes, format, input);
}

/** What an entry becomes by the edits that name it. */
function applied(entry: ParsedEntry, edits: readonly Edit[]): WritableEntry[] {
  const inserted = edits.flatMap((edit) => (edit.op === 'insert' && edit.entry ? [edit.entry] : []));
  const replaced = edits.findLast((edit) => edit.op === 'replace');
  const isDropped = edits.some((edit) => edit.op === 'drop');
  const own: WritableEntry[] = isDropped ? [] : replaced?.entry ? [{ ...replaced.entry, ...(entry.at && { at: entry.at }) }] : [writable(entry)];
  return [...inserted, ...own];
}

const writing = (chain: Chain, near: ContextRow, parentRecord: string | undefined): Parameters<Format['write']>[1] => ({
  newId: chain.newId,
  now: timestampOf(chain.clock()),
  ...(near.sessionId !== null && { sessionId: near.sessionId }),
  ...(parentRecord !== undefined && { parentRecord }),
});

function onTop(chain: Chain, base: ContextRow, appended: readonly WritableEntry[], input: ForkInput): ContextRow {
  const format = readerOf(base.format);
  return store(chain, { ...base, type: 'delta' }, base, format.write(appended, writing(chain, base, lastRecord(chain, base))), format, input);
}

function begin(chain: Chain, input: ForkInput, edits: readonly Edit[]): ContextRow {
  const appended = edits.flatMap((edit) => (edit.op === 'append' && edit.entry ? [edit.entry] : []));
  if (!appended.length || appended.length !== edits.length)
    throw badRequest('edits', 'a fork of nothing begins a conversation: it needs entries to append, and nothing else can be done to it');
  const format = formatOf(freshFormat);
  const bytes = format.write(appended, { newId: chain.newId, now: timestampOf(chain.clock()) });
  return chain.artifacts.transaction(() =>
    store(
      chain,
      {
        type: 'delta',
        format: format.id,
        template: 'stemma',
        principal: null,
        machine: null,
        sessionId: null,
        ticketId: null,
        threadId: null,
        summary: null,
      },
      null,
      bytes,
      format,
      input,
    ),
  );
}

type Like = Pick<ContextRow, 'type' | 'format' | 'template' | 'principal' | 'machine' | 'sessionId' | 'ticketId' | 'threadId' | 'summary'>;

function store(
  chain: Chain,
  like: Like,
  parent: ContextRow | null,
  bytes: Uint8Array,
  format: Format,
  input: ForkInput,
  parsed: ParsedDelta = format.parse(bytes),
): ContextRow {
  refuseOrphanResults(chain, parent, parsed.entries);
  const associated = { ...like, ticketId: input.ticketId ?? like.ticketId, threadId: input.threadId ?? like.threadId };
  return write(chain, associated, parent, bytes, format, parsed, {
    forked: true,
    template: input.template ?? like.template,
    principal: input.principal ?? like.principal ?? undefined,
    summary: input.summary ?? like.summary ?? undefined,
  });
}

function cutCommit(
  chain: Chain,
  holder: ContextRow,
  key: EntryKey,
  parent: ContextRow | null,
  how: { forked: boolean; createdAt?: ReturnType<typeof timestampOf> },
): ContextRow {
  const format = readerOf(holder.format);
  const bytes = format.cut(chain.artifacts.read(holder.artifact), key);
  return write(chain, holder, parent, bytes, format, format.parse(bytes), {
    ...how,
    template: holder.template,
    principal: holder.principal ?? undefined,
    summary: holder.summary ?? undefined,
  });
}

/** A long part of a delta costs less as a second sync than twice through the database's log. */
const longestInDatabase = 64 * 1024;

interface Signed {
  readonly forked: boolean;
  readonly template: string;
  readonly principal: string | undefined;
  readonly summary: string | undefined;
  readonly createdAt?: ReturnType<typeof timestampOf>;
}

function write(
  chain: Chain,
  like: Like,
  parent: ContextRow | null,
  bytes: Uint8Array,
  format: Format,
  parsed: ParsedDelta,
  signed: Signed,
): ContextRow {
  const { no, ref } = chain.artifacts.put(bytes, { contentType: format.contentType, bulk: bytes.length > longestInDatabase });
  const { data, counts } = outlined(parsed);
  saveOutline(chain, no, format.id, data);
  const row = addCommit(chain, {
    parent,
    type: like.type,
    checkpoint: like.type === 'compaction' ? 'compaction' : 'explicit',
    artifact: no,
    ref,
    format: format.id,
    ...signed,
    machine: like.machine ?? undefined,
    sessionId: like.sessionId ?? undefined,
    ticketId: like.ticketId ?? undefined,
    threadId: like.threadId ?? undefined,
    messageCount: like.type === 'compaction' ? 0 : counts.messages,
    tokenCount: counts.tokens,
    errors: counts.errors,
    entries: counts.entries,
  });
  remember(chain, row, new Set(parsed.entries.map((entry) => recordOf(entry.key))));
  return row;
}

/** Notes which records stand in a commit; a record that is known already stays with the commit that had it first. */
export const remember = (chain: Chain, row: Pick<ContextRow, 'seq'>, records: Iterable<string>): void =>
  rememberAll(chain, [{ seq: row.seq, records }]);

/** So many records go into one statement: each statement that may fail half way keeps what it changes twice, which many small ones pay for often. */
const rememberedAtOnce = 1_000;

/** The same of many commits: the first that names a record has it. */
export function rememberAll(chain: Chain, commits: Iterable<{ readonly seq: ContextRow['seq']; readonly records: Iterable<string> }>): void {
  let members: string[] = [];
  const write = (): void => {
    const sql = 'INSERT OR IGNORE INTO record (project, record, context) SELECT ?, key, value FROM json_each(?)';
    if (members.length > 0) chain.db.run(sql, chain.project, `{${members.join(',')}}`);
    members = [];
  };
  for (const { seq, records } of commits)
    for (const record of records) {
      members.push(`${JSON.stringify(record)}:${seq}`);
      if (members.length >= rememberedAtOnce) write();
    }
  write();
}

/** No runtime takes a result whose call is not there: an edit may not leave one behind. */
function refuseOrphanResults(chain: Chain, parent: ContextRow | null, entries: readonly ParsedEntry[]): void {
  const calls = new Set(entries.flatMap((entry) => (entry.kind === 'tool_call' && entry.toolCallId ? [entry.toolCallId] : [])));
  const open = entries.filter((entry) => entry.kind === 'tool_result' && entry.toolCallId !== undefined && !calls.has(entry.toolCallId));
  if (!open.length) return;
  const missing = new Set(open.map((entry) => entry.toolCallId ?? ''));
  if (parent)
    for (const step of backwards(chain, parent)) {
      for (const entry of outlineOf(chain, step.artifact, step.format).entries)
        if (entry.kind === 'tool_call') missing.delete(entry.toolCallId ?? '');
      if (missing.size === 0) return;
    }
  const [orphan] = open.filter((entry) => missing.has(entry.toolCallId ?? ''));
  if (orphan)
    throw badRequest(
      'edits',
      `the result ${orphan.key} belongs to the call ${orphan.toolCallId}, which the fork does not have: drop both or keep both`,
      { key: orphan.key },
    );
}
