import { catchUpTools, countTools } from '../analysis/index.js';
import { type Held, refOfHash } from '../artifacts/index.js';
import type { ArtifactNo, CommitSeq } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { countCalls, prepareUsage } from '../usage/index.js';
import { noteParts } from './commits.js';
import type { Hub } from './hub.js';
import { fetchObjectsOf } from './on-demand.js';

/**
 * Counts the calls and tool calls of commits whose contents the hub holds: fetches what a session and the commits before it contain, counts them, and
 * goes on with the next session. A later call reads only sessions with new commits.
 * @param free frees the contents that were fetched. It gets the number of their bytes.
 */
export async function countOnHub(chain: WriteChain, hub: Hub, free: (bytes: number) => void): Promise<void> {
  // What is here already, and every commit without its content.
  await prepareUsage(chain);
  for (const _ of catchUpTools(chain)) await undefined;
  const { db, project } = chain;
  // Facts that were begun anew, or by another version, have counted nothing of what was freed.
  const progress = `on hub ${readDerivedProgress(chain, 'usage version')} ${readDerivedProgress(chain, 'usage tools version')}`;
  const from = readDerivedProgress(chain, progress);
  const sessions = db.all<{ session: string | null; last: CommitSeq }>(
    'SELECT sessionId AS session, MAX(seq) AS last FROM commits WHERE +project = ? AND seq > ? GROUP BY sessionId ORDER BY MIN(seq)',
    [project, from],
  );
  for (const { session } of sessions) {
    const missing = missingOf(chain, session);
    if (missing.length === 0) continue;
    const bytes = await fetchObjectsOf(chain, hub, missing);
    const ofSession = 'SELECT seq FROM commits WHERE +project = ? AND sessionId IS ? AND seq > ? ORDER BY seq';
    const commits = db.rows<[CommitSeq]>(ofSession, project, session, from).flat();
    db.transaction(() => {
      noteParts(chain, commits);
      countCalls(chain, commits);
      countTools(chain, commits);
    });
    free(bytes);
  }
  const last = Math.max(from, ...sessions.map((one) => one.last));
  db.transaction(() => setDerivedProgress(chain, progress, last));
  // The prices of many calls.
  await prepareUsage(chain);
}

/** The contents of a session and of the commits before it that only the hub holds. Counts of a turn may need those of earlier turns. */
const missingOf = ({ db, project }: WriteChain, session: string | null): Held[] =>
  db
    .all<{ no: ArtifactNo; hash: Buffer }>(
      `WITH RECURSIVE before (seq) AS (
         SELECT seq FROM commits WHERE +project = ? AND sessionId IS ?
         UNION SELECT c.parent FROM before b JOIN commits c ON c.seq = b.seq WHERE c.parent IS NOT NULL)
       SELECT DISTINCT a.no, a.hash FROM before b JOIN commits c ON c.seq = b.seq JOIN artifact a ON a.no = c.artifact
        WHERE a.gone = 'evicted' ORDER BY a.no`,
      [project, session],
    )
    .map(({ no, hash }) => ({ no, ref: refOfHash(hash) }));
