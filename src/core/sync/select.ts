import { badRequest, type CommitSeq, type ContextId } from '../base/index.js';
import { commitAt, findCommit, type ReadChain } from '../chain/index.js';
import type { InputOf } from '../contract/index.js';
import type { Known } from './known.js';
import { objectsOf, type SentItem } from './rows.js';

/** Whether to send an item. */
export type Selected = (item: SentItem) => boolean;

/** A person's selection: sessions of a repository, commits with a tag, or a branch by its tip. */
type PushSelection = NonNullable<InputOf<'team.push'>['select']>;

/** Kinds that are sent with selected commits, and the column that names the commit. Cards, boxes and tickets are sent only with the whole project. */
const ofCommits: Readonly<Record<string, string>> = {
  context: 'digest',
  contextVersion: 'context',
  started: 'context',
  blackboard: 'context',
  modelRun: 'context',
  branchMark: 'context',
  request: 'context',
};

/** The filter of a selection: commits, ancestors and their items. Undefined, if empty, sends everything. @throws BAD_REQUEST for no match. */
export function selected(chain: ReadChain, selection: PushSelection): Selected | undefined {
  if (isEverything(selection)) return undefined;
  const digests = digestsOf(chain, selectedCommits(chain, selection));
  return ({ kind, body }) => {
    const column = ofCommits[kind];
    return column !== undefined && digests.has(String(body[column]));
  };
}

/** The filter for exactly these commits, without the items that belong to them. */
export function onlyCommits(chain: ReadChain, commits: readonly CommitSeq[]): Selected {
  const digests = digestsOf(chain, commits);
  return ({ kind, key }) => kind === 'context' && digests.has(key);
}

const isEverything = ({ repository, tag, branch }: PushSelection): boolean => repository === undefined && tag === undefined && branch === undefined;

const digestsOf = (chain: ReadChain, commits: readonly CommitSeq[]): ReadonlySet<string> =>
  new Set(commits.map((seq) => commitAt(chain, seq).digest.toString('hex')));

/** The selected commits and their ancestors, oldest first. Without a selection, all commits. @throws BAD_REQUEST if no commit matches. */
export function selectedCommits(chain: ReadChain, selection: PushSelection): CommitSeq[] {
  const { repository, tag, branch } = selection;
  const { project } = chain;
  const read = (sql: string, values: Record<string, string> = {}): CommitSeq[] => chain.db.rows<[CommitSeq]>(sql, { project, ...values }).flat();
  if (isEverything(selection)) return read('SELECT seq FROM commits WHERE project = :project ORDER BY seq');
  const ofRepository =
    'SELECT seq FROM commits WHERE +project = :project AND sessionId IN (SELECT sessionId FROM source WHERE project = :project AND cwd = :repository)';
  const withTag = `SELECT c.seq FROM commits c WHERE +c.project = :project AND (EXISTS (SELECT 1 FROM json_each(c.tags) t WHERE t.value = :tag) OR
    c.sessionId IN (SELECT m.sessionId FROM sessionMark m, json_each(m.tags) t WHERE m.project = :project AND t.value = :tag))`;
  const tips = new Set([
    ...(branch === undefined ? [] : [findCommit(chain, branch as ContextId, 'branch').seq]),
    ...(repository === undefined ? [] : read(ofRepository, { repository })),
    ...(tag === undefined ? [] : read(withTag, { tag })),
  ]);
  if (tips.size === 0) throw badRequest('select', 'No commit of this project is selected. Check the repository, tag or branch.');
  const all = new Set<CommitSeq>();
  for (const tip of tips) for (let at: CommitSeq | null = tip; at !== null && !all.has(at); at = findParent(chain, at)) all.add(at);
  return [...all].sort((a, b) => a - b);
}

const findParent = ({ db }: ReadChain, seq: CommitSeq): CommitSeq | null =>
  db.value<CommitSeq | null>('SELECT parent FROM commits WHERE seq = ?', seq) ?? null;

/** Adds to a filter: excludes items whose content was freed with deleted sessions. Versions that the hub holds stay there. */
export function withoutFreed(chain: ReadChain, known: Known, leaves: Selected | undefined): Selected | undefined {
  const all = (sql: string): Set<string> => new Set(chain.db.column<Buffer>(sql, chain.project).map((name) => name.toString('hex')));
  const objects = all("SELECT hash FROM artifact WHERE project = ? AND gone = 'deleted'");
  if (objects.size === 0) return leaves;
  const commits = all("SELECT c.digest FROM commits c JOIN artifact a ON a.no = c.artifact WHERE c.project = ? AND a.gone = 'deleted'");
  const isUnknown = (value: unknown): boolean => typeof value === 'string' && commits.has(value) && known.digest('context', value) === undefined;
  return (item) => (leaves?.(item) ?? true) && !objectsOf(item).some((hash) => objects.has(hash)) && !Object.values(item.body).flat().some(isUnknown);
}
