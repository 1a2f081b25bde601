import { existsSync } from 'node:fs';
import { blake3OfParts, refOfHash, sha256Of } from '../artifacts/index.js';
import {
  type ArtifactNo,
  type ArtifactRef,
  atOnce,
  type CommitSeq,
  type ContextId,
  concatBytes,
  corrupt,
  defined,
  notFound,
  recent,
  toTimestamp,
} from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Source } from '../contract/index.js';
import { type LocatedFile, namedFile, writeNewParts } from '../files/index.js';
import { bodiesFormat, wireFormat } from '../requests/index.js';
import { Unreadable, withOpen } from './files.js';

/** A range of a stored object that is part of an imported file. */
export interface SourcePiece {
  readonly artifact: ArtifactNo;
  readonly start: number;
  readonly length: number;
}

export interface SourceRow {
  readonly no: number;
  readonly sourceId: string;
  readonly path: string;
  readonly format: string;
  readonly size: number;
  readonly hash: Buffer;
  readonly resumeAt: number;
  readonly resumeHash: Buffer;
  readonly sessionId: string | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly tips: readonly CommitSeq[];
  readonly pieces: readonly SourcePiece[];
  readonly importedAt: number;
}

type Stored = Omit<SourceRow, 'tips' | 'pieces'> & { readonly tips: string; readonly pieces: string };
type StoredPiece = [artifact: ArtifactNo, start: number, length: number];

const fromStored = (row: Stored): SourceRow => ({
  ...row,
  tips: JSON.parse(row.tips) as CommitSeq[],
  pieces: (JSON.parse(row.pieces) as StoredPiece[]).map(([artifact, start, length]) => ({ artifact, start, length })),
});

/** The latest imported state of the file at a path. */
export function latestSource(chain: ReadChain, path: string): SourceRow | undefined {
  const row = chain.db.one<Stored>('SELECT * FROM source WHERE project = ? AND path = ? ORDER BY no DESC LIMIT 1', chain.project, path);
  return row && fromStored(row);
}

/** The latest states of the conversations that were imported from a file. Their paths begin with `beginning`. */
export function latestUnder(chain: ReadChain, beginning: string): SourceRow[] {
  const last = beginning.length - 1;
  const behind = `${beginning.slice(0, last)}${String.fromCharCode(beginning.charCodeAt(last) + 1)}`;
  return chain.db
    .all<Stored>('SELECT *, MAX(no) AS no FROM source WHERE project = ? AND path >= ? AND path < ? GROUP BY path ORDER BY no', [
      chain.project,
      beginning,
      behind,
    ])
    .map(fromStored);
}

export type NewSource = Omit<SourceRow, 'no' | 'sourceId' | 'importedAt'> & {
  /** The row of the earlier, shorter state of the same source. */
  readonly replaces: number | undefined;
};

/** Stores an imported file, or its new state. Returns the number of its row. */
export function saveSource(chain: WriteChain, source: NewSource): number {
  const { replaces, tips, pieces, ...facts } = source;
  const row = {
    ...facts,
    tips: JSON.stringify(tips),
    pieces: JSON.stringify(pieces.map((piece): StoredPiece => [piece.artifact, piece.start, piece.length])),
    importedAt: chain.clock(),
  };
  if (replaces === undefined) {
    const sourceId = chain.newId();
    return chain.db.insert('source', { ...row, project: chain.project, sourceId, recorded: sealOf(chain, sourceId, source.path) }).rowId;
  }
  const sourceId = chain.db.value<string>('SELECT sourceId FROM source WHERE no = ?', replaces) ?? '';
  chain.db.run(
    `UPDATE source SET path = :path, format = :format, size = :size, hash = :hash, resumeAt = :resumeAt, resumeHash = :resumeHash, sessionId = :sessionId,
        title = :title, cwd = :cwd, tips = :tips, pieces = :pieces, importedAt = :importedAt, recorded = :recorded WHERE no = :no`,
    { ...row, recorded: sealOf(chain, sourceId, source.path), no: replaces },
  );
  return replaces;
}

/** What this machine seals of a path that it imported. A row with another path came with the project, from somebody else. */
export const sealOf = (chain: ReadChain, sourceId: string, path: string): string => chain.seal(`source\0${sourceId}\0${path}`);

/** What earlier versions wrote in its place: nothing, or a digest that anybody can compute. */
const isOfEarlierVersion = (recorded: string | null, sourceId: string, path: string): boolean =>
  recorded === '' || recorded === sha256Of(`imported here\0${sourceId}\0${path}`).toString('hex');

/**
 * Whether the path that a row names may be read from the disk again: the seal of this machine proves that it imported the file from there. The file of
 * an earlier version's row is read only if it still is, byte for byte, what the row says: that tells whoever wrote the row nothing new.
 */
export function mayReadAgain(chain: ReadChain, sourceId: string): boolean {
  const row = chain.db.one<{ path: string; recorded: string | null; size: number; hash: Buffer }>(
    'SELECT path, recorded, size, hash FROM source WHERE project = ? AND sourceId = ?',
    [chain.project, sourceId],
  );
  if (!row || !existsSync(row.path)) return false;
  const { path, recorded, size } = row;
  return (
    recorded === sealOf(chain, sourceId, path) || (isOfEarlierVersion(recorded, sourceId, path) && size > 0 && isUnchanged(namedFile(path), row))
  );
}

/** Whether a file is unchanged since its last import. False if it cannot be read: the import then says why. */
export function isUnchanged(located: LocatedFile, { size, hash }: Pick<SourceRow, 'size' | 'hash'>): boolean {
  try {
    return withOpen(located, (file) => file.bytes.length === size && file.hash().equals(hash));
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/** All imported files, latest first. */
export const allSources = (chain: ReadChain): SourceRow[] =>
  chain.db.all<Stored>('SELECT * FROM source WHERE project = ? ORDER BY no DESC', chain.project).map(fromStored);

/** The paths of all imported files. */
export const importedPaths = ({ db, project }: ReadChain): ReadonlySet<string> =>
  new Set(db.column<string>('SELECT DISTINCT path FROM source WHERE project = ?', project));

/** Whether a file has been imported in this size. */
export function importedFiles({ db, project }: ReadChain): (path: string, bytes: number) => boolean {
  const rows = db.all<{ path: string; size: number }>('SELECT path, size FROM source WHERE project = ?', project);
  const known = new Set(rows.map(({ path, size }) => `${size} ${path}`));
  return (path, bytes) => known.has(`${bytes} ${path}`);
}

/** The imported files of sessions that are not deleted, latest first. Does not read their lists of pieces, the largest part of a row. */
export function listSources(chain: ReadChain): Source[] {
  const rows = chain.db.all<ListedRow>(
    `SELECT sourceId, path, format, size, hash, sessionId, title, cwd, tips, importedAt FROM source WHERE project = ? AND format NOT IN (?, ?)
        AND NOT EXISTS (SELECT 1 FROM sessionMark m WHERE m.project = source.project AND m.sessionId = source.sessionId AND m.deletedAt IS NOT NULL)
      ORDER BY no DESC`,
    chain.project,
    // Captured calls have no file.
    wireFormat,
    bodiesFormat,
  );
  const sessions = heldBySession(chain);
  return rows.map((row) => {
    const holds = row.sessionId === null ? undefined : sessions.get(row.sessionId);
    return {
      sourceId: row.sourceId,
      path: row.path,
      format: row.format,
      bytes: row.size,
      hash: refOfHash(row.hash),
      tips: (JSON.parse(row.tips) as CommitSeq[]).flatMap((seq) => idAt(chain, seq) ?? []),
      importedAt: toTimestamp(row.importedAt),
      ...defined({ title: row.title ?? undefined, sessionId: row.sessionId ?? undefined, cwd: row.cwd ?? undefined, holds }),
    };
  });
}

/** The id of a commit; undefined if the commit is lost. A repair reports it. */
const idAt = (chain: ReadChain, seq: CommitSeq): ContextId | undefined =>
  chain.db.value<ContextId>('SELECT id FROM commits WHERE seq = ? AND project = ?', seq, chain.project);

type ListedRow = Omit<Stored, 'no' | 'resumeAt' | 'resumeHash' | 'pieces'>;

/** Counts of each session, in one pass over the commits. */
function heldBySession(chain: ReadChain): ReadonlyMap<string, NonNullable<Source['holds']>> {
  type Counts = Record<'commits' | 'messages' | 'compactions' | 'errors' | 'first' | 'last', number>;
  const rows = chain.db.all<Counts & { sessionId: string }>(
    `SELECT sessionId, COUNT(*) AS commits, SUM(messageCount) AS messages, SUM(type = 'compaction') AS compactions, SUM(errors) AS errors,
            MIN(createdAt) AS first, MAX(createdAt) AS last
       FROM commits WHERE +project = ? AND sessionId IS NOT NULL GROUP BY sessionId`,
    chain.project,
  );
  return new Map(
    rows.map(({ sessionId, first, last, ...counts }) => [sessionId, { ...counts, startedAt: toTimestamp(first), endedAt: toTimestamp(last) }]),
  );
}

/**
 * Restores an imported file byte for byte from the store (C16b): as an artifact, or written to a new path. @throws NOT_FOUND; CORRUPT if the stored bytes do not match the file's hash; CONFLICT if the path exists.
 */
export function getSource(
  chain: WriteChain,
  sourceId: string,
  path?: string,
): { artifactRef?: ArtifactRef; path?: string; bytes: number; hash: ArtifactRef } {
  const row = sourceOf(chain, sourceId);
  prove(chain, row);
  const about = { bytes: row.size, hash: refOfHash(row.hash) };
  if (path !== undefined) {
    writeNewParts(path, sourceParts(chain, row));
    return { path, ...about };
  }
  const cached = atOnce(chain.artifacts.writeCache(sourceParts(chain, row)));
  return { artifactRef: chain.artifacts.transaction(() => chain.artifacts.putCache(cached, 'application/octet-stream')).ref, ...about };
}

/** Checks that the file can be restored exactly. @throws CORRUPT if not. */
export const proveSource = (chain: ReadChain, sourceId: string): void => prove(chain, sourceOf(chain, sourceId));

/** The stored bytes of an imported file, to import it again. @throws NOT_FOUND; CORRUPT if they do not match the file's hash. */
export const sourceContent = (chain: ReadChain, sourceId: string): Uint8Array => sourceBytes(chain, sourceOf(chain, sourceId));

/** The whole file from the store. @throws CORRUPT */
export function sourceBytes(chain: ReadChain, row: SourceRow): Uint8Array {
  prove(chain, row);
  return concatBytes([...sourceParts(chain, row)]);
}

function prove(chain: ReadChain, row: SourceRow): void {
  if (!blake3OfParts(sourceParts(chain, row)).equals(row.hash))
    throw corrupt(refOfHash(row.hash), `the stored parts of ${row.path} do not match the hash of the imported file`);
}

function sourceOf(chain: ReadChain, sourceId: string): SourceRow {
  const stored = chain.db.one<Stored>('SELECT * FROM source WHERE project = ? AND sourceId = ?', chain.project, sourceId);
  if (!stored) throw notFound(sourceId, `no imported file has the id ${sourceId}`);
  return fromStored(stored);
}

/** Size of the cache for the objects of a file, in bytes. Neighboring pieces mostly belong to the same objects. */
const heldAtOnce = 32 * 1024 * 1024;

/** The file's bytes, one piece at a time. */
function* sourceParts(chain: ReadChain, { pieces }: Pick<SourceRow, 'pieces'>): Generator<Uint8Array> {
  const contents = recent<ArtifactNo, Uint8Array>(heldAtOnce);
  for (const { artifact, start, length } of pieces) {
    const content = contents.get(artifact) ?? chain.artifacts.read(artifact);
    contents.set(artifact, content, content.length);
    yield content.subarray(start, start + length);
  }
}
