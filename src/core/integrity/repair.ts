import { type ArtifactNo, type CommitSeq, type ContextId, firstOf, orUndefined } from '../base/index.js';
import { forgetGraph, type ReadChain } from '../chain/index.js';
import { sourceContent } from '../import/index.js';
import { dropSearchIndex } from '../search/index.js';
import { forgetClusters } from '../sessions/index.js';
import { type ChangedRow, canRestoreRows, type RebuiltFile } from '../store/index.js';
import { bringCommits, importAgain, type Scratch } from './again.js';
import {
  type CheckedStore,
  type CheckProblem,
  type CheckResult,
  checkProject,
  type DamagedArtifact,
  damagedArtifacts,
  databaseDamage,
} from './check.js';
import { relinkOrphans, restoreNames } from './names.js';
import { restoreObjectRows, restoreObjects } from './objects.js';
import { dropDerived, restoreCounts, restorePlaces } from './places.js';

export type { Scratch } from './again.js';

interface RepairOptions {
  /** Paths of backups of the database, newest first. */
  readonly backups: readonly string[];
  /** The rows that were rebuilt and lost when the project was opened. */
  readonly rebuilt?: RebuiltFile | undefined;
  readonly scratch: () => Scratch;
  /** Calls a function that replaces the file when no other connection of this process has it open. */
  readonly replacing: <Result>(replace: () => Result) => Generator<undefined, Result>;
}

/**
 * Restores what it can and changes nothing that is intact. Rows come from the newest backup that has them, objects and commits from imported
 * files, and objects from replicas and backups. A changed row that none of them has stays as it is and stays reported. The result names each
 * lost object with the commits and files that need it.
 */
export function* repairProject(
  store: CheckedStore,
  { backups, rebuilt: before, scratch, replacing }: RepairOptions,
): Generator<undefined, CheckResult> {
  const found = yield* checkProject(store);
  if (found.ok && !before) return found;
  const { chain, db } = store;
  const isUnreadable = databaseDamage(store).length > 0;
  const isReplaced = isUnreadable || (!before && canRestoreRows(backups, changedRowsOf(store)));
  const rebuilt = isReplaced ? yield* replacing(() => db.rebuild(backups)) : before;
  if (rebuilt) forget(chain);
  yield;
  // A lost object may be intact again because a person put its pack back.
  chain.artifacts.tryAgain();
  db.unenforced(() => chain.artifacts.giveUpUnplaced());
  const { damaged } = yield* damagedArtifacts(chain);
  const unverified = changedRowsOf(store);
  const commits = new Set(unverified.filter(({ table }) => table === 'commits').map(({ row }) => Number(row) as CommitSeq));
  const sums = sumsOf(chain, unverified);
  const restored = yield* restoreContent(store, { damaged, commits, rebuilt, backups, scratch });
  const lost = damaged.filter(({ no }) => !restored.objects.has(no) && !chain.artifacts.copies.leaveToReplicas(no));
  yield;
  db.unenforced(() => {
    for (const { no } of lost) chain.artifacts.giveUp(no);
    // A lost cached result can be rebuilt from its chain.
    db.run("DELETE FROM materialized WHERE artifact IN (SELECT no FROM artifact WHERE gone = 'lost')");
    restoreNames(chain, commits);
    relinkOrphans(chain);
    restorePlaces(chain);
    // Nothing marks a changed row of the index.
    dropSearchIndex(chain);
    forgetClusters(chain);
    dropDerived(chain, selectIds(found.problems, 'outline'));
    restoreCounts(chain, selectIds(found.problems, 'counts'));
  });
  const dropped = dropDangling(store);
  const isRestored = ({ table, row }: KeptSum): boolean => table === 'commits' && restored.commits.has(Number(row) as CommitSeq);
  const left = sums.filter((sum) => !isRestored(sum));
  settleSums(store, left);
  forget(chain);
  const after = yield* checkProject(store);
  const problems = [...(rebuilt ? rebuiltProblems(chain, rebuilt) : []), ...dropped, ...repairedProblems(found, after)];
  return {
    ...after,
    ok: after.ok && problems.every(({ repaired }) => repaired),
    problems: [...problems, ...after.problems.map((problem) => withAdvice(chain, problem, lost))],
  };
}

const changedRowsOf = ({ db }: CheckedStore): ChangedRow[] => orUndefined(() => db.changedRows()) ?? [];

const selectIds = (problems: readonly CheckProblem[], kind: CheckProblem['kind']): ContextId[] =>
  problems.filter((problem) => problem.kind === kind).map(({ id }) => id as ContextId);

function forget(chain: ReadChain): void {
  chain.artifacts.forget();
  chain.outlines.clear();
  chain.parsed.clear();
  chain.placed.clear();
  forgetGraph(chain);
}

interface Damage extends Omit<RepairOptions, 'replacing'> {
  readonly damaged: readonly DamagedArtifact[];
  readonly commits: ReadonlySet<CommitSeq>;
}

interface Restored {
  readonly objects: ReadonlySet<ArtifactNo>;
  readonly commits: ReadonlySet<CommitSeq>;
}

/** Restores objects and commits from their sources. Returns what is intact again. */
function* restoreContent({ chain, db }: CheckedStore, { damaged, commits, rebuilt, backups, scratch }: Damage): Generator<undefined, Restored> {
  const lostCommits = rebuilt?.lostCommits ?? new Map<string, number>();
  const lostRows = rebuilt?.unread.includes('commits') || hasOrphans(chain);
  const lostObjects = rebuilt?.lostObjects ?? new Map<number, number>();
  if (damaged.length + lostCommits.size + lostObjects.size + commits.size === 0 && !lostRows) return { objects: new Set(), commits: new Set() };
  const again = scratch();
  try {
    yield* importAgain(chain, again);
    yield* restoreObjectRows(chain, lostObjects, again.chain);
    const objects = yield* restoreObjects(chain, damaged, backups, again.chain);
    return { objects, commits: db.unenforced(() => bringCommits(chain, again.chain, { lostCommits, lostRows }, commits)) };
  } finally {
    again.close();
  }
}

/** Whether a commit's parent is missing. */
const hasOrphans = (chain: ReadChain): boolean =>
  chain.db.one('SELECT 1 FROM commits WHERE parent IS NOT NULL AND parent NOT IN (SELECT seq FROM commits) LIMIT 1') !== undefined;

interface KeptSum extends ChangedRow {
  readonly sum: number | null;
}

/** The stored checksums of changed rows. */
const sumsOf = (chain: ReadChain, rows: readonly ChangedRow[]): KeptSum[] =>
  rows.flatMap((row) => {
    const stored = /^-?\d+$/.test(row.row)
      ? chain.db.one<{ sum: number | null }>(`SELECT rowSum AS sum FROM "${row.table}" WHERE rowid = ?`, Number(row.row))
      : undefined;
    return stored ? [{ ...row, sum: stored.sum }] : [];
  });

/** For each table, whether something other than the checksum proves that a row is right. */
const provedBy: Readonly<Record<string, (store: CheckedStore, no: number) => boolean>> = {
  // Runs and depths were verified against the parents.
  firstParentRun: () => true,
  project: ({ chain, projectId }, no) => chain.db.one('SELECT 1 FROM project WHERE no = ? AND projectId = ?', no, projectId) !== undefined,
  artifact: ({ chain }, no) => orUndefined(() => chain.artifacts.read(no as ArtifactNo)) !== undefined,
  pack: ({ chain }, no) =>
    chain.db.one("SELECT 1 FROM artifact WHERE gone = 'lost' AND (pack = ? OR block IN (SELECT no FROM block WHERE pack = ?))", no, no) === undefined,
  block: ({ chain }, no) => chain.db.one("SELECT 1 FROM artifact WHERE gone = 'lost' AND block = ?", no) === undefined,
  source: ({ chain }, no) => {
    const sourceId = chain.db.value<string>('SELECT sourceId FROM source WHERE no = ?', no);
    return sourceId !== undefined && orUndefined(() => sourceContent(chain, sourceId)) !== undefined;
  },
};

/**
 * Gives proved rows a new checksum. The others get their former checksum back, which they match again if this repair restored the changed
 * column. A statement that sets any other column recomputes the checksum; one that sets only the checksum does not.
 */
function settleSums(store: CheckedStore, sums: readonly KeptSum[]): void {
  const { db } = store;
  db.transaction(() => {
    for (const { table, row, sum } of sums)
      if (provedBy[table]?.(store, Number(row))) db.run(`UPDATE "${table}" SET no = no WHERE no = ?`, Number(row));
      else db.run(`UPDATE "${table}" SET rowSum = ? WHERE rowid = ?`, sum, Number(row));
  });
}

/** Tables whose rows are rebuilt when they are needed, or when a file is imported again. */
const isDerived = /^(record|started|materialized)$/;

/** Deletes rows that refer to lost rows; commits stay. */
function dropDangling(store: CheckedStore): CheckProblem[] {
  const { db } = store;
  if (!db.dangling().some(({ table }) => table !== 'commits')) return [];
  const links = db.all<{ table: string; column: string; to: string; target: string | null }>(
    `SELECT m.name AS "table", f."from" AS "column", f."table" AS "to", f."to" AS target FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
      WHERE m.type = 'table' AND m.name <> 'commits'`,
  );
  const dropped = new Map<string, number>();
  db.unenforced(() => {
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const { table, column, to, target } of links) {
        const { changes } = db.run(
          `DELETE FROM "${table}" WHERE "${column}" IS NOT NULL AND "${column}" NOT IN (SELECT ${target ? `"${target}"` : 'rowid'} FROM "${to}")`,
        );
        if (changes > 0) dropped.set(table, (dropped.get(table) ?? 0) + changes);
        hasChanged ||= changes > 0;
      }
    }
  });
  return [...dropped]
    .filter(([table]) => !isDerived.test(table))
    .map(([table, rows]) => ({
      kind: 'database',
      id: table,
      message: `${rows} rows of ${table} referred to rows that are lost, and are lost with them`,
    }));
}

/** Reports the losses when the database was rebuilt, and the rows that came from backups. */
function rebuiltProblems(chain: ReadChain, { unread, lost, fromBackups, lostCommits, path }: RebuiltFile): CheckProblem[] {
  const kept = `the damaged database is kept at ${path}`;
  const isLost = ([id]: readonly [string, number]): boolean => !chain.db.one('SELECT 1 FROM commits WHERE project = ? AND id = ?', chain.project, id);
  const restored = [...fromBackups].map(([table, rows]) => `${rows} of ${table}`);
  const from = restored.length > 0 ? ` from what could be read and from backups (rows: ${restored.join(', ')})` : '';
  const asOf = unread.filter((table) => !lost.includes(table));
  const later = asOf.length > 0 ? `; rows of ${asOf.join(', ')} that were written after the backup may be missing` : '';
  return [
    { kind: 'database', id: 'stemma.db', message: `the database was rebuilt${from}${later}; ${kept}`, repaired: true },
    ...lost
      .filter((table) => table !== 'commits' || lostCommits.size === 0)
      .map((table): CheckProblem => ({ kind: 'database', id: table, message: `rows of ${table} could not be read and are in no backup; ${kept}` })),
    ...[...lostCommits]
      .filter(isLost)
      .map(([id]): CheckProblem => ({ kind: 'commit', id, message: `it is lost with its row of the database; ${kept}` })),
  ];
}

function repairedProblems(before: CheckResult, after: CheckResult): CheckProblem[] {
  const left = new Set(after.problems.map(({ kind, id }) => `${kind} ${id}`));
  return before.problems
    .filter(({ kind, id }) => !left.has(`${kind} ${id}`))
    .map((problem) => ({ ...problem, message: `${problem.message}; it is intact again`, repaired: true }));
}

/** Adds to an unsolved problem its consequences and what a person can do. */
function withAdvice(chain: ReadChain, problem: CheckProblem, lost: readonly DamagedArtifact[]): CheckProblem {
  if (problem.kind === 'row')
    return {
      ...problem,
      message: `${problem.message}. No backup and no imported file has it. It stays as it is and is reported until it is written again${lostContentOf(chain, problem.id)}`,
    };
  const artifact = problem.kind === 'artifact' ? lost.find(({ ref }) => ref === problem.id) : undefined;
  return artifact ? { ...problem, message: `it is lost, and with it ${dependentsOf(chain, artifact.no)}` } : problem;
}

/** The content that is lost if the changed row is that of an object. `row` is the name of any row. */
function lostContentOf(chain: ReadChain, row: string): string {
  const [, no] = /^artifact (\d+)$/.exec(row) ?? [];
  if (no === undefined || orUndefined(() => chain.artifacts.read(Number(no) as ArtifactNo)) !== undefined) return '';
  return `. Lost with it: ${dependentsOf(chain, Number(no) as ArtifactNo)}`;
}

const maxNamed = 20;

/** The commits and files that need an object, by name. */
function dependentsOf(chain: ReadChain, no: ArtifactNo): string {
  const commits = chain.db.column<ContextId>('SELECT id FROM commits WHERE artifact = ? AND project = ?', no, chain.project);
  const select = "SELECT DISTINCT s.path FROM source s, json_each(s.pieces) piece WHERE s.project = ? AND json_extract(piece.value, '$[0]') = ?";
  const files = chain.db.column<string>(select, chain.project, no);
  const parts = [
    ...(commits.length ? [`the content of ${firstOf(commits, maxNamed)}`] : []),
    ...(files.length ? [`a part of ${firstOf(files, maxNamed)}`] : []),
  ];
  return parts.length ? parts.join(' and ') : 'nothing that a commit or an imported file names';
}
