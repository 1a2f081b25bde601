import { refOfHash } from '../artifacts/index.js';
import type { ArtifactNo, CommitSeq, ContextId } from '../base/index.js';
import { StemmaError } from '../base/index.js';
import { getSource, listSources } from '../intake/index.js';
import type { Project } from './project.js';

export interface Problem {
  readonly kind: string;
  readonly id: string;
  readonly message: string;
}

export interface CheckResult {
  readonly ok: boolean;
  readonly checked: Record<string, number>;
  readonly problems: Problem[];
}

/** Proves what is stored: the database's own pages, every object against its hash, every commit's place, every imported file. */
export function checkProject(project: Project): CheckResult {
  const problems = [...databaseProblems(project)];
  const artifacts = project.db.all<{ no: ArtifactNo; hash: Buffer }>(
    'SELECT no, hash FROM artifact WHERE project = ? ORDER BY no',
    project.chain.project,
  );
  for (const { no, hash } of artifacts) problems.push(...refusal('artifact', refOfHash(hash), () => project.chain.artifacts.read(no)));
  const commits = commitProblems(project);
  problems.push(...commits.problems);
  const sources = listSources(project.chain);
  for (const source of sources) problems.push(...refusal('source', source.sourceId, () => getSource(project.chain, source.sourceId)));
  return { ok: problems.length === 0, checked: { artifacts: artifacts.length, commits: commits.count, sources: sources.length }, problems };
}

const databaseProblems = (project: Project): Problem[] => project.db.integrity().map((message) => ({ kind: 'database', id: 'stemma.db', message }));

/** A commit stands one deeper than its parent, in its parent's line or at the beginning of its own. */
function commitProblems(project: Project): { count: number; problems: Problem[] } {
  const wrong = project.db.all<{ id: ContextId; seq: CommitSeq }>(
    `SELECT c.id, c.seq FROM context c LEFT JOIN context p ON p.seq = c.parent JOIN line l ON l.no = c.line
      WHERE c.project = ? AND (c.depth <> IFNULL(p.depth + 1, 0) OR (c.line <> IFNULL(p.line, -1) AND l.origin IS NOT c.parent) OR p.seq >= c.seq)`,
    project.chain.project,
  );
  const count = project.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM context WHERE project = ?', project.chain.project)?.count ?? 0;
  return { count, problems: wrong.map(({ id }) => ({ kind: 'commit', id, message: 'its place in its line does not follow from its parent' })) };
}

function refusal(kind: string, id: string, read: () => unknown): Problem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof StemmaError) return [{ kind, id, message: error.message }];
    throw error;
  }
}
