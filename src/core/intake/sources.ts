import { closeSync, mkdirSync, openSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { blake3OfParts, refOfHash } from '../artifacts/index.js';
import {
  type ArtifactNo,
  type ArtifactRef,
  badRequest,
  type CommitSeq,
  concatBytes,
  corrupt,
  notFound,
  recent,
  StemmaError,
  timestampOf,
} from '../base/index.js';
import { type Chain, commitAt } from '../chain/index.js';
import type { Source } from '../contract/index.js';
import { wireFormat } from '../requests/index.js';

/** A stretch of a stored object that stands in an imported file. */
export interface Piece {
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
  readonly pieces: readonly Piece[];
  readonly importedAt: number;
}

type Stored = Omit<SourceRow, 'tips' | 'pieces'> & { readonly tips: string; readonly pieces: string };
type StoredPiece = [artifact: ArtifactNo, start: number, length: number];

const fromStored = (row: Stored): SourceRow => ({
  ...row,
  tips: JSON.parse(row.tips) as CommitSeq[],
  pieces: (JSON.parse(row.pieces) as StoredPiece[]).map(([artifact, start, length]) => ({ artifact, start, length })),
});

/** The latest state of the file at the path that was imported. */
export function latestSource(chain: Chain, path: string): SourceRow | undefined {
  const row = chain.db.one<Stored>('SELECT * FROM source WHERE project = ? AND path = ? ORDER BY no DESC LIMIT 1', chain.project, path);
  return row && fromStored(row);
}

/** The latest states of the conversations that were taken in out of a file, whose paths all begin with that. */
export function latestUnder(chain: Chain, beginning: string): SourceRow[] {
  const last = beginning.length - 1;
  const behind = `${beginning.slice(0, last)}${String.fromCharCode(beginning.charCodeAt(last) + 1)}`;
  return chain.db
    .all<Stored>(
      'SELECT *, MAX(no) AS no FROM source WHERE project = ? AND path >= ? AND path < ? GROUP BY path ORDER BY no',
      chain.project,
      beginning,
      behind,
    )
    .map(fromStored);
}

export type NewSource = Omit<SourceRow, 'no' | 'sourceId' | 'importedAt'> & {
  /** The row of the shorter state that this one goes on from: it is the same source. */
  readonly replaces: number | undefined;
};

export function saveSource(chain: Chain, source: NewSource): number {
  const values = [
    source.path,
    source.format,
    source.size,
    source.hash,
    source.resumeAt,
    source.resumeHash,
    source.sessionId,
    source.title,
    source.cwd,
    JSON.stringify(source.tips),
    JSON.stringify(source.pieces.map((piece): StoredPiece => [piece.artifact, piece.start, piece.length])),
    chain.clock(),
  ] as const;
  if (source.replaces === undefined)
    return chain.db.run(
      `INSERT INTO source (path, format, size, hash, resumeAt, resumeHash, sessionId, title, cwd, tips, pieces, importedAt, project, sourceId)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...values,
      chain.project,
      chain.newId(),
    ).rowId;
  chain.db.run(
    `UPDATE source SET path = ?, format = ?, size = ?, hash = ?, resumeAt = ?, resumeHash = ?, sessionId = ?, title = ?, cwd = ?, tips = ?, pieces = ?, importedAt = ?
      WHERE no = ?`,
    ...values,
    source.replaces,
  );
  return source.replaces;
}

export const allSources = (chain: Chain): SourceRow[] =>
  chain.db.all<Stored>('SELECT * FROM source WHERE project = ? ORDER BY no DESC', chain.project).map(fromStored);

/** The imported files, latest first. How they are put together stays unread: it is the largest part of a row. */
export function listSources(chain: Chain): Source[] {
  const rows = chain.db.all<ListedRow>(
    `SELECT sourceId, path, format, size, hash, sessionId, title, cwd, tips, importedAt FROM source WHERE project = ? AND format <> ? ORDER BY no DESC`,
    chain.project,
    // Captured calls are of no file.
    wireFormat,
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
      tips: (JSON.parse(row.tips) as CommitSeq[]).map((seq) => commitAt(chain, seq).id),
      importedAt: timestampOf(row.importedAt),
      ...(row.title !== null && { title: row.title }),
      ...(row.sessionId !== null && { sessionId: row.sessionId }),
      ...(row.cwd !== null && { cwd: row.cwd }),
      ...(holds && { holds }),
    };
  });
}

type ListedRow = Omit<Stored, 'no' | 'resumeAt' | 'resumeHash' | 'pieces'>;

/** What the project holds of each session, in one pass over the commits. */
function heldBySession(chain: Chain): ReadonlyMap<string, NonNullable<Source['holds']>> {
  const rows = chain.db.all<{
    sessionId: string;
    commits: number;
    messages: number;
    compactions: number;
    errors: number;
    first: number;
    last: number;
  }>(
    `SELECT sessionId, COUNT(*) AS commits, SUM(messageCount) AS messages, SUM(type = 'compaction') AS compactions, SUM(errors) AS errors,
            MIN(createdAt) AS first, MAX(createdAt) AS last
       FROM context WHERE project = ? AND sessionId IS NOT NULL GROUP BY sessionId`,
    chain.project,
  );
  return new Map(
    rows.map(({ sessionId, first, last, ...counts }) => [sessionId, { ...counts, startedAt: timestampOf(first), endedAt: timestampOf(last) }]),
  );
}

/**
 * An imported file again, byte for byte, out of the store alone (C16b): as an artifact, or written to a path where
 * nothing is yet. @throws NOT_FOUND; CORRUPT where what is put together is not what was read; CONFLICT for a taken path.
 */
export function getSource(
  chain: Chain,
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
  const writing = chain.artifacts.writeCache(sourceParts(chain, row));
  let step = writing.next();
  while (!step.done) step = writing.next();
  const cached = step.value;
  return { artifactRef: chain.artifacts.transaction(() => chain.artifacts.putCache(cached, 'application/octet-stream')).ref, ...about };
}

/** @throws CORRUPT where what is stored of the file does not put together to what was read. */
export const proveSource = (chain: Chain, sourceId: string): void => prove(chain, sourceOf(chain, sourceId));

/** The whole file out of the store, for who takes it in again. @throws CORRUPT. */
export function sourceBytes(chain: Chain, row: SourceRow): Uint8Array {
  prove(chain, row);
  return concatBytes([...sourceParts(chain, row)]);
}

function prove(chain: Chain, row: SourceRow): void {
  if (!blake3OfParts(sourceParts(chain, row)).equals(row.hash))
    throw corrupt(refOfHash(row.hash), `what is stored of ${row.path} does not put together to the file that was read`);
}

function sourceOf(chain: Chain, sourceId: string): SourceRow {
  const stored = chain.db.one<Stored>('SELECT * FROM source WHERE project = ? AND sourceId = ?', chain.project, sourceId);
  if (!stored) throw notFound(sourceId, `no imported file has the id ${sourceId}`);
  return fromStored(stored);
}

/** How much of the objects that a file is put together from is held at a time: neighbors are mostly of the same few. */
const heldAtOnce = 32 * 1024 * 1024;

/** The file's bytes, a stretch at a time. */
function* sourceParts(chain: Chain, { pieces }: Pick<SourceRow, 'pieces'>): Generator<Uint8Array> {
  const contents = recent<ArtifactNo, Uint8Array>(heldAtOnce);
  for (const { artifact, start, length } of pieces) {
    const content = contents.get(artifact) ?? chain.artifacts.read(artifact);
    contents.set(artifact, content, content.length);
    yield content.subarray(start, start + length);
  }
}

/**
 * Makes a folder and those above it that are missing. Node's own `recursive` never returns where a file system, such as /proc, says of a
 * folder in one that is there that it is not there.
 */
export function makeFolders(dir: string, mode?: number): void {
  const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const missing: string[] = [];
  for (let at = resolve(dir); !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, mode);
    } catch (error) {
      // Another process may have made it meanwhile.
      if (!isFolder(each)) throw error;
    }
  }
}

/** Writes a file where none is. @throws CONFLICT where one is; BAD_REQUEST where the folder is not there. */
export function writeNew(path: string, bytes: Uint8Array | string): void {
  writeNewParts(path, [bytes]);
}

/** The same a part at a time. What breaks off half way leaves no file. */
export function writeNewParts(path: string, parts: Iterable<Uint8Array | string>): void {
  const file = openNew(path);
  try {
    for (const part of parts) writeFileSync(file, part);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new StemmaError('CONFLICT', `${path} is there already, and nothing is ever written over a file`, { path });
    if (code === 'ENOENT' || code === 'ENOTDIR') throw badRequest('path', `${path} cannot be written: its folder is not there`);
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
      throw badRequest('path', `${path} cannot be written: this user may not write there`);
    throw error;
  }
}
