import type { ContextId } from '../base/index.js';
import { commitOf, type WriteChain } from '../chain/index.js';
import { importPaths } from '../import/index.js';

/** A context that was written into an agent's session folder. */
export interface Resumed {
  readonly id: ContextId;
  readonly sessionId: string;
  readonly path: string;
}

/**
 * Stores that an agent continues a session under another id, so that its additions belong to the same session. Imports the written file at
 * once, while it contains no new turns, so that later only the agent's additions are imported.
 */
export function noteResumed(chain: WriteChain, { id, sessionId, path }: Resumed): void {
  const { seq } = commitOf(chain, id);
  chain.db.run('INSERT OR IGNORE INTO resumed (project, sessionId, context) VALUES (?, ?, ?)', chain.project, sessionId, seq);
  for (const _ of importPaths(chain, { paths: [path] }));
}
