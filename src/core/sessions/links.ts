import type { CommitSeq } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import type { Forest, Node } from './forest.js';

/** The session that another one goes on from. */
export type Continued = NonNullable<SessionRow['continues']>;

/** What is known of a session before its row is made. */
export interface Linked {
  readonly own: readonly Node[];
  readonly cwd: string | undefined;
}

/** A session that was cleared was used in the same folder within this time before. */
const recently = 12 * 3_600_000;

/**
 * The session before each session that goes on from another one. Claude Code names it for an accepted plan and for a file that goes on in another
 * one. After `/clear` it names none: that is the last session in the same folder before.
 */
export function continuedSessions(chain: ReadChain, forest: Forest, sessions: ReadonlyMap<string, Linked>): ReadonlyMap<string, Continued> {
  const rows = chain.db.all<{ record: string; context: CommitSeq }>(
    `SELECT record, context FROM record WHERE project = ? AND (record >= 'continues:' AND record < 'continues;' OR record >= 'cleared:' AND record < 'cleared;')
      ORDER BY record`,
    chain.project,
  );
  const found = new Map<string, Continued>();
  for (const { record, context } of rows) {
    const [kind, session = '', before = ''] = record.split(':');
    const linked = sessions.get(session);
    if (!linked || found.get(session)?.how === 'recorded') continue;
    if (kind === 'continues') {
      if (sessions.has(before) && before !== session) found.set(session, { sessionId: before, how: 'recorded' });
      continue;
    }
    const at = forest.at.get(context);
    const last = at && at === linked.own[0] ? lastBefore(forest, sessions, session, { ...linked, at }) : undefined;
    if (last !== undefined) found.set(session, { sessionId: last, how: 'cleared' });
  }
  return found;
}

/** The session in the same folder that ended last before a commit. */
function lastBefore(
  { subagentOf }: Forest,
  sessions: ReadonlyMap<string, Linked>,
  session: string,
  { cwd, at }: Linked & { readonly at: Node },
): string | undefined {
  let best: { readonly id: string; readonly ended: number } | undefined;
  for (const [id, { own, cwd: folder }] of sessions) {
    const [first] = own;
    if (id === session || cwd === undefined || folder !== cwd || !first || subagentOf.has(first.seq) || first.format !== at.format) continue;
    const ended = own.reduce((last, { createdAt }) => Math.max(last, createdAt), 0);
    if (ended <= at.createdAt && at.createdAt - ended < recently && ended > (best?.ended ?? -1)) best = { id, ended };
  }
  return best?.id;
}
