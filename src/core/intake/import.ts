import { blake3Of } from '../artifacts/index.js';
import { badRequest, type ContextId, inWords, StemmaError } from '../base/index.js';
import { type Chain, commitAt } from '../chain/index.js';
import type { Checkpoint, ImportProgress, ImportResult, Skip } from '../contract/index.js';
import { type ImportableFormat, type ImportPlan, importableFormats, type KnownRecords, type Lines, type PlanContext } from '../formats/index.js';
import { planAhead } from './ahead.js';
import { metaBeside } from './beside.js';
import { type FoundFile, fileOf, filesUnder, ioReason, type OpenFile, openFile, sizeOf, Unreadable } from './files.js';
import { type Document, documentOf, type Holding, mayHold, membersNamed, membersOf, withHolding } from './members.js';
import { fileNear } from './near.js';
import { PlanLost, type Planned, type Planner } from './planner.js';
import type { SentPlan } from './planning.js';
import { headOf, recognized } from './recognize.js';
import { latestSource, latestUnder, type SourceRow, saveSource } from './sources.js';
import { type FileResult, store, storeAgain } from './storing.js';
import { attachWaiting } from './waiting.js';

export interface ImportInput {
  readonly paths: readonly string[];
  readonly format?: string | undefined;
  readonly granularity?: Granularity | undefined;
}

export type Granularity = 'turn_boundary' | 'tool_call';

export type ImportEvent = ImportProgress;

/**
 * Imports every transcript at and under the paths, one transaction a file, telling how far it is before each file.
 * The caller may stop between files, by `return`: what is stored is whole. Faults of one file are named and the rest goes on.
 * With a planner, other threads read and plan files ahead; while one is waited for, the last event comes again.
 * @throws BAD_REQUEST for a format that cannot be imported.
 */
export function* importPaths(chain: Chain, input: ImportInput, planner?: Planner): Generator<ImportEvent, ImportResult> {
  const asked = input.format === undefined ? undefined : importableFormats.find((format) => format.id === input.format);
  if (input.format !== undefined && !asked)
    throw badRequest('format', `${inWords(input.format)} cannot be imported; there are ${importableFormats.map((format) => format.id).join(', ')}`);
  const startedAt = chain.clock();
  yield { phase: 'finding', done: 0, total: 0, bytes: 0 };
  const { files, skipped } = filesOf(input.paths);
  const notes: Skip[] = [];
  const tips = new Set<ContextId>();
  let sessions = 0;
  let commits = 0;
  let entries = 0;
  let bytes = 0;
  const granularity = input.granularity ?? 'turn_boundary';
  const ahead = planner && planAhead(chain, planner, files, { format: asked?.id, granularity });
  try {
    for (const [done, file] of files.entries()) {
      const event: ImportEvent = { phase: 'storing', done, total: files.length, bytes, path: file.path };
      yield event;
      let planned = ahead?.take(done);
      for (; planned === 'pending'; planned = ahead?.take(done)) yield event;
      const result = planned
        ? importAs(chain, file, { format: asked, granularity, behind: [] }, planned)
        : (importHolding(chain, file, asked, granularity) ?? importFile(chain, file, asked, granularity));
      sessions += result.sessions;
      commits += result.commits;
      entries += result.entries;
      bytes += file.bytes;
      skipped.push(...result.skipped);
      notes.push(...result.notes);
      for (const tip of result.tips) tips.add(tip);
    }
  } finally {
    ahead?.close();
  }
  yield { phase: 'done', done: files.length, total: files.length, bytes };
  return { sessions, commits, entries, bytes, skipped, notes, tips: [...tips], ms: Math.max(0, chain.clock() - startedAt) };
}

const nothing: FileResult = { commits: 0, entries: 0, tips: [], sessions: 0, skipped: [], notes: [] };

/** The files at and under the paths, and the conversations in files that paths name by themselves. */
function filesOf(paths: readonly string[]): ReturnType<typeof filesUnder> {
  const { members, others } = membersNamed(paths);
  const { files, skipped } = filesUnder(others, mayHold);
  return { files: [...files, ...members], skipped };
}

/**
 * Imports what a database or a document holds, each conversation as a file of its own, and keeps the file itself where it may be kept.
 * Undefined where the file holds no others.
 */
export function importHolding(chain: Chain, found: FoundFile, asked: ImportableFormat | undefined, granularity: Granularity): FileResult | undefined {
  const { file, id } = found.member ?? { file: found.path };
  try {
    const work = (holding: Holding): FileResult => {
      const results: FileResult[] = [];
      for (const member of holding.members)
        if (id === undefined || member.id === id)
          results.push(importMember(chain, documentOf({ ...found, path: file }, member), { format: holding.format, granularity, behind: [] }));
      if (id !== undefined && results.length === 0) return refused(found.path, `${file} holds no conversation ${inWords(id)}`);
      const whole = id === undefined ? keepWhole(chain, found, holding) : [];
      return {
        commits: results.reduce((sum, result) => sum + result.commits, 0),
        entries: results.reduce((sum, result) => sum + result.entries, 0),
        sessions: results.reduce((sum, result) => sum + result.sessions, 0),
        tips: results.flatMap((result) => result.tips),
        skipped: results.flatMap((result) => result.skipped),
        notes: [...results.flatMap((result) => result.notes), ...whole],
      };
    };
    return withHolding(file, asked, work, () => (id === undefined ? unchanged(chain, file) : undefined));
  } catch (error) {
    if (error instanceof StemmaError && (error.code === 'CORRUPT' || error.code === 'UNAVAILABLE')) return refused(found.path, error.message);
    if (error instanceof StemmaError) throw error;
    return refused(found.path, ioReason(error));
  }
}

/** What is known of a document that was kept when its conversations had been taken in, where it is the same still. */
function unchanged(chain: Chain, path: string): FileResult | undefined {
  const before = latestSource(chain, path);
  if (!before) return undefined;
  if (!isStill(path, before)) return undefined;
  const members = latestUnder(chain, membersOf(path));
  return members.length > 0 ? { ...nothing, sessions: members.length, tips: members.flatMap((member) => tipIds(chain, member)) } : undefined;
}

/** A file that cannot be read is not what it was; whoever reads it next says why. */
function isStill(path: string, { size, hash }: SourceRow): boolean {
  let file: OpenFile | undefined;
  try {
    file = openFile(path, { held: 0 });
    return file.bytes.length === size && file.hash().equals(hash);
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  } finally {
    file?.close();
  }
}

export function importMember(chain: Chain, document: Document, asked: Ask): FileResult {
  for (;;) {
    const result = importOpen(chain, document, fileOf(document.lines.bytes), asked, document.lines);
    if (result) return result;
  }
}

/** The database or document itself, as a source without commits of its own; what is said where it may not be kept. */
function keepWhole(chain: Chain, found: FoundFile, { keeps, format, files }: Holding): Skip[] {
  if (keeps !== true) return [{ path: found.path, line: 0, reason: keeps.not }];
  for (const { path, bytes } of files()) {
    const hash = blake3Of(bytes);
    const before = latestSource(chain, path);
    if (before?.hash.equals(hash)) continue;
    chain.artifacts.transaction(() => {
      const { no } = chain.artifacts.put(bytes, { contentType: 'application/octet-stream', bulk: true });
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
        pieces: [{ artifact: no, start: 0, length: bytes.length }],
      });
    });
  }
  return [];
}

/** How much of a file is taken in, and as what; without it, all that is there. */
export interface Portion {
  /** So many bytes: what stands behind them is left for the next time. */
  readonly upTo?: number;
  /** The same, where who asks has opened it already, and closes it. */
  readonly file?: OpenFile;
  /** Why it is taken in now: what the last commit says of itself, where its agent is gone or about to compact. */
  readonly last?: 'session_end' | 'compaction';
}

export function importFile(
  chain: Chain,
  found: FoundFile,
  asked: ImportableFormat | undefined,
  granularity: Granularity,
  portion: Portion = {},
  behind: readonly string[] = [],
): FileResult {
  return importAs(chain, found, { format: asked, granularity, behind, ...portion });
}

/** `planned`: what another thread has made of the file already. */
function importAs(chain: Chain, found: FoundFile, asked: Ask, planned?: Planned): FileResult {
  try {
    for (let ahead = planned; ; ahead = undefined) {
      const result = tryImport(chain, found, asked, ahead);
      if (result) return result;
    }
  } finally {
    planned?.close();
  }
}

interface Ask extends Portion {
  readonly format: ImportableFormat | undefined;
  readonly granularity: Granularity;
  /** Files that wait for this one, which they go on from. */
  readonly behind: readonly string[];
}

const refused = (path: string, reason: string): FileResult => ({ ...nothing, skipped: [{ path, line: 0, reason }] });

/**
 * Undefined where another process took the file in while it was read, or the thread that plans it went away: then it is looked at again, so
 * that nothing is stored twice or left out.
 */
function tryImport(chain: Chain, found: FoundFile, asked: Ask, planned: Planned | undefined): FileResult | undefined {
  let file: OpenFile | undefined;
  try {
    const same = planned && fileBehind(found.path, planned);
    file = same ?? asked.file ?? openFile(found.path, asked);
    return importOpen(chain, found, file, asked, { planned: same && planned });
  } catch (error) {
    if (error instanceof PlanLost) return undefined;
    if (error instanceof Unreadable) return refused(found.path, error.message);
    throw error;
  } finally {
    if (file !== asked.file) file?.close();
  }
}

/** The file that the thread has read, where it is still the same; undefined where it is not. @throws Unreadable */
function fileBehind(path: string, { hash, size, modifiedAt }: Planned): OpenFile | undefined {
  const file = openFile(path, { held: 0, hash: asBuffer(hash) });
  if (file.bytes.length === size && file.modifiedAt === modifiedAt) return file;
  file.close();
  return undefined;
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** The thread's plan, where the project is as it took it to be: none of its records known, and no origin to be sought. */
function planHeld(chain: Chain, file: Planned | undefined): SentPlan | undefined {
  if (!file) return undefined;
  const { plan, unknown, commits, calls } = file;
  if (plan.awaits !== undefined) return undefined;
  const known = chain.db.one('SELECT 1 FROM record WHERE project = ? AND record IN (SELECT value FROM json_each(?)) LIMIT 1', chain.project, unknown);
  return known ? undefined : { ...plan, commits, calls };
}

/** What is known of a file beside its bytes: its lines, from who wrote them, or its plan, from another thread. */
interface Known extends Pick<Lines, 'scan'> {
  readonly planned?: Planned | undefined;
}

function importOpen(chain: Chain, found: FoundFile, file: OpenFile, asked: Ask, { scan, planned: ahead }: Known = {}): FileResult | undefined {
  const { path } = found;
  const { bytes } = file;
  const format = asked.format ?? recognized(headOf(bytes), path)?.format;
  if (!format) return refused(path, bytes.length === 0 ? 'it is empty' : 'it is in no format that Stemma imports');
  const before = latestSource(chain, path);
  const grown = before && bytes.length >= before.resumeAt && file.hash(before.resumeAt).equals(before.resumeHash) ? before : undefined;
  const hash = file.hash();
  if (before?.hash.equals(hash)) return { ...nothing, sessions: 1, tips: tipIds(chain, before) };
  const context: PlanContext = {
    path,
    ...(scan && { scan }),
    known: knownRecords(chain),
    resumeAt: grown?.resumeAt ?? 0,
    granularity: asked.granularity,
    ...(grown && { before: { tips: grown.tips.length, ...(grown.cwd !== null && { cwd: grown.cwd }) } }),
    meta: metaBeside(path),
  };
  const changed = (): Unreadable => new Unreadable('it was changed while it was read: import it again');
  try {
    const planned = (): ImportPlan | SentPlan => format.planParts?.(bytes, context) ?? format.plan(file.whole(), context);
    const first = (before ? undefined : planHeld(chain, ahead)) ?? planned();
    const origin = first.awaits === undefined ? undefined : importOrigin(chain, path, first.awaits, { ...asked, format });
    const all = origin ? planned() : first;
    const plan = asked.last ? endingAs(asked.last, all) : all;
    return chain.artifacts.transaction(() => {
      const now = latestSource(chain, path);
      const isSame = now?.no === before?.no && (now === undefined || (before !== undefined && now.hash.equals(before.hash)));
      if (!isSame) return undefined;
      const stored = store(chain, { found, file, hash, plan, grown });
      const result = { ...stored, notes: [...stored.notes, ...attachWaiting(chain, path, storeAgain(chain))] };
      if (file.hasChanged(hash)) throw changed();
      return origin ? withOrigin(result, origin) : result;
    });
  } catch (error) {
    throw !(error instanceof Unreadable) && file.hasChanged(hash) ? changed() : error;
  }
}

/** A session that goes on from another is taken in behind it, where that one lies near. */
function importOrigin(chain: Chain, path: string, name: string, { format, granularity, behind }: Ask): FileResult | undefined {
  const origin = fileNear(path, name);
  if (origin === undefined || behind.includes(origin)) return undefined;
  const file = { path: origin, ...sizeOf(origin) };
  return importHolding(chain, file, format, granularity) ?? importFile(chain, file, format, granularity, {}, [...behind, path]);
}

const withOrigin = (own: FileResult, origin: FileResult): FileResult => ({
  ...own,
  commits: own.commits + origin.commits,
  entries: own.entries + origin.entries,
  skipped: [...origin.skipped, ...own.skipped],
  notes: [...origin.notes, ...own.notes],
});

/** The commit that the agent would resume says why it was made, where this file brings it. */
function endingAs(checkpoint: Checkpoint, plan: ImportPlan | SentPlan): ImportPlan | SentPlan {
  const tip = plan.tips.at(-1);
  const last = tip && 'plan' in tip ? tip.plan : undefined;
  const commits = [...plan.commits].map((commit, n) => (n === last && commit.type === 'delta' ? { ...commit, checkpoint } : commit));
  return { ...plan, commits };
}

export const knownRecords = (chain: Chain): KnownRecords => ({
  has: (record) => chain.db.one('SELECT 1 FROM record WHERE project = ? AND record = ?', chain.project, record) !== undefined,
});

const tipIds = (chain: Chain, source: SourceRow): ContextId[] => source.tips.map((seq) => commitAt(chain, seq).id);
