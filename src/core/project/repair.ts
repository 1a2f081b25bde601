import { refOf } from '../artifacts/index.js';
import { type ArtifactNo, type CommitSeq, type ContextId, StemmaError } from '../base/index.js';
import { type Chain, dropList, outlineOf } from '../chain/index.js';
import type { CommitType } from '../contract/index.js';
import { countsOf, findFormat } from '../formats/index.js';
import { contentsOnDisk } from '../intake/index.js';
import type { Salvage } from '../store/index.js';
import { type CheckResult, checkProject, type DamagedArtifact, damagedArtifacts, databaseProblems, type Problem, soundly } from './check.js';
import { inWordsOf } from './damage.js';
import type { Project } from './project.js';
import { standIns } from './salvaged.js';

/**
 * Makes again what can be made again out of what is sound: indexes, places and outlines of commits, counts, and objects
 * that an imported file or a copy still holds. What cannot be is set apart, so that nothing reads it as sound, and named
 * with what it takes with it.
 */
export function* repairProject(project: Project): Generator<undefined, CheckResult> {
  const before = yield* checkProject(project);
  if (before.ok) return before;
  const { chain, lost: lostBefore } = project;
  const salvaged = mendDatabase(project, before.problems);
  const lostRows = new Set(salvaged.lost.flatMap(({ table, known }) => known.map((row) => inWordsOf({ table, row: String(row) }))));
  yield;
  // What was given up once may be whole again: somebody put a pack back.
  chain.artifacts.tryAgain();
  const { damaged } = yield* damagedArtifacts(chain);
  const restored = yield* restoreObjects(chain, damaged);
  const lost = damaged.filter(({ no }) => !restored.has(no) && !chain.artifacts.copies.leaveToTiers(no));
  for (const { no } of lost) chain.artifacts.giveUp(no);
  yield;
  chain.db.transaction(() => {
    replace(chain);
    dropOutlines(chain, before.problems);
    dropList(chain);
    recount(chain, before.problems);
  });
  chain.outlines.clear();
  chain.parsed.clear();
  chain.placed.clear();
  const after = yield* checkProject(project);
  const left = new Set(after.problems.map(({ kind, id }) => `${kind} ${id}`));
  const repaired = before.problems
    .filter(({ kind, id, message }) => !left.has(`${kind} ${id}`) && !lostRows.has(message))
    .map((problem): Problem => ({ ...problem, message: `${problem.message}; it is sound again`, repaired: true }));
  return {
    ...after,
    problems: [...lostBefore, ...salvaged.problems, ...repaired, ...after.problems.map((problem) => withLoss(chain, problem, lost))],
  };
}

/**
 * Rows of which one byte has changed are put right where they are. What has other damage is never written to: all that is sound in it is
 * written anew.
 */
function mendDatabase(project: Project, problems: readonly Problem[]): { problems: Problem[]; lost: Salvage['lost'] } {
  const nothing = { problems: [], lost: [] };
  if (!problems.some(({ kind }) => kind === 'database' || kind === 'row')) return nothing;
  // Pages that are of no tree may be those of one that the schema does not name any more, or where it does not begin.
  if (problems.some(({ message }) => /never used|^the definition of/.test(message))) project.db.mendSchema();
  if (databaseProblems(project).length === 0 && orFalse(() => project.db.mendRows())) return nothing;
  const salvage = project.db.salvage();
  return { problems: standIns(project.chain, salvage), lost: salvage.lost };
}

function orFalse(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StemmaError && error.code === 'CORRUPT')) throw error;
    return false;
  }
}

/** Takes sound copies of damaged objects from where there are any: files on disk, and contexts that were stored whole. */
function* restoreObjects(chain: Chain, damaged: readonly DamagedArtifact[]): Generator<undefined, Set<ArtifactNo>> {
  const wanted = new Map(damaged.map(({ no, ref }) => [ref, no]));
  const restored = new Set<ArtifactNo>();
  const offer = (content: Uint8Array): void => {
    const ref = refOf(content);
    const no = wanted.get(ref) ?? wanted.get(beginningOf(ref));
    if (no === undefined || restored.has(no)) return;
    chain.artifacts.restore(no, content);
    restored.add(no);
  };
  if (wanted.size === 0) return restored;
  for (const content of contentsOnDisk(chain, new Set(wanted.values()))) {
    offer(content);
    yield;
  }
  return restored;
}

/** The ref of an object of which only the beginning is known, as a salvage leaves it. */
const beginningOf = (ref: string): string => `${ref.slice(0, 'blake3:'.length + 12)}${'0'.repeat(52)}`;

/** Lines and depths of all commits again, from what each names as its parent. */
function replace(chain: Chain): void {
  const wrong = chain.db.one(
    `SELECT 1 FROM context c LEFT JOIN context p ON p.seq = c.parent LEFT JOIN line l ON l.no = c.line
      WHERE c.project = ? AND (c.depth <> IFNULL(p.depth + 1, 0) OR (c.line <> IFNULL(p.line, -1) AND l.origin IS NOT c.parent) OR l.no IS NULL) LIMIT 1`,
    chain.project,
  );
  if (!wrong) return;
  const places = new Map<CommitSeq, { line: number; depth: number; goesOn: boolean }>();
  for (const { seq, parent } of chain.db.all<{ seq: CommitSeq; parent: CommitSeq | null }>(
    'SELECT seq, parent FROM context WHERE project = ? ORDER BY seq',
    chain.project,
  )) {
    const before = parent === null ? undefined : places.get(parent);
    const isNext = before !== undefined && !before.goesOn;
    if (isNext) before.goesOn = true;
    const line = isNext ? before.line : chain.db.run('INSERT INTO line (project, origin) VALUES (?, ?)', chain.project, parent).rowId;
    const place = { line, depth: (before?.depth ?? -1) + 1, goesOn: false };
    places.set(seq, place);
    chain.db.run('UPDATE context SET line = ?, depth = ? WHERE seq = ?', place.line, place.depth, seq);
  }
  chain.db.run('DELETE FROM line WHERE project = ? AND no NOT IN (SELECT line FROM context)', chain.project);
}

const commitsOf = (problems: readonly Problem[], kind: Problem['kind']): ContextId[] =>
  problems.filter((problem) => problem.kind === kind).map(({ id }) => id as ContextId);

function dropOutlines(chain: Chain, problems: readonly Problem[]): void {
  for (const id of commitsOf(problems, 'outline'))
    chain.db.run('DELETE FROM outline WHERE artifact = (SELECT artifact FROM context WHERE project = ? AND id = ?)', chain.project, id);
}

/** Messages by what content has now, and tokens of contexts by those of their commits. */
function recount(chain: Chain, problems: readonly Problem[]): void {
  const wrong = new Set(commitsOf(problems, 'counts'));
  if (wrong.size === 0) return;
  const totals = new Map<CommitSeq, number>();
  for (const row of chain.db.all<{
    seq: CommitSeq;
    id: ContextId;
    parent: CommitSeq | null;
    type: CommitType;
    artifact: ArtifactNo;
    format: string;
    tokenCount: number;
  }>('SELECT seq, id, parent, type, artifact, format, tokenCount FROM context WHERE project = ? ORDER BY seq', chain.project)) {
    const total = row.tokenCount + (row.type === 'delta' && row.parent !== null ? (totals.get(row.parent) ?? 0) : 0);
    totals.set(row.seq, total);
    chain.db.run('UPDATE context SET contextTokens = ? WHERE seq = ? AND contextTokens <> ?', total, row.seq, total);
    if (!wrong.has(row.id) || !findFormat(row.format)) continue;
    const counts = soundly(() => countsOf(outlineOf(chain, row.artifact, row.format)));
    if (!counts) continue;
    chain.db.run(
      'UPDATE context SET messageCount = ?, entries = ?, errors = ? WHERE seq = ?',
      row.type === 'compaction' ? 0 : counts.messages,
      counts.entries,
      counts.errors,
      row.seq,
    );
  }
}

const namedAtMost = 20;

/** What is lost with an object: the commits and files that it was part of, by name. */
function withLoss(chain: Chain, problem: Problem, lost: readonly DamagedArtifact[]): Problem {
  const artifact = problem.kind === 'artifact' ? lost.find(({ ref }) => ref === problem.id) : undefined;
  if (!artifact) return problem;
  const commits = chain.db.all<{ id: ContextId }>('SELECT id FROM context WHERE artifact = ? AND project = ?', artifact.no, chain.project);
  const files = chain.db.all<{ path: string }>(
    "SELECT DISTINCT s.path FROM source s, json_each(s.pieces) piece WHERE s.project = ? AND json_extract(piece.value, '$[0]') = ?",
    chain.project,
    artifact.no,
  );
  const list = (names: readonly string[]): string =>
    `${names.slice(0, namedAtMost).join(', ')}${names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : ''}`;
  const parts = [
    ...(commits.length ? [`the content of ${list(commits.map(({ id }) => id))}`] : []),
    ...(files.length ? [`a part of ${list(files.map(({ path }) => path))}`] : []),
  ];
  return { ...problem, message: `it is lost, and with it ${parts.length ? parts.join(' and ') : 'nothing that a commit or an imported file names'}` };
}
