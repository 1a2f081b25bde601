import type { CommitSeq } from '../base/index.js';
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
  | 'errors'
  | 'contextTokens'
  | 'createdAt'
> & { readonly forked: boolean };

/** A commit with its summary, from which lists of sessions take titles. */
export type SummarizedCommit = FamilyCommit & Pick<ContextRow, 'summary'>;

/** The commits of a family. Until an earlier one changes or goes, only later ones are read. */
interface Known {
  readonly commits: readonly SummarizedCommit[];
  readonly runs: readonly number[];
  /** The number of changes of the project's commits that added none. */
  readonly corrections: number;
}

const bytesPerCommit = 500;
const bytesOf = ({ commits }: Known): number => commits.reduce((sum, { summary }) => sum + bytesPerCommit + 2 * (summary?.length ?? 0), 0);
/** Families with fewer commits are read anew each time, which takes less than to keep all of them. */
const worthKeeping = 256;

/** Grows when a commit is changed or removed, but not when one is added. */
export const correctionsOf = ({ db, project }: ReadChain): number =>
  db.value<number>("SELECT changes - total FROM areaCount WHERE project = ? AND area = 'commits'", project) ?? 0;

/** The commits of families, in recorded order. Of one large family that grew, only the new commits are read. */
export function commitsOf(chain: ReadChain, families: readonly Family[]): readonly SummarizedCommit[] {
  const [family] = families;
  if (family === undefined || families.length > 1 || family.commits < worthKeeping) return readSummarized(chain, families);
  const corrections = correctionsOf(chain);
  const state = `${family.commits}/${family.last}/${family.runs}/${corrections}`;
  const read = (before: Known | undefined): Known => ({ commits: grown(chain, family, before, corrections), runs: family.runs, corrections });
  return kept(chain, 'commits', String(family.runs[0]), state, read, bytesOf).commits;
}

/** The commits of a family that were known, and later ones; all of them anew if they do not add up, because a link was recorded after them. */
function grown(chain: ReadChain, family: Family, before: Known | undefined, corrections: number): readonly SummarizedCommit[] {
  const runs = new Set(family.runs);
  if (before?.corrections !== corrections || !before.runs.every((run) => runs.has(run))) return readSummarized(chain, [family]);
  const commits = [...before.commits, ...readSummarized(chain, [family], before.commits.at(-1)?.seq)];
  return commits.length === family.commits ? commits : readSummarized(chain, [family]);
}

/** The commits of families from the database, in recorded order, without their summaries. */
export const readCommits = (chain: ReadChain, families: readonly Family[]): readonly FamilyCommit[] => readRows<FamilyCommit>(chain, families, '');

const readSummarized = (chain: ReadChain, families: readonly Family[], after?: CommitSeq): readonly SummarizedCommit[] =>
  readRows<SummarizedCommit>(chain, families, 'summary,', after);

const readRows = <Commit extends FamilyCommit>(chain: ReadChain, families: readonly Family[], more: string, after = 0): readonly Commit[] =>
  chain.db
    .all<Omit<Commit, 'forked'> & { readonly forked: number }>(
      `SELECT seq, id, ${earlierParent}, run, type, checkpoint, format, template, principal, sessionId, ticketId, errors, contextTokens, createdAt, ${more} forked
         FROM commits INDEXED BY contextRun WHERE run IN (SELECT value FROM json_each(?)) AND project = ? AND +seq > ? ORDER BY seq`,
      [runList(families), chain.project, after],
    )
    .map((row) => ({ ...row, forked: row.forked === 1 }) as Commit);
