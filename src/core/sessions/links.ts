import type { CommitSeq, ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';

/** The session that another one continues. */
type Continued = NonNullable<SessionRow['continues']>;

/** What is known of a session by which another one may go on from it. */
export interface Linked {
  readonly cwd: string | undefined;
  /** Its first commit, the format and the time of it, and the time of its last commit. */
  readonly first: CommitSeq;
  readonly format: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isSubagent: boolean;
  /** The end of its main branch. */
  readonly main: ContextId | undefined;
}

/** A session that was cleared was used in the same folder within this time before. */
export const recently = 12 * 3_600_000;

export interface LinkRecord {
  readonly kind: 'continues' | 'cleared';
  readonly session: string;
  readonly before: string;
  readonly context: CommitSeq;
}

/** The records of sessions that go on from another one. */
export const linkRecords = (chain: ReadChain): LinkRecord[] =>
  chain.db
    .all<{ record: string; context: CommitSeq }>(
      // Two questions, because SQLite reads all records for one with OR.
      `SELECT record, context FROM record WHERE project = :project AND record >= 'cleared:' AND record < 'cleared;'
       UNION ALL SELECT record, context FROM record WHERE project = :project AND record >= 'continues:' AND record < 'continues;' ORDER BY record`,
      { project: chain.project },
    )
    .map(({ record, context }) => {
      const [kind, session = '', before = ''] = record.split(':');
      return { kind: kind === 'continues' ? 'continues' : 'cleared', session, before, context };
    });

/**
 * The session before each session that continues another one. Claude Code names it for an accepted plan and for a file that continues in another
 * one. After `/clear` it names none: that is the last session in the same folder before. `sessions` are all sessions of the project.
 */
export function continuedSessions(records: readonly LinkRecord[], sessions: ReadonlyMap<string, Linked>): ReadonlyMap<string, Continued> {
  const found = new Map<string, Continued>();
  for (const { kind, session, before, context } of records) {
    const linked = sessions.get(session);
    if (!linked || found.get(session)?.how === 'recorded') continue;
    if (kind === 'continues') {
      if (sessions.has(before) && before !== session) found.set(session, { sessionId: before, how: 'recorded' });
      continue;
    }
    const last = context === linked.first ? lastBefore(sessions, session, linked) : undefined;
    if (last !== undefined) found.set(session, { sessionId: last, how: 'cleared' });
  }
  return found;
}

/** The session in the same folder that ended last before another one began. */
function lastBefore(sessions: ReadonlyMap<string, Linked>, session: string, { cwd, format, startedAt }: Linked): string | undefined {
  let best: { readonly id: string; readonly ended: number } | undefined;
  for (const [id, other] of sessions) {
    if (id === session || cwd === undefined || other.cwd !== cwd || other.isSubagent || other.format !== format) continue;
    const ended = other.endedAt;
    if (ended <= startedAt && startedAt - ended < recently && ended > (best?.ended ?? -1)) best = { id, ended };
  }
  return best?.id;
}
