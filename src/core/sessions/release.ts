import type { Released } from '../artifacts/index.js';
import { type CommitSeq, notFound } from '../base/index.js';
import { hiddenCommits, type ReadChain, type WriteChain } from '../chain/index.js';
import { dropSearchIndex } from '../search/index.js';
import { forgetClusters } from './stored.js';

const hidden = '(SELECT seq FROM temp.hiddenCommit)';
const sessions = '(SELECT sessionId FROM temp.deletedSession)';

const source = `sessionId IN ${sessions} OR (sessionId IS NULL AND json_array_length(tips) > 0
  AND NOT EXISTS (SELECT 1 FROM json_each(tips) t WHERE t.value NOT IN ${hidden}))`;
/** Calls to release. A call stays if its commit stays, because another session may continue the deleted one. */
const request = `(conversation IN (SELECT no FROM requestConversation WHERE sessionId IN ${sessions} OR source IN (SELECT no FROM source WHERE ${source}))
  AND (context IS NULL OR context IN ${hidden})
  AND NOT EXISTS (SELECT 1 FROM record r WHERE r.project = request.project AND r.record = request.replyRecord AND r.context NOT IN ${hidden}))`;

/** The rows of deleted sessions and branches, as conditions. They need the tables that {@link releaseDeleted} fills. */
const rows: ReadonlyMap<string, string> = new Map([
  ['commits', `seq IN ${hidden}`],
  ['modelRun', `context IN ${hidden}`],
  ['source', source],
  ['request', request],
  [
    'requestPage',
    `source IN (SELECT no FROM source WHERE ${source})
      AND NOT EXISTS (SELECT 1 FROM request JOIN requestConversation c ON c.no = request.conversation WHERE c.source = requestPage.source AND NOT ${request})`,
  ],
  ['requestShape', `NOT EXISTS (SELECT 1 FROM request WHERE request.shape = requestShape.no AND NOT ${request})`],
]);

/**
 * The rows of deleted sessions and branches, for a garbage collection that frees their content. Their commits stay with times and counts. Their
 * content and the texts derived from it are removed. Call it inside a transaction.
 */
export function releaseDeleted(chain: WriteChain): Released {
  const { db, project } = chain;
  db.run('CREATE TEMP TABLE IF NOT EXISTS hiddenCommit (seq INTEGER PRIMARY KEY)');
  db.run('CREATE TEMP TABLE IF NOT EXISTS deletedSession (sessionId TEXT PRIMARY KEY)');
  db.run('DELETE FROM temp.hiddenCommit');
  db.run('DELETE FROM temp.deletedSession');
  db.run('INSERT INTO temp.hiddenCommit SELECT value FROM json_each(?)', JSON.stringify([...hiddenCommits(chain, { archived: true })]));
  db.run('INSERT INTO temp.deletedSession SELECT sessionId FROM sessionMark WHERE project = ? AND deletedAt IS NOT NULL', project);
  const deletions = 'SELECT deletedAt FROM sessionMark WHERE project = :project UNION ALL SELECT deletedAt FROM branchMark WHERE project = :project';
  const at = db.value<number | null>(`SELECT MAX(deletedAt) FROM (${deletions})`, { project });
  return { rows, at: at ?? 0, count: (doomed) => countSessions(chain, doomed), onFreed: () => dropTexts(chain) };
}

/** Deleted sessions that lose content. Those that were deleted together, such as a session with its subagents, count as one. */
const countSessions = (chain: ReadChain, doomed: string): number =>
  chain.db.value<number>(
    `SELECT COUNT(DISTINCT m.deletedAt) FROM sessionMark m JOIN commits c ON c.project = m.project AND (c.sessionId = m.sessionId OR c.id = m.sessionId)
      WHERE m.project = ? AND m.deletedAt IS NOT NULL AND c.seq IN ${hidden} AND c.artifact IN (SELECT no FROM artifact WHERE ${doomed})`,
    chain.project,
  ) ?? 0;

const isFreed = "artifact IN (SELECT no FROM artifact WHERE gone = 'deleted')";

function dropTexts(chain: WriteChain): void {
  const { db, project } = chain;
  const freed = `(SELECT seq FROM commits WHERE project = ? AND seq IN ${hidden} AND ${isFreed})`;
  db.run(`DELETE FROM contextVersion WHERE context IN ${freed}`, project);
  db.run(`UPDATE usageCall SET prompt = NULL, does = NULL WHERE context IN ${freed}`, project);
  for (const table of ['usageTool', 'usageBranch']) db.run(`DELETE FROM ${table} WHERE context IN ${freed}`, project);
  // Titles and commands stand in what is stored of clusters and in findings.
  forgetClusters(chain);
  db.run(`UPDATE commits SET summary = NULL WHERE seq IN ${freed}`, project);
  db.run(`UPDATE source SET title = NULL WHERE project = ? AND (${source})`, project);
  // Words cannot be removed from the index without the original text, so the whole index is dropped. Stemma fills it again while idle.
  dropSearchIndex(chain);
}

/** Restores a deleted session or branch. @throws NOT_FOUND if some of its content was freed */
export function bringBack(chain: ReadChain, name: string, id: string, unmark: () => void): void {
  const before = hiddenCommits(chain, { archived: true });
  unmark();
  const after = hiddenCommits(chain, { archived: true });
  const freed = chain.db.column<CommitSeq>(`SELECT seq FROM commits WHERE +project = ? AND ${isFreed}`, chain.project);
  if (freed.some((seq) => before.has(seq) && !after.has(seq)))
    throw notFound(id, `Cannot bring back ${name}: its content was freed. If its agent still has the file, import that into another project.`, {
      reason: 'deleted',
    });
}
