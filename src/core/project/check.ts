import { refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, type CommitSeq, type ContextId, StemmaError } from '../base/index.js';
import { type Chain, digestOf, storedOutline, wronglyListed } from '../chain/index.js';
import type { CommitType } from '../contract/index.js';
import { countsOf, findFormat, outlineOfParsed } from '../formats/index.js';
import { listSources, proveSource } from '../intake/index.js';
import { damageBehind, idOf, inWordsOf } from './damage.js';
import type { Project } from './project.js';
import { isStandIn } from './salvaged.js';

export interface Problem {
  /** What it is about; a row is one of a table, named by table and number or id. */
  readonly kind: 'database' | 'row' | 'artifact' | 'commit' | 'counts' | 'outline' | 'source';
  readonly id: string;
  readonly message: string;
  /** Of a repair: it is sound again. */
  readonly repaired?: boolean;
}

export interface CheckResult {
  readonly ok: boolean;
  readonly checked: Record<string, number>;
  readonly problems: Problem[];
}

/** Objects or commits that are looked at between two chances for others to work. */
const atOnce = 200;

/**
 * Proves what is stored, and changes nothing: pages and indexes of the database, every object against its hash, every
 * commit against its parent, its digest and its content, every imported file against what was read.
 */
export function* checkProject(project: Project): Generator<undefined, CheckResult> {
  const { chain } = project;
  const rows = changedRows(project);
  const isChanged: IsChanged = (table, row) => rows.changed.has(`${table} ${row}`);
  const problems: Problem[] = [...databaseProblems(project), ...rows.problems];
  const part = function* <T>(work: Generator<undefined, T>): Generator<undefined, T | undefined> {
    try {
      return yield* work;
    } catch (caught) {
      const error = damageBehind(project.db, caught);
      // A table that cannot be read through: the rest is looked at all the same.
      if (!(error instanceof StemmaError && error.code === 'CORRUPT')) throw error;
      problems.push({ kind: 'database', id: 'stemma.db', message: error.message });
      return undefined;
    }
  };
  const artifacts = yield* part(damagedArtifacts(chain, isChanged));
  problems.push(...(artifacts?.damaged ?? []).map((one): Problem => ({ kind: 'artifact', id: one.ref, message: one.message })));
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

export const databaseProblems = (project: Project): Problem[] =>
  orCorrupt(() => project.db.integrity().map((message) => ({ kind: 'database', id: 'stemma.db', message })));

/** Whether a row is known not to be what was written: it is told as that, and what it says is not looked into. */
type IsChanged = (table: string, row: number) => boolean;
const nothingChanged: IsChanged = () => false;

/** Rows that are not what was written, whatever column of theirs it is: summaries, titles and tags as well (S15). */
function changedRows({ db }: Project): { changed: ReadonlySet<string>; problems: Problem[] } {
  const changed = new Set<string>();
  const problems = orCorrupt(() =>
    db.changedRows().map((each): Problem => {
      changed.add(`${each.table} ${each.row}`);
      return { kind: 'row', id: idOf(each), message: inWordsOf(each) };
    }),
  );
  return { changed, problems };
}

function orCorrupt(look: () => Problem[]): Problem[] {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof StemmaError && error.code === 'CORRUPT')) throw error;
    return [{ kind: 'database', id: 'stemma.db', message: error.message }];
  }
}

function* sourceProblems(chain: Chain): Generator<undefined, { count: number; problems: Problem[] }> {
  const sources = listSources(chain);
  const problems: Problem[] = [];
  for (const source of sources) {
    problems.push(...refusal('source', source.sourceId, () => proveSource(chain, source.sourceId)));
    yield;
  }
  return { count: sources.length, problems };
}

export interface DamagedArtifact {
  readonly no: ArtifactNo;
  readonly ref: string;
  readonly message: string;
}

/** Every object that was put and does not read as its hash says. What is over its time, or in a backing store, is no damage. */
export function* damagedArtifacts(chain: Chain, isChanged = nothingChanged): Generator<undefined, { count: number; damaged: DamagedArtifact[] }> {
  const rows = chain.db.all<{ no: ArtifactNo; hash: Buffer }>(
    `SELECT no, hash FROM artifact WHERE project = ? AND key >= 0 AND (gone IS NULL OR gone = 'lost')
        AND (gone IS NOT NULL OR data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL) ORDER BY no`,
    chain.project,
  );
  chain.artifacts.forget();
  const damaged: DamagedArtifact[] = [];
  for (const [at, { no, hash }] of rows.entries()) {
    if (at % atOnce === atOnce - 1) yield;
    if (isChanged('artifact', no)) continue;
    for (const { message, code } of refusals(() => chain.artifacts.read(no)))
      if (code === 'CORRUPT') damaged.push({ no, ref: refOfHash(hash), message });
  }
  return { count: rows.length, damaged };
}

interface CommitRow {
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
  FROM context c LEFT JOIN context p ON p.seq = c.parent LEFT JOIN artifact a ON a.no = c.artifact
 WHERE c.project = ?`;

function* commitProblems(chain: Chain, isChanged: IsChanged): Generator<undefined, { count: number; problems: Problem[] }> {
  const problems = [...placeProblems(chain, isChanged), ...listProblems(chain)];
  let count = 0;
  for (let last = 0; ; ) {
    const rows = chain.db.all<CommitRow>(`${selectCommits} AND c.seq > ? ORDER BY c.seq LIMIT ${atOnce}`, chain.project, last);
    const sound = rows.filter(({ seq, artifact }) => !isChanged('context', seq) && !isChanged('artifact', artifact));
    problems.push(...sound.flatMap((row) => [...identityProblems(row), ...contentProblems(chain, row)]));
    count += rows.length;
    const end = rows.at(-1);
    if (!end) return { count, problems };
    last = end.seq;
    yield;
  }
}

/** A commit stands one deeper than its parent, in its parent's line or at the beginning of its own. */
function placeProblems(chain: Chain, isChanged: IsChanged): Problem[] {
  const wrong = chain.db.all<{ seq: CommitSeq; id: ContextId }>(
    `SELECT c.seq, c.id FROM context c LEFT JOIN context p ON p.seq = c.parent LEFT JOIN line l ON l.no = c.line
      WHERE c.project = ? AND (c.depth <> IFNULL(p.depth + 1, 0) OR (c.line <> IFNULL(p.line, -1) AND l.origin IS NOT c.parent) OR p.seq >= c.seq OR l.no IS NULL)`,
    chain.project,
  );
  return wrong
    .filter(({ seq }) => !isChanged('context', seq))
    .map(({ id }) => ({ kind: 'commit', id, message: 'its place in its line does not follow from its parent' }));
}

const listProblems = (chain: Chain): Problem[] =>
  wronglyListed(chain).map((id) => ({ kind: 'outline', id, message: 'it is not listed under its principal and time as it should be' }));

/** C1: the id and the digest are of parent, content, time and template, so that one of these cannot have changed unseen. */
function identityProblems(row: CommitRow): Problem[] {
  if (!isReadable(row) || (row.parent !== null && row.parentId === null))
    return [{ kind: 'commit', id: row.id, message: `its ${isReadable(row) ? 'parent' : 'content'} is not in the project` }];
  if (isStandIn(row.digest))
    return [{ kind: 'commit', id: row.id, message: 'it was lost with a damaged page of the database, but for its name and place' }];
  const name = nameFrom(row);
  if (name === undefined)
    return [{ kind: 'commit', id: row.id, message: 'its id is not that of its parent, content, time and template: one of them has changed' }];
  if (!row.id.startsWith(name)) return [{ kind: 'commit', id: row.id, message: `its id has changed: it was ${name}` }];
  return [];
}

/** Of a table that is looked for in another's pages, a column is anything. */
const isReadable = ({ hash, digest }: CommitRow): boolean => Buffer.isBuffer(hash) && Buffer.isBuffer(digest);

/** What a commit is called by all that it is made of; undefined where that is not what it was. */
function nameFrom(row: CommitRow): ContextId | undefined {
  const digest = digestOf({ parent: row.parentId, ref: refOfHash(row.hash as Buffer), createdAt: row.createdAt, template: row.template });
  return digest.equals(row.digest) ? (`ctx-${digest.toString('hex', 0, 4)}` as ContextId) : undefined;
}

/** Counts and outline against what the artifact holds now; damaged content is named by itself. */
function contentProblems(chain: Chain, row: CommitRow): Problem[] {
  const format = findFormat(row.format);
  const content = format && soundly(() => chain.artifacts.read(row.artifact));
  if (!content) return [];
  const outline = outlineOfParsed(format.parse(content));
  const counts = countsOf(outline);
  const messages = row.type === 'compaction' ? 0 : counts.messages;
  const context = row.tokenCount + (row.type === 'delta' ? (row.parentTokens ?? 0) : 0);
  const problems: Problem[] = [];
  // Tokens may be counted by another tokenizer: who gave them is believed.
  if (row.messageCount !== messages)
    problems.push({ kind: 'counts', id: row.id, message: `it says ${row.messageCount} messages, its content has ${messages}` });
  if (row.contextTokens !== context)
    problems.push({
      kind: 'counts',
      id: row.id,
      message: `it says ${row.contextTokens} tokens of context, those before it and its own are ${context}`,
    });
  if (!isKeptOutline(chain, row, JSON.stringify(outline)))
    problems.push({ kind: 'outline', id: row.id, message: 'the outline that is kept of its content is not the outline of it' });
  return problems;
}

/** True as well where none is kept: it is made when it is asked for. */
function isKeptOutline(chain: Chain, row: CommitRow, outline: string): boolean {
  try {
    const kept = storedOutline(chain, row.artifact, row.format);
    return !kept || JSON.stringify(kept) === outline;
  } catch {
    return false;
  }
}

function refusal(kind: Problem['kind'], id: string, read: () => unknown): Problem[] {
  return refusals(read)
    .filter(({ code }) => code === 'CORRUPT')
    .map(({ message }) => ({ kind, id, message }));
}

function refusals(read: () => unknown): StemmaError[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof StemmaError) return [error];
    throw error;
  }
}

export function soundly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Content that is gone is told by the object.
    if (error instanceof StemmaError) return undefined;
    throw error;
  }
}
