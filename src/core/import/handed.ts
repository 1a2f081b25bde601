// What became of a context that agents were asked to continue.
import { existsSync } from 'node:fs';
import { type ContextId, orUndefined } from '../base/index.js';
import { findCommit, type ReadChain, readParsed } from '../chain/index.js';
import type { CommitPlace } from '../contract/index.js';
import { isHidden } from '../formats/index.js';
import { sealOf } from './sources.js';

/** What became of a fork, or of a context that was handed to an agent, or of what the agent wrote then; null for another commit. */
export function handedAt(chain: ReadChain, id: ContextId): CommitPlace['handed'] {
  const row = findCommit(chain, id);
  const sessions = chain.db.all<{ sessionId: string; isAnswered: 0 | 1 }>(
    `SELECT r.sessionId, EXISTS (SELECT 1 FROM commits c WHERE c.project = r.project AND c.sessionId = r.sessionId) AS isAnswered
       FROM resumed r WHERE r.project = :project AND (r.context = :seq OR r.sessionId = :session)`,
    { project: chain.project, seq: row.seq, session: row.sessionId },
  );
  if (sessions.length === 0 && row.forked !== 1) return null;
  return {
    waiting: sessions.filter(({ isAnswered }) => isAnswered === 0).length,
    ends: classifyEnd(chain, row),
    fileGone: sessions.some(({ sessionId }) => isGone(chain, sessionId)),
  };
}

type Ends = NonNullable<CommitPlace['handed']>['ends'];

/** How a commit ends: with a reply, a prompt, or in the middle of the work with tools. Only what a model sees counts. */
function classifyEnd(chain: ReadChain, commit: ReturnType<typeof findCommit>): Ends {
  if (commit.type !== 'delta') return 'reply';
  // Undefined also if its content is damaged, or not on this machine.
  const last = orUndefined(() => readParsed(chain, commit).entries.findLast((entry) => !isHidden(entry)));
  if (last?.kind === 'tool_call' || last?.kind === 'tool_result') return 'work';
  return last?.role === 'user' ? 'prompt' : 'reply';
}

/** Whether a session of an agent has a file that this machine wrote or imported, and that is gone. */
function isGone(chain: ReadChain, sessionId: string): boolean {
  const files = chain.db.all<{ sourceId: string; path: string; recorded: string | null }>(
    'SELECT sourceId, path, recorded FROM source WHERE project = ? AND sessionId = ?',
    [chain.project, sessionId],
  );
  const own = files.filter(({ sourceId, path, recorded }) => recorded === sealOf(chain, sourceId, path));
  return own.length > 0 && own.every(({ path }) => !existsSync(path));
}
