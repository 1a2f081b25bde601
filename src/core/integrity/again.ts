import { basename, join } from 'node:path';
import { sha256Of } from '../artifacts/index.js';
import { type ArtifactNo, type CommitSeq, type ContextId, orUndefined } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { makeFolderInside, writeNew } from '../files/index.js';
import { importPaths, listSources, mayReadAgain, sourceContent } from '../import/index.js';
import type { RebuiltFile } from '../store/index.js';

/** An empty project in a folder of its own; `close` deletes both. */
export interface Scratch {
  readonly dir: string;
  readonly chain: WriteChain;
  close(): void;
}

/**
 * Imports every source of the project into the scratch project: from the file on disk if this machine imported it from there, or else from the
 * project's stored copy. A path that a hub or another machine wrote into the database is never followed.
 */
export function* importAgain(chain: WriteChain, scratch: Scratch): Generator<undefined, void> {
  const paths: string[] = [];
  for (const { sourceId, path } of listSources(chain).toReversed()) {
    if (mayReadAgain(chain, sourceId)) paths.push(path);
    else {
      const content = orUndefined(() => sourceContent(chain, sourceId));
      if (content) paths.push(writeCopy(scratch.dir, sourceId, path, content));
    }
    yield;
  }
  for (const path of paths) for (const _ of importPaths(scratch.chain, { paths: [path] })) yield;
}

/** Names that are safe in every file system, and that no path can leave its folder with. */
const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/;

/** Writes a copy into a folder that the id of its source names. The file keeps its name, which some formats read, if the name is harmless. */
function writeCopy(root: string, sourceId: string, path: string, content: Uint8Array): string {
  const folder = makeFolderInside(root, join(makeFolderInside(root, join(root, 'sources')), sha256Of(sourceId).toString('hex')));
  const name = basename(path.replaceAll('\\', '/'));
  const file = join(folder, safeName.test(name) && !name.endsWith('.') ? name : 'source.jsonl');
  writeNew(file, content);
  return file;
}

type RowValues = Readonly<Record<string, string | number | Uint8Array | null>>;

/** A row of the scratch project's `commits` table. */
type ContextValues = RowValues & {
  readonly seq: CommitSeq;
  readonly id: ContextId;
  readonly digest: Buffer;
  readonly artifact: ArtifactNo;
  readonly parent: CommitSeq | null;
};

/** Columns whose values mean the same in both projects. */
const plainColumns = [
  'id', 'digest', 'type', 'format', 'template', 'principal', 'machine', 'sessionId', 'checkpoint', 'ticketId', 'threadId', 'summary', 'tags',
  'messageCount', 'tokenCount', 'contextTokens', 'errors', 'entries', 'forked', 'createdAt',
] as const; // biome-ignore format: one list

/**
 * Copies lost commits from the scratch project, under their former row numbers where these are known. Gives the commits in `unverified` the
 * values of their import. `lostRows`: whether rows of commits are lost. Returns the row numbers of both. Call it inside a transaction.
 */
export function bringCommits(
  chain: WriteChain,
  again: ReadChain,
  { lostCommits, lostRows }: Pick<RebuiltFile, 'lostCommits'> & { readonly lostRows: boolean },
  unverified: ReadonlySet<CommitSeq>,
): ReadonlySet<CommitSeq> {
  const byDigest = new Map<string, CommitSeq>();
  const byId = new Map<ContextId, CommitSeq>();
  const own = chain.db.all<{ seq: CommitSeq; id: ContextId; digest: Buffer }>(
    'SELECT seq, id, digest FROM commits WHERE +project = ?',
    chain.project,
  );
  for (const { seq, id, digest } of own) byDigest.set(digest.toString('hex'), seq) && byId.set(id, seq);
  const isLost = (id: ContextId): boolean => lostCommits.has(id) || (lostRows && lostCommits.size === 0);
  /** Row numbers in the project, by row number in the scratch project. */
  const numbers = new Map<CommitSeq, CommitSeq>();
  const brought = new Set<CommitSeq>();
  for (const row of again.db.all<ContextValues>('SELECT * FROM commits ORDER BY seq')) {
    const digest = row.digest.toString('hex');
    const known = byDigest.get(digest) ?? byId.get(row.id) ?? changedUnder(lostCommits.get(row.id), unverified);
    if (known !== undefined) numbers.set(row.seq, known);
    if (known === undefined ? !isLost(row.id) : !unverified.has(known)) continue;
    const parent = row.parent === null ? null : numbers.get(row.parent);
    if (parent === undefined) continue;
    const values = {
      ...Object.fromEntries(plainColumns.map((name) => [name, row[name] ?? null])),
      parent,
      artifact: bringObject(chain, again, row.artifact),
    };
    if (known !== undefined) {
      const names = Object.keys(values);
      chain.db.run(`UPDATE commits SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE seq = ?`, ...Object.values(values), known);
    } else numbers.set(row.seq, insertLost(chain, again, row, values, lostCommits.get(row.id)));
    brought.add(numbers.get(row.seq) as CommitSeq);
  }
  return brought;
}

/** The former row number of a lost commit, if an unverified row has that number: then that row is the commit, with a changed id. */
const changedUnder = (former: number | undefined, unverified: ReadonlySet<CommitSeq>): CommitSeq | undefined =>
  former !== undefined && unverified.has(former as CommitSeq) ? (former as CommitSeq) : undefined;

/** Inserts a lost commit under its former row number if that is known and free. Its run and depth are written later. */
function insertLost(chain: WriteChain, again: ReadChain, row: ContextValues, values: RowValues, former: number | undefined): CommitSeq {
  const seq = former !== undefined && !chain.db.one('SELECT 1 FROM commits WHERE seq = ?', former) ? former : null;
  const run = chain.db.run('INSERT INTO firstParentRun (project) VALUES (?)', chain.project).rowId;
  const { rowId } = chain.db.insert('commits', { ...values, ...(seq !== null && { seq }), project: chain.project, run, depth: -1 });
  rememberAgain(chain, again, row.seq, rowId as CommitSeq);
  return rowId as CommitSeq;
}

/** Returns the object's number in the project. Copies its content there if the project cannot read it. */
function bringObject(chain: WriteChain, again: ReadChain, no: ArtifactNo): ArtifactNo {
  const { ref, contentType } = again.artifacts.stat(no);
  const known = orUndefined(() => chain.artifacts.find(ref));
  if (known !== undefined && orUndefined(() => chain.artifacts.read(known))) return known;
  return chain.artifacts.put(again.artifacts.read(no), { contentType, bulk: true }).no;
}

/** Copies the records by which later imports find the commit. */
function rememberAgain(chain: WriteChain, again: ReadChain, from: CommitSeq, to: CommitSeq): void {
  for (const record of again.db.column<string>('SELECT record FROM record WHERE context = ?', from))
    chain.db.run('INSERT OR IGNORE INTO record (project, record, context) VALUES (?, ?, ?)', chain.project, record, to);
  for (const toolCallId of again.db.column<string>('SELECT toolCallId FROM started WHERE context = ?', from))
    chain.db.run('INSERT OR IGNORE INTO started (context, project, toolCallId) VALUES (?, ?, ?)', to, chain.project, toolCallId);
}
