import { basename } from 'node:path';
import { blake3Of } from '../artifacts/index.js';
import type { CommitSeq, EntryKey } from '../base/index.js';
import { commitAt, holderOf, type ReadChain, remember, type WriteChain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type ImportPlan, type KnownRecords, recordOfKey } from '../formats/index.js';
import { type CallRecorder, noteChangedCalls } from '../usage/index.js';
import { metaBeside } from './beside.js';
import { type TrackedRecords, trackedRecords } from './known.js';
import { isSessionName } from './near.js';
import { formatNamed } from './recognize.js';
import type { Until } from './regroup.js';
import { allSources, type SourceRow, sourceBytes } from './sources.js';

/** The prefix of a record for a commit whose session continues a session that is not imported yet. The name of that session follows. */
const waits = 'waits for ';

/** Records that a commit waits for the session of this name. */
export function rememberWaiting(chain: WriteChain, seq: CommitSeq, name: string): void {
  if (isSessionName(name)) remember(chain, { seq }, [`${waits}${name} ${commitAt(chain, seq).id}`]);
}

interface Waiting {
  readonly record: string;
  readonly context: CommitSeq;
}

/** Stores a session again, now as the continuation of another one, and returns its commits and tips. */
export type StoreContinuation = (
  source: SourceRow,
  bytes: Uint8Array,
  plan: ImportPlan,
) => { readonly made: readonly CommitSeq[]; readonly tips: readonly CommitSeq[] };

const allWaiting = (chain: ReadChain): Waiting[] =>
  chain.db.all<Waiting>('SELECT record, context FROM record WHERE project = ? AND record >= ? AND record < ?', [
    chain.project,
    waits,
    `${waits}\u{10ffff}`,
  ]);

/** The first commits of the sessions that wait for the file at the path. Many can wait for good, so only the names that its name may contain are read. */
function waitingFor(chain: ReadChain, path: string): Waiting[] {
  const name = basename(path);
  const beginnings = new Set(Array.from({ length: Math.max(0, name.length - 7) }, (_, at) => waits + name.slice(at, at + 8)));
  const found = chain.db.all<Waiting>(
    'SELECT record, context FROM json_each(?) CROSS JOIN record ON project = ? AND record >= value AND record < value || char(0x10ffff)',
    [JSON.stringify([...beginnings]), chain.project],
  );
  return found.filter(({ record }) => name.includes(record.slice(waits.length, record.lastIndexOf(' '))));
}

const commitsOf = (chain: ReadChain, waiting: readonly Waiting[]): ReadonlySet<CommitSeq> =>
  new Set(waiting.flatMap(({ context }) => [...descendants(chain, context)]));

/** A plan, and what it was made without. */
interface PlannedAmong<Planned> {
  readonly planned: Planned;
  readonly tracked: TrackedRecords;
  /** The commits of waiting sessions, which may repeat what the file contains and hold its records until it is imported. */
  readonly waiting: ReadonlySet<CommitSeq>;
}

/**
 * Plans the import of a new file by the records of the project, without those of the sessions that wait for it. Sessions that wait for another file can
 * repeat this one too, as the fork of a fork does: a file that waits for none itself is planned without all of them.
 */
export function planAmong<Planned extends { readonly plan: ImportPlan | Until }>(
  chain: ReadChain,
  path: string,
  plan: (known: KnownRecords) => Planned,
): PlannedAmong<Planned> {
  const isWhole = ({ plan: made }: Planned): boolean => !('untilByte' in made || made.awaits !== undefined);
  const without = (waiting: ReadonlySet<CommitSeq>): PlannedAmong<Planned> => {
    const tracked = trackedRecords(chain, waiting);
    return { planned: plan(tracked.known), tracked, waiting };
  };
  const first = without(commitsOf(chain, waitingFor(chain, path)));
  const { holders } = first.tracked;
  if (holders.size === 0 || !isWhole(first.planned)) return first;
  const isOwn = ({ context }: Waiting): boolean => basename(path).includes(commitAt(chain, context).sessionId ?? basename(path));
  const strangers = allWaiting(chain).filter((one) => !isOwn(one));
  const others = commitsOf(chain, strangers);
  if (![...others].some((seq) => holders.has(seq))) return first;
  const second = without(new Set([...others, ...first.waiting]));
  return isWhole(second.planned) ? second : first;
}

/** What a plan is based on that was made without asking the project, and looked for these records. */
export function amongWaiting(chain: ReadChain, path: string, missing: readonly string[]): Omit<PlannedAmong<never>, 'planned'> {
  const waiting = commitsOf(chain, waitingFor(chain, path));
  return { waiting, tracked: trackedRecords(chain, waiting, missing) };
}

/** Gives the records of new commits that waiting sessions hold to the new commits. */
export function takeRecordsBack(chain: WriteChain, seq: CommitSeq, records: readonly string[], waiting: ReadonlySet<CommitSeq>): void {
  if (waiting.size === 0) return;
  chain.db.run(
    `UPDATE record SET context = ? WHERE project = ? AND record IN (SELECT value FROM json_each(?)) AND context IN (SELECT value FROM json_each(?))`,
    [seq, chain.project, JSON.stringify(records), JSON.stringify([...waiting])],
  );
}

/**
 * Imports the sessions that wait for the file at the path again, from their stored bytes, now as its continuation. From then on, their
 * records and calls belong to the new commits. The earlier commits stay, because commits never change, but they are hidden like a deleted branch.
 */
export function attachWaiting(chain: WriteChain, path: string, store: StoreContinuation, recorder: CallRecorder): Skip[] {
  const waiting = waitingFor(chain, path);
  if (waiting.length > 0) recorder.settle();
  return waiting.flatMap((one) => attach(chain, one, store));
}

/** Attaches a session, and then those that continue it. */
function attach(chain: WriteChain, { record, context }: Waiting, store: StoreContinuation): Skip[] {
  const before = descendants(chain, context);
  const [first, ...others] = sourcesOf(chain, before);
  const plan = first && planAgain(chain, first, before);
  if (!plan || plan.awaits !== undefined) return [];
  const made = storeAgain(chain, first, plan, store);
  chain.db.run('DELETE FROM record WHERE project = ? AND record = ?', chain.project, record);
  // The session may share nothing with the one that it names: then its commits are the same ones.
  if (made.some((seq) => before.has(seq))) return [];
  for (const other of others) {
    const planned = planAgain(chain, other, before);
    const [beginning] = planned ? storeAgain(chain, other, planned, store) : [];
    if (planned?.awaits !== undefined && beginning !== undefined) rememberWaiting(chain, beginning, planned.awaits);
  }
  moveCalls(chain, before);
  hide(chain, context, before);
  return [{ path: first.path, line: 0, reason: 'the session that it continues was imported, so this file was imported again as its continuation' }];
}

/** The files whose work lies in these commits, each after the one that it continues. */
function sourcesOf(chain: ReadChain, commits: ReadonlySet<CommitSeq>): SourceRow[] {
  const firsts = new Map<string | null, CommitSeq>();
  for (const seq of [...commits].sort((a, b) => b - a)) firsts.set(commitAt(chain, seq).sessionId, seq);
  const beginningOf = ({ sessionId, tips }: SourceRow): CommitSeq => firsts.get(sessionId) ?? (Math.min(...tips) as CommitSeq);
  return allSources(chain)
    .filter(({ tips }) => tips.some((seq) => commits.has(seq)))
    .sort((a, b) => beginningOf(a) - beginningOf(b));
}

/** Plans a file by what the project has now, without these commits; undefined if its format cannot be imported any more. */
function planAgain(chain: WriteChain, source: SourceRow, before: ReadonlySet<CommitSeq>): ImportPlan | undefined {
  const { known } = trackedRecords(chain, before);
  return formatNamed(source.format)?.plan(sourceBytes(chain, source), {
    path: source.path,
    known,
    resumeAt: 0,
    granularity: 'turn_boundary',
    meta: metaBeside(source.path),
  });
}

/** Stores a file again by a new plan. Returns its new commits. */
function storeAgain(chain: WriteChain, source: SourceRow, plan: ImportPlan, store: StoreContinuation): readonly CommitSeq[] {
  const bytes = sourceBytes(chain, source);
  const { made, tips } = store(source, bytes, plan);
  const title = plan.title ?? plan.commits.find(({ type, summary }) => type === 'delta' && summary !== undefined)?.summary ?? source.title;
  chain.db.run('UPDATE source SET tips = ?, title = ? WHERE no = ?', JSON.stringify(tips), title, source.no);
  // Of a session that has only repeated the other one so far, no commit is left from which a growing file would go on.
  if (plan.end < source.resumeAt) {
    const resumeHash = blake3Of(bytes.subarray(0, plan.end));
    chain.db.run('UPDATE source SET resumeAt = ?, resumeHash = ? WHERE no = ?', plan.end, resumeHash, source.no);
  }
  return made;
}

/** Gives the counted calls of commits to the commits that now hold their replies. Those that repeat calls of the other session are its own now. */
function moveCalls(chain: WriteChain, from: ReadonlySet<CommitSeq>): void {
  const calls = chain.db.all<{ no: number; key: EntryKey; replayed: number | null }>(
    'SELECT no, key, replayed FROM usageCall WHERE project = ? AND context IN (SELECT value FROM json_each(?))',
    [chain.project, JSON.stringify([...from])],
  );
  for (const { no, key, replayed } of calls) {
    const holder = holderOf(chain, recordOfKey(key));
    if (replayed !== null) chain.db.run('DELETE FROM usageCall WHERE no = ?', no);
    else if (holder !== undefined && !from.has(holder)) chain.db.run('UPDATE usageCall SET context = ? WHERE no = ?', holder, no);
  }
  noteChangedCalls(chain);
}

/** Hides commits that were stored again, with the names by which a growing file would find them, unless somebody has gone on from them. */
function hide(chain: WriteChain, first: CommitSeq, commits: ReadonlySet<CommitSeq>): void {
  const isUsed = chain.db.one('SELECT 1 FROM commits WHERE forked = 1 AND seq IN (SELECT value FROM json_each(?))', JSON.stringify([...commits]));
  if (isUsed) return;
  chain.db.run(
    'INSERT INTO branchMark (project, context, deletedAt) VALUES (?, ?, ?) ON CONFLICT (context) DO UPDATE SET deletedAt = excluded.deletedAt',
    [chain.project, first, chain.clock()],
  );
  chain.db.run('DELETE FROM record WHERE project = ? AND context IN (SELECT value FROM json_each(?))', chain.project, JSON.stringify([...commits]));
}

/** The commit and all its descendants. */
function descendants(chain: ReadChain, first: CommitSeq): ReadonlySet<CommitSeq> {
  const seqs = chain.db.column<CommitSeq>(
    'WITH RECURSIVE above(seq) AS (SELECT ? UNION SELECT c.seq FROM commits c JOIN above ON c.parent = above.seq) SELECT seq FROM above',
    first,
  );
  return new Set(seqs);
}
