import { type ContextRow, earlierParent, type ReadChain } from './chain.js';
import { type Family, runList } from './families.js';
import { kept } from './kept.js';

/** The fields of a commit that graphs and lists of sessions need. */
export type FamilyCommit = Pick<
  ContextRow,
  | 'seq'
  | 'id'
  | 'parent'
  | 'run'
  | 'type'
  | 'checkpoint'
  | 'format'
  | 'template'
  | 'principal'
  | 'sessionId'
  | 'ticketId'
  | 'summary'
  | 'errors'
  | 'contextTokens'
  | 'createdAt'
> & { readonly forked: boolean };

/** Commits that only grow: until an earlier one changes or goes, only later ones are read. */
interface Known {
  readonly commits: FamilyCommit[];
  readonly runs: readonly number[];
  /** The number of changes of the project's commits that added none. */
  readonly corrections: number;
}

/** The number of bytes that a commit takes in memory, about. */
const bytesPerCommit = 500;

/** The commits of families, in recorded order. Of families that grew, only the new commits are read. */
export function commitsOf(chain: ReadChain, families: readonly Family[]): readonly FamilyCommit[] {
  const total = families.reduce((sum, { commits }) => sum + commits, 0);
  const last = families.reduce((most, family) => Math.max(most, family.last), 0);
  const runs = families.flatMap((family) => family.runs);
  const corrections = correctionsOf(chain);
  return kept(
    chain,
    'commits',
    `${runs[0]}/${families.length}`,
    `${total}/${last}/${runs.length}/${corrections}`,
    (before: Known | undefined): Known => {
      const known = new Set(runs);
      const earlier = before && before.corrections === corrections && before.runs.every((run) => known.has(run)) ? before.commits : [];
      const commits = [...earlier, ...readCommits(chain, families, earlier.at(-1)?.seq ?? 0)];
      // Families can be joined by a link that was recorded after their commits.
      return { commits: commits.length === total ? commits : readCommits(chain, families, 0), runs, corrections };
    },
    ({ commits }) => commits.length * bytesPerCommit,
  ).commits;
}

const readCommits = (chain: ReadChain, families: readonly Family[], after: number): FamilyCommit[] =>
  chain.db
    .all<Omit<FamilyCommit, 'forked'> & { readonly forked: number }>(
      `SELECT seq, id, ${earlierParent}, run, type, checkpoint, format, template, principal, sessionId, ticketId, summary, errors, contextTokens, createdAt, forked
         FROM context INDEXED BY contextRun WHERE run IN (SELECT value FROM json_each(?)) AND project = ? AND +seq > ? ORDER BY seq`,
      runList(families),
      chain.project,
      after,
    )
    .map((row) => ({ ...row, forked: row.forked === 1 }));

/** Grows when a commit is changed or removed, but not when one is added. */
const correctionsOf = ({ db, project }: ReadChain): number =>
  db.one<{ corrections: number }>("SELECT changes - total AS corrections FROM areaCount WHERE project = ? AND area = 'commits'", project)
    ?.corrections ?? 0;
