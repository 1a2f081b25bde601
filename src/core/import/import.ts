import { type ContextId, inWords, StemmaError } from '../base/index.js';
import { commitAt, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Checkpoint, Skip } from '../contract/index.js';
import type { LocatedFile } from '../files/index.js';
import {
  type FileBytes,
  type Granularity,
  type ImportableFormat,
  type ImportPlan,
  type Lines,
  type Member,
  type PlanContext,
  TooManyLines,
} from '../formats/index.js';
import { readCalls } from '../requests/index.js';
import type { CallRecorder } from '../usage/index.js';
import { openAhead, planAhead, type ReadAhead } from './ahead.js';
import { metaBeside } from './beside.js';
import { type FoundFile, ioReason, type OpenFile, openFile, openMember, readSize, Unreadable } from './files.js';
import { recordsOfOthers, type TrackedRecords } from './known.js';
import { mappedFormat } from './mapping.js';
import { type ConversationFile, documentOf, type Holding, mainDocumentOf, memberPath, memberPrefix, withHolding } from './members.js';
import { fileNear } from './near.js';
import { storeSide } from './pieces.js';
import { formatNamed, formatOfFile, readHead, refusalOf } from './recognize.js';
import { type Regrouping, regrouped } from './regroup.js';
import type { Signed } from './signed.js';
import { isUnchanged, latestSource, latestUnder, type SourceRow, saveSource } from './sources.js';
import { type FileResult, type InTransaction, store } from './storing.js';
import { amongWaiting, planAmong } from './waiting.js';

const nothing: FileResult = { commits: 0, entries: 0, tips: [], sessions: 0, skipped: [], notes: [] };
const isNothing = ({ tips, skipped, notes }: FileResult): boolean => tips.length + skipped.length + notes.length === 0;

/** The results of several files as one. */
export function joinResults(results: readonly FileResult[]): FileResult {
  const sum = (count: 'commits' | 'entries' | 'sessions'): number => results.reduce((total, result) => total + result[count], 0);
  return {
    sessions: sum('sessions'),
    commits: sum('commits'),
    entries: sum('entries'),
    skipped: results.flatMap(({ skipped }) => skipped),
    notes: results.flatMap(({ notes }) => notes),
    tips: results.flatMap(({ tips }) => tips),
  };
}

/** Imports one conversation of a container. One that is too large is refused by name, and the others follow. */
function importOne(chain: WriteChain, file: FoundFile, member: Member, how: Parameters<typeof importMember>[2]): FileResult {
  try {
    return importMember(chain, documentOf(file, member), how);
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return refused(memberPath(file.path, member.id), error.message);
  }
}

/**
 * Imports each conversation of a database or document like a file of its own, and stores the file itself if its format allows that.
 * Undefined for a file that holds no conversations. For a file that its agent may still write, `part` returns the part of a conversation to import, or
 * undefined; the file itself is stored once all conversations are imported completely.
 */
export function importHolding(
  chain: WriteChain,
  found: FoundFile,
  asked: ImportableFormat | undefined,
  granularity: Granularity,
  { part, ...portion }: Pick<Portion, 'last' | 'signed'> & { readonly part?: (format: ImportableFormat, member: Member) => Member | undefined } = {},
): FileResult | undefined {
  const { root, path, members } = found;
  const located = { root, path };
  try {
    const main = mainDocumentOf(located);
    if (main !== undefined) return path === root ? refused(path, `it is a part of ${main}: import that file`) : nothing;
    const work = (holding: Holding): FileResult => {
      const results: FileResult[] = [];
      let isWhole = !members;
      const missing = new Set(members);
      for (const member of holding.members) {
        if (members && !missing.delete(member.id)) continue;
        const now = part ? part(holding.format, member) : member;
        isWhole &&= now === member;
        if (now) results.push(importOne(chain, found, now, { format: holding.format, granularity, behind: [], ...portion }));
      }
      for (const id of missing) results.push(refused(memberPath(path, id), `${path} holds no conversation ${inWords(id)}`));
      if (results.length === 0 && asked?.id === mappedFormat) return refused(path, 'the mapping finds no entries in it');
      const whole = isWhole ? keepWhole(chain, found, holding) : [];
      // Of a file that grows, the last record is often not whole yet.
      const [unread, unknown] = part || members ? [[], []] : [holding.unread?.() ?? [], holding.unknown?.() ?? []];
      const isRead = part || unread.length + unknown.length > 0 || !results.every(isNothing);
      const empty = isRead ? [] : [{ path, line: 0, reason: 'it holds no messages, so nothing of it was read' }];
      const all = joinResults(results);
      return {
        ...all,
        skipped: [...all.skipped, ...unread.map((one) => ({ path, ...one }))],
        notes: [...all.notes, ...whole, ...unknown.map((one) => ({ path, ...one })), ...empty],
      };
    };
    return withHolding(located, asked, work, (beside) => (members ? undefined : unchanged(chain, located, beside)));
  } catch (error) {
    if (isTooMuch(error)) return refused(path, error.message);
    if (error instanceof StemmaError && (error.code === 'CORRUPT' || error.code === 'UNAVAILABLE')) return refused(path, error.message);
    return refused(path, ioReason(error, path));
  }
}

/** The result of the last import of a document, if neither it nor a document beside it has changed since. */
function unchanged(chain: ReadChain, file: LocatedFile, beside: readonly string[]): FileResult | undefined {
  for (const path of [file.path, ...beside]) {
    const before = latestSource(chain, path);
    if (!before || !isUnchanged({ root: file.root === file.path ? path : file.root, path }, before)) return undefined;
  }
  const members = latestUnder(chain, memberPrefix(file.path));
  return members.length > 0 ? { ...nothing, sessions: members.length, tips: members.flatMap((member) => tipIds(chain, member)) } : undefined;
}

/** Imports one conversation of a database or document. Starts again if another process imports it at the same time. */
export function importMember(chain: WriteChain, document: ConversationFile, asked: Ask): FileResult {
  for (;;) {
    const result = importOpen(chain, document, openMember(document.lines.bytes), asked, document.lines);
    if (result) return result;
  }
}

/** Stores the database or document itself, as a source without commits. Returns the note of a format that does not allow that. */
function keepWhole(chain: WriteChain, found: FoundFile, { keeps, format, files }: Holding): Skip[] {
  if (keeps !== true) return [{ path: found.path, line: 0, reason: keeps.not }];
  for (const { path, bytes } of files()) {
    const hash = openMember(bytes).hash();
    const before = latestSource(chain, path);
    if (before?.hash.equals(hash)) continue;
    chain.artifacts.transaction(() => {
      saveSource(chain, {
        replaces: before?.no,
        path,
        format: format.id,
        size: bytes.length,
        hash,
        resumeAt: bytes.length,
        resumeHash: hash,
        sessionId: null,
        title: null,
        cwd: null,
        tips: [],
        pieces: storeSide(chain, bytes, [{ start: 0, end: bytes.length }]),
      });
    });
  }
  return [];
}

/** The part of a file to import, and the reason. By default, all of it. */
export interface Portion {
  /** The number of bytes. The rest is left for the next import. */
  readonly upTo?: number;
  /** The same, if the caller has opened the file already. The caller closes it. */
  readonly file?: OpenFile;
  /** The checkpoint of the last commit, if the agent has ended, is about to compact, or requested a commit in the middle of a turn. */
  readonly last?: Checkpoint;
  readonly signed?: Signed | undefined;
  /** How to join the commits of turns and parts of turns. With `waits`, the last ones are left for later while they form no complete commit. */
  readonly regroup?: Regrouping & { readonly waits: boolean };
}

/** Imports one transcript, or a part of it. `behind` are files that wait for this one, which they continue. */
export function importFile(
  chain: WriteChain,
  found: FoundFile,
  asked: ImportableFormat | undefined,
  granularity: Granularity,
  portion: Portion = {},
  behind: readonly string[] = [],
): FileResult {
  for (;;) {
    const result = tryImport(chain, found, { format: asked, granularity, behind, ...portion });
    if (result) return result;
  }
}

/** Whether an error says that a file is too large or nested too deeply. V8 throws RangeError for a stack or string that is too large. */
const isTooMuch = (error: unknown): error is Error => error instanceof Unreadable || error instanceof TooManyLines || error instanceof RangeError;

interface Ask extends Portion {
  readonly format: ImportableFormat | undefined;
  readonly granularity: Granularity;
  /** Files that wait for this one, which they continue. */
  readonly behind: readonly string[];
}

const refused = (path: string, reason: string): FileResult => ({ ...nothing, skipped: [{ path, line: 0, reason }] });

/** Returns undefined if another process imported the file meanwhile. Then the caller tries again, so nothing is stored twice or left out. */
function tryImport(chain: WriteChain, found: FoundFile, asked: Ask): FileResult | undefined {
  let file: OpenFile | undefined;
  try {
    file = asked.file ?? openFile(found, asked);
    return importOpen(chain, found, file, asked);
  } catch (error) {
    if (isTooMuch(error)) return refused(found.path, error.message);
    throw error;
  } finally {
    if (file !== asked.file) file?.close();
  }
}

function importOpen(chain: WriteChain, found: FoundFile, file: OpenFile, asked: Ask, { scan }: Pick<Lines, 'scan'> = {}): FileResult | undefined {
  const { path } = found;
  const { bytes } = file;
  const before = latestSource(chain, path);
  const isSame = before?.size === bytes.length && before.hash.equals(file.hash());
  const format = asked.format ?? (isSame ? formatNamed(before.format) : undefined) ?? formatOfFile(bytes, path);
  if (!format) return refused(path, refusalOf(file));
  const ofJob = isOfJob(chain, format, bytes);
  if (ofJob) return { ...nothing, notes: [{ path, line: 0, reason: ofJob }] };
  // Ascending, so that each byte of a file that has grown is hashed once.
  const resumed = before && !isSame && bytes.length >= before.resumeAt ? file.hash(before.resumeAt) : undefined;
  const hash = file.hash();
  const isLost = isSame && hasLost(chain, before);
  if (isSame && !isLost) return { ...nothing, sessions: 1, tips: tipIds(chain, before) };
  const hasGrown = before !== undefined && resumed?.equals(before.resumeHash);
  // A source with lost commits or objects is imported from its beginning.
  const grown = before && isLost ? { ...before, resumeAt: 0, pieces: [] } : hasGrown ? before : undefined;
  const version = chain.db.version();
  const context: Omit<PlanContext, 'known'> = {
    path,
    ...(scan && { scan }),
    resumeAt: grown?.resumeAt ?? 0,
    granularity: asked.granularity,
    ...(grown && !isLost && { before: { tips: grown.tips.length, ...(grown.cwd !== null && { cwd: grown.cwd }) } }),
    meta: metaBeside(path),
  };
  const contentIsRead = (): void => {
    if (file.hasChanged(hash)) throw new Unreadable('it was changed while it was read: import it again');
  };
  try {
    const { planned, waiting, tracked } = planAmong(chain, path, (known) =>
      planWithOrigin(chain, file, format, { ...context, known: isLost ? recordsOfOthers(chain, before) : known }, asked),
    );
    const { plan, origin } = planned;
    if ('untilByte' in plan) return { ...nothing, until: plan };
    // Reads as much as possible before the transaction, because other writers wait during it.
    const calls = before || plan.side.length === 0 ? undefined : readCalls({ bytes, whole: file.whole, format: plan.format });
    const about = { plan, grown, calls, waiting, signed: asked.signed, last: asked.last };
    const stored = store(chain, { found, file, hash, ...about }, since(chain, path, { before, version, tracked }), contentIsRead);
    return origin ? { ...joinResults([origin, stored]), sessions: stored.sessions, tips: stored.tips } : stored;
  } catch (error) {
    if (error instanceof Outdated) return undefined;
    if (!(error instanceof Unreadable)) contentIsRead();
    throw error;
  }
}

interface Basis {
  readonly before: SourceRow | undefined;
  /** Undefined within the transaction in which the plan was checked. */
  readonly version: number | undefined;
  readonly tracked: TrackedRecords;
}

/** Runs the transactions of an import, as long as what its plan is based on is true. */
const since =
  (chain: WriteChain, path: string, { before, version, tracked }: Basis, transaction: Transaction = chain.artifacts.transaction): InTransaction =>
  (made, work) =>
    transaction(() => {
      const now = latestSource(chain, path);
      const isSame = now?.no === before?.no && (now === undefined || (before !== undefined && now.hash.equals(before.hash)));
      if (!isSame || (version !== undefined && chain.db.version() !== version && !tracked.isStillTrue(made))) throw new Outdated();
      return work();
    });

type Transaction = <T>(work: () => T) => T;

/** Files that share a transaction. */
export interface Group {
  /** Stores the calls of their commits. */
  readonly recorder: CallRecorder;
}

/** A file of a group could not be stored. Nothing of the group is stored then, because a part of the transaction cannot be undone. */
export class GroupFailed extends Error {}

/** Runs work in the transaction of a group. */
const inGroup: Transaction = (work) => {
  try {
    return work();
  } catch (error) {
    throw error instanceof Outdated ? error : new GroupFailed('a file of the group cannot be stored', { cause: error });
  }
};

interface AskRead {
  readonly granularity: Granularity;
  readonly group?: Group | undefined;
  /** Reads another file between two transactions of a large one. Returns whether there was one. */
  readonly meanwhile?: () => boolean;
}

/**
 * Imports a new file that was read ahead. Undefined if the project has something that its plan did not know: then the file is planned again.
 * @throws GroupFailed if it shares the transaction of a group.
 */
export function importRead(chain: WriteChain, found: FoundFile, read: ReadAhead, { granularity, group, meanwhile }: AskRead): FileResult | undefined {
  const { path } = found;
  const format = formatNamed(read.format);
  if (!format || read.plan.awaits !== undefined) return undefined;
  let file: OpenFile | undefined;
  try {
    file = openAhead(found, read);
    if (!file || isOfJob(chain, format, file.bytes)) return undefined;
    const version = group ? undefined : chain.db.version();
    const { waiting, tracked } = amongWaiting(chain, path, read.asked);
    if (!tracked.isStillTrue([])) return undefined;
    const { bytes, whole } = file;
    const calls = read.plan.side.length === 0 ? undefined : readCalls({ bytes, whole, format: format.id });
    const plan = planAhead(file, path, format, read, granularity);
    const about = { plan, blocks: read.blocks, grown: undefined, calls, waiting, last: undefined, recorder: group?.recorder, meanwhile };
    const hash = Buffer.from(read.hash);
    const contentIsRead = (): void => {
      if (file?.hasChanged(hash)) throw new Outdated();
    };
    const inTransaction = since(chain, path, { before: undefined, version, tracked }, group && inGroup);
    return store(chain, { found, file, hash, ...about }, inTransaction, contentIsRead);
  } catch (error) {
    if (error instanceof Outdated || isTooMuch(error)) return undefined;
    throw error;
  } finally {
    file?.close();
  }
}

/** Plans an import, after that of the session that this one continues. */
function planWithOrigin(chain: WriteChain, file: OpenFile, format: ImportableFormat, context: PlanContext, asked: Ask) {
  const { bytes } = file;
  const planned = (): ImportPlan => format.planParts?.(bytes, context) ?? format.plan(file.whole(), context);
  const first = planned();
  const origin = first.awaits === undefined ? undefined : importOrigin(chain, context.path, first.awaits, { ...asked, format });
  const whole = origin ? planned() : first;
  return { plan: asked.regroup ? regrouped(whole, { bytes, format, resumeAt: context.resumeAt }, asked.regroup) : whole, origin };
}

/** Another process changed what a plan is based on: the file is planned again. */
class Outdated extends Error {}

/** Why a session is not imported that belongs to a command-line agent working on a job of this project; undefined for any other session. */
function isOfJob(chain: ReadChain, format: ImportableFormat, bytes: FileBytes): string | undefined {
  if (!chain.db.one('SELECT 1 FROM jobSession WHERE project = ? LIMIT 1', chain.project)) return undefined;
  const { sessionId = '' } = format.peek(readHead(bytes), new Uint8Array());
  // The job has stored its work in the chain already.
  return chain.db.one('SELECT 1 FROM jobSession WHERE project = ? AND sessionId = ?', chain.project, sessionId)
    ? 'a job of Stemma writes this session, and its work is in the chain already'
    : undefined;
}

/** Imports the session that this one continues, if its file lies nearby. */
function importOrigin(chain: WriteChain, path: string, name: string, { format, granularity, behind }: Ask): FileResult | undefined {
  const origin = fileNear(path, name);
  if (origin === undefined || behind.includes(origin.path)) return undefined;
  const file = { ...origin, ...readSize(origin) };
  return importHolding(chain, file, format, granularity) ?? importFile(chain, file, format, granularity, {}, [...behind, path]);
}

/** Whether a commit or an object of the source was lost with damage. */
const hasLost = (chain: ReadChain, { no }: SourceRow): boolean =>
  chain.db.one(
    `SELECT 1 FROM source s WHERE s.no = ?
        AND (EXISTS (SELECT 1 FROM json_each(s.tips) WHERE value NOT IN (SELECT seq FROM commits))
          OR EXISTS (SELECT 1 FROM json_each(s.pieces) p LEFT JOIN artifact a ON a.no = json_extract(p.value, '$[0]') WHERE a.no IS NULL OR a.gone = 'lost'))`,
    no,
  ) !== undefined;

const tipIds = (chain: ReadChain, source: SourceRow): ContextId[] => source.tips.map((seq) => commitAt(chain, seq).id);
