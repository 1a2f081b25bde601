import type { ContextId } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import { importPaths } from '../import/index.js';

/** A context that was written where an agent finds it. */
export interface Resumed {
  readonly id: ContextId;
  readonly sessionId: string;
  readonly path: string;
}

/**
 * Remembers that an agent continues a session under another id, so that what it adds is no session of its own. The file that was written is
 * imported at once: it holds nothing new yet, and only what the agent adds counts as grown.
 */
export function noteResumed(chain: Chain, { id, sessionId, path }: Resumed): void {
  const { seq } = commitOf(chain, id);
  chain.db.run('INSERT OR IGNORE INTO resumed (project, sessionId, context) VALUES (?, ?, ?)', chain.project, sessionId, seq);
  for (const _ of importPaths(chain, { paths: [path] }));
}
