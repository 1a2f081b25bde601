import { refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, type CommitSeq, type ContextId, orUndefined, StemmaError } from '../base/index.js';
import { isDigestOfRow, isIdOf, type ReadChain, storedOutline, type WriteChain, wronglyListed } from '../chain/index.js';
import type { CommitType, OutputOf } from '../contract/index.js';
import { countOutline, findFormat, outlineOfParsed } from '../formats/index.js';
import { listSources, proveSource } from '../import/index.js';
import type { OpenDatabase } from '../store/index.js';

/** The parts of an open project that checks and repairs need. */
export interface CheckedStore {
  readonly projectId: string;
  readonly db: OpenDatabase;
  readonly chain: WriteChain;
}

export type CheckResult = OutputOf<'project.check'>;
export type CheckProblem = CheckResult['problems'][number];

/** The number of objects or commits that are checked before other calls can run. */
const checkedAtOnce = 200;

/**
 * Verifies all stored data and changes nothing: pages and indexes of the database, rows against their checksums, objects against their
 * hashes, commits against their parents, digests and content, and imported files against their hashes.
 */
export function* checkProject(store: CheckedStore): Generator<undefined, CheckResult> {
  const { chain } = store;
  const rows = rowProblems(store);
  const isChanged: IsChanged = (table, row) => rows.changed.has(`${table} ${row}`);
  const problems: CheckProblem[] = [...databaseProblems(store), ...rows.problems];
  const part = function* <T>(work: Generator<undefined, T>): Generator<undefined, T | undefined> {
    try {
      return yield* work;
    } catch (error) {
      // The other tables are still checked.
      problems.push(damageOf(error));
      return undefined;
    }
  };
  const artifacts = yield* part(damagedArtifacts(chain, isChanged));
  problems.push(...(artifacts?.damaged ?? []).map((one): CheckProblem => ({ kind: 'artifact', id: one.ref, message: one.message })));
  const commits = yield* part(commitProblems(chain, isChanged));
  problems.push(...(commits?.problems ?? []));
  const sources = yield* part(sourceProblems(chain));
  problems.push(...(sources?.problems ?? []));
  return {
    ok: problems.length === 0,
    checked: { artifacts: artifacts?.count ?? 0, commits: commits?.count ?? 0, sources: sources?.count ?? 0 },
    problems,
  };
}

/** Damage that SQLite finds in pages and indexes, and tables and indexes that are missing or defined differently. */
export const databaseDamage = ({ db }: CheckedStore): CheckProblem[] => [
  ...orCorrupt(() => db.integrity().map(databaseProblem)),
  ...orCorrupt(() => db.changedDefinitions().map(databaseProblem)),
];

const databaseProblem = (message: string): CheckProblem => ({ kind: 'database', id: 'stemma.db', message });

/** Damage that SQLite finds, and rows that refer to missing rows. Missing parents and objects of commits are reported with the commit. */
const databaseProblems = (store: CheckedStore): CheckProblem[] => [
  ...databaseDamage(store),
  ...orCorrupt(() =>
    store.db
      .dangling()
      .filter(({ table }) => table !== 'commits')
      .map(({ table, row, parent }) => databaseProblem(`row ${row} of ${table} refers to a row of ${parent} that does not exist`)),
  ),
];

/** Whether a row is known not to match its checksum. It is reported as such, and its values are not checked further. */
type IsChanged = (table: string, row: number) => boolean;

function rowProblems({ db }: CheckedStore): { changed: ReadonlySet<string>; problems: CheckProblem[] } {
  const changed = new Set<string>();
  const problems = orCorrupt(() =>
    db.changedRows().map(({ table, row, id }): CheckProblem => {
      changed.add(`${table} ${row}`);
      return { kind: 'row', id: id ?? `${table} ${row}`, message: `row ${row} of ${table} does not match its checksum: a byte of it has changed` };
    }),
  );
  return { changed, problems };
}

function orCorrupt(look: () => CheckProblem[]): CheckProblem[] {
  try {
    return look();
  } catch (error) {
    return [damageOf(error)];
  }
}

/** The damage that an error reports. @throws any other error */
function damageOf(error: unknown): CheckProblem {
  if (error instanceof StemmaError && error.code === 'CORRUPT') return databaseProblem(error.message);
  throw error;
}

function* sourceProblems(chain: ReadChain): Generator<undefined, { count: number; problems: CheckProblem[] }> {
  const sources = listSources(chain);
  const problems: CheckProblem[] = [];
  for (const { sourceId } of sources) {
    for (const message of damageIn(() => proveSource(chain, sourceId))) problems.push({ kind: 'source', id: sourceId, message });
    yield;
  }
  return { count: sources.length, problems };
}

export interface DamagedArtifact {
  readonly no: ArtifactNo;
  readonly ref: string;
  readonly message: string;
}

/** Every object whose content does not match its hash. An object that has expired, or that only a replica holds, is not damaged. */
export function* damagedArtifacts(chain: ReadChain, isChanged: IsChanged = () => false) {
  const select = `SELECT no, hash FROM artifact WHERE project = ? AND key >= 0 AND (gone IS NULL OR gone = 'lost')
      AND (gone IS NOT NULL OR data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL) ORDER BY no`;
  const rows = chain.db.all<{ no: ArtifactNo; hash: Buffer }>(select, chain.project);
  chain.artifacts.forget();
  const damaged: DamagedArtifact[] = [];
  for (const [at, { no, hash }] of rows.entries()) {
    if (at % checkedAtOnce === checkedAtOnce - 1) yield;
    if (isChanged('artifact', no)) continue;
    for (const message of damageIn(() => chain.artifacts.read(no))) damaged.push({ no, ref: refOfHash(hash), message });
  }
  return { count: rows.length, damaged };
}

export interface CommitRow {
  readonly seq: CommitSeq;
  readonly id: ContextId;
  readonly digest: Buffer;
  readonly parent: CommitSeq | null;
  readonly parentId: ContextId | null;
  readonly parentTokens: number | null;
  readonly type: CommitType;
  readonly artifact: ArtifactNo;
  readonly hash: Buffer | null;
  readonly format: string;
  readonly template: string;
  readonly messageCount: number;
  readonly tokenCount: number;
  readonly contextTokens: number;
  readonly createdAt: number;
}

const selectCommits = /* sql */ `
SELECT c.seq, c.id, c.digest, c.parent, p.id AS parentId, p.contextTokens AS parentTokens, c.type, c.artifact, a.hash, c.format, c.template,
       c.messageCount, c.tokenCount, c.contextTokens, c.createdAt
  FROM commits c LEFT JOIN commits p ON p.seq = c.parent LEFT JOIN artifact a ON a.no = c.artifact
 WHERE c.project = ?`;

function* commitProblems(chain: ReadChain, isChanged: IsChanged): Generator<undefined, { count: number; problems: CheckProblem[] }> {
  const problems = placeProblems(chain, isChanged);
  for (const id of wronglyListed(chain))
    problems.push({ kind: 'outline', id, message: 'the list of commits by principal and time has a wrong row for it' });
  let count = 0;
  for (let last = 0; ; ) {
    const rows = chain.db.all<CommitRow>(`${selectCommits} AND c.seq > ? ORDER BY c.seq LIMIT ${checkedAtOnce}`, chain.project, last);
    const intact = rows.filter(({ seq, artifact }) => !isChanged('commits', seq) && !isChanged('artifact', artifact));
    problems.push(...intact.flatMap((row) => [...identityProblems(row), ...contentProblems(chain, row)]));
    count += rows.length;
    const end = rows.at(-1);
    if (!end) return { count, problems };
    last = end.seq;
    yield;
  }
}

/** The commits that are not one deeper than their parent, in their parent's run or at the beginning of their own. */
export const misplaced = ({ db, project }: ReadChain) =>
  db.all<Pick<CommitRow, 'seq' | 'id'>>(
    `SELECT c.seq, c.id FROM commits c LEFT JOIN commits p ON p.seq = c.parent LEFT JOIN firstParentRun l ON l.no = c.run
      WHERE c.project = ? AND (c.depth <> IFNULL(p.depth + 1, 0) OR (c.run <> IFNULL(p.run, -1) AND l.origin IS NOT p.seq) OR l.no IS NULL)`,
    project,
  );

function placeProblems(chain: ReadChain, isChanged: IsChanged): CheckProblem[] {
  return misplaced(chain)
    .filter(({ seq }) => !isChanged('commits', seq))
    .map(({ id }) => ({ kind: 'commit', id, message: 'its run and depth do not follow from its parent' }));
}

/** The id and the digest cover parent, content, time and template (C1). */
function identityProblems(row: CommitRow): CheckProblem[] {
  const problem = (message: string): CheckProblem[] => [{ kind: 'commit', id: row.id, message }];
  if (row.hash === null) return problem('its object is lost');
  if (row.parent !== null && row.parentId === null)
    return problem('its parent is lost: contexts that need it cannot be materialized; import the file that it came from again');
  if (!isDigestOfRow(row, row.parentId)) return problem('its id is not that of its parent, content, time and template: one of them has changed');
  if (!isIdOf(row.id, row.digest)) return problem('its id has changed');
  return [];
}

/** Compares counts and outline with the content. Damaged content is reported with its object. */
function contentProblems(chain: ReadChain, row: CommitRow): CheckProblem[] {
  const format = findFormat(row.format);
  const content = format && orUndefined(() => chain.artifacts.read(row.artifact));
  if (!content) return [];
  const outline = outlineOfParsed(format.parse(content));
  const counts = countOutline(outline);
  const messages = row.type === 'compaction' ? 0 : counts.messages;
  const context = row.tokenCount + (row.type === 'delta' ? (row.parentTokens ?? 0) : 0);
  const isRooted = row.parent === null || row.parentTokens !== null;
  const problems: CheckProblem[] = [];
  const add = (kind: CheckProblem['kind'], message: string): void => void problems.push({ kind, id: row.id, message });
  // Token counts may come from another tokenizer, so they are not compared with the content.
  if (row.messageCount !== messages) add('counts', `it says ${row.messageCount} messages, its content has ${messages}`);
  if (isRooted && row.contextTokens !== context)
    add('counts', `it says ${row.contextTokens} tokens of context; the commits before it and its own content have ${context}`);
  if (!isStoredOutline(chain, row, JSON.stringify(outline))) add('outline', 'the stored outline is not that of its content');
  return problems;
}

/** Whether the stored outline is correct. True also if none is stored, because a missing outline is built when it is needed. */
function isStoredOutline(chain: ReadChain, row: CommitRow, outline: string): boolean {
  try {
    const stored = storedOutline(chain, row);
    return !stored || JSON.stringify(stored) === outline;
  } catch {
    return false;
  }
}

/** The damage that a read reports, as a message. Other refusals are no damage. */
function damageIn(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    if (error.code === 'CORRUPT') return [error.message];
  }
  return [];
}
