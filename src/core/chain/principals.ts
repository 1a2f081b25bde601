import type { CommitSeq, ContextId } from '../base/index.js';
import type { Chain } from './chain.js';

/** How far commits are listed by their principal, as the `progress` table names it. */
const progress = 'principals';

/** As many commits are read through for a question as well as they are listed. */
const readThrough = 512;

export interface Newest {
  readonly seq: CommitSeq;
  readonly id: ContextId;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/**
 * The newest commit of a principal at or before an instant (C11). `condition` is SQL on the commit as `c`, in words of the program's own.
 * Commits are listed by principal here and not when they are made: each would pay for what few ask.
 */
export function newestOf(chain: Chain, principal: string, at: number, condition = 'TRUE'): Newest | undefined {
  if (!chain.db.readonly && lastCommit(chain) - listed(chain) > readThrough) chain.db.transaction(() => list(chain));
  const old = chain.db.one<Newest>(
    `SELECT c.seq, c.id, c.createdAt FROM principalCommit m JOIN context c ON c.seq = m.context
      WHERE m.project = ? AND m.principal = ? AND m.createdAt <= ? AND (${condition}) ORDER BY m.createdAt DESC, m.context DESC LIMIT 1`,
    chain.project,
    principal,
    at,
  );
  const fresh = chain.db.one<Newest>(
    `SELECT c.seq, c.id, c.createdAt FROM context c
      WHERE c.seq > ? AND c.project = ? AND c.principal = ? AND c.createdAt <= ? AND (${condition}) ORDER BY c.createdAt DESC, c.seq DESC LIMIT 1`,
    listed(chain),
    chain.project,
    principal,
    at,
  );
  return old && fresh ? (fresh.createdAt >= old.createdAt ? fresh : old) : (fresh ?? old);
}

const lastCommit = (chain: Chain): number => chain.db.one<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM context')?.seq ?? 0;

/** Up to which commit the list is whole. */
function listed(chain: Chain): number {
  const row = chain.db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', chain.project, progress);
  // Commits that are not there yet cannot be listed: a byte of it has changed.
  return row && row.value <= lastCommit(chain) ? row.value : 0;
}

function list(chain: Chain): void {
  const until = lastCommit(chain);
  chain.db.run(
    `INSERT OR IGNORE INTO principalCommit (project, principal, createdAt, context)
     SELECT project, principal, createdAt, seq FROM context WHERE seq > ? AND seq <= ? AND project = ? AND principal IS NOT NULL`,
    listed(chain),
    until,
    chain.project,
  );
  chain.db.run(
    'INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    chain.project,
    progress,
    until,
  );
}

/** Commits that are not listed as what they are, or not at all though they should be. */
export const wronglyListed = (chain: Chain): ContextId[] =>
  chain.db
    .all<{ id: ContextId }>(
      `SELECT c.id FROM context c WHERE c.project = ? AND c.seq <= ? AND c.principal IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM principalCommit m WHERE m.project = c.project AND m.principal = c.principal AND m.createdAt = c.createdAt AND m.context = c.seq)
        UNION
       SELECT IFNULL(c.id, m.context) FROM principalCommit m LEFT JOIN context c ON c.seq = m.context
        WHERE m.principal IS NOT c.principal OR m.createdAt IS NOT c.createdAt OR m.project IS NOT c.project`,
      chain.project,
      listed(chain),
    )
    .map(({ id }) => id);

/** Forgets the list: who asks next has it made again. */
export function dropList(chain: Chain): void {
  chain.db.run('DELETE FROM principalCommit');
  chain.db.run('DELETE FROM progress WHERE name = ?', progress);
}
