import type { ArtifactNo, ArtifactRef } from '../base/index.js';
import { refOfHash } from './hash.js';
import { chunkType, isStoredSql, type Shelf } from './shelf.js';

/** What a replica takes: objects with the policy `replicate`, or everything that stays. */
export type Takes = 'replicate' | 'all';

export interface Held {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
}

const wantedSql = (takes: Takes): string =>
  `a.project = ? AND a.contentType <> '${chunkType}' AND a.gone IS NULL AND ${isStoredSql.replaceAll(/\b(data|pack|block|chunks)\b/g, 'a.$1')}
     AND ${takes === 'all' ? "a.policy <> 'ephemeral'" : "a.policy = 'replicate'"}
     AND NOT EXISTS (SELECT 1 FROM replicaCopy r WHERE r.artifact = a.no AND r.replica = ?)`;

/** Which replicas hold which objects, as the project recorded it. A replica is known here by its name alone. */
export interface Copies {
  /** Objects that the replica takes and does not hold, with numbers above `after`. */
  waiting(replica: string, takes: Takes, after: ArtifactNo | 0, limit: number): Held[];
  countWaiting(replica: string, takes: Takes): number;
  countHeld(replica: string): number;
  /** Objects whose only copy is in this replica. */
  countOnlyIn(replica: string): number;
  /** Records that a replica holds objects. */
  record(replica: string, nos: readonly ArtifactNo[]): void;
  /** Forgets every copy in a replica. */
  forget(replica: string): void;
  /** Forgets the copies in a replica of objects that the project itself still holds: they are copied again. */
  doubt(replica: string): void;
  holdersOf(no: ArtifactNo): string[];
  /** Evicted objects from this one on: the neighbors of an object that is read are usually read next. */
  evictedFrom(no: ArtifactNo, limit: number): Held[];
  /** Marks a damaged object as evicted if a replica holds it, so that reading it fetches it. False if none does. */
  leaveToReplicas(no: ArtifactNo): boolean;
  /** Remembers from now on when objects were last read, so that eviction starts with the least recently used. */
  trackUse(): void;
}

/** The copies of one project's objects. */
export function copiesIn(shelf: Shelf): Copies {
  const { db, project } = shelf;
  const held = (rows: readonly { no: ArtifactNo; hash: Buffer }[]): Held[] => rows.map(({ no, hash }) => ({ no, ref: refOfHash(hash) }));
  const count = (sql: string, ...parameters: (string | number)[]): number => db.one<{ count: number }>(sql, ...parameters)?.count ?? 0;
  const holdersOf = (no: ArtifactNo): string[] =>
    db.all<{ replica: string }>('SELECT replica FROM replicaCopy WHERE artifact = ? AND project = ?', no, project).map(({ replica }) => replica);
  return {
    waiting: (replica, takes, after, limit) =>
      held(
        db.all(`SELECT a.no, a.hash FROM artifact a WHERE ${wantedSql(takes)} AND a.no > ? ORDER BY a.no LIMIT ?`, project, replica, after, limit),
      ),
    countWaiting: (replica, takes) => count(`SELECT COUNT(*) AS count FROM artifact a WHERE ${wantedSql(takes)}`, project, replica),
    countHeld: (replica) => count('SELECT COUNT(*) AS count FROM replicaCopy WHERE project = ? AND replica = ?', project, replica),
    countOnlyIn: (replica) =>
      count(
        `SELECT COUNT(*) AS count FROM artifact a WHERE a.project = ? AND a.gone = 'evicted'
            AND (SELECT COUNT(*) FROM replicaCopy r WHERE r.artifact = a.no) = 1 AND EXISTS (SELECT 1 FROM replicaCopy r WHERE r.artifact = a.no AND r.replica = ?)`,
        project,
        replica,
      ),
    record: (replica, nos) =>
      db.transaction(() => {
        // An object may have been collected while it was copied.
        for (const no of nos)
          db.run(
            'INSERT OR IGNORE INTO replicaCopy (artifact, replica, project, at) SELECT no, ?, project, ? FROM artifact WHERE no = ? AND key >= 0',
            replica,
            shelf.clock(),
            no,
          );
      }),
    forget: (replica) => void db.run('DELETE FROM replicaCopy WHERE replica = ? AND project = ?', replica, project),
    doubt: (replica) =>
      void db.run(
        'DELETE FROM replicaCopy WHERE replica = ? AND project = ? AND artifact IN (SELECT no FROM artifact WHERE gone IS NULL)',
        replica,
        project,
      ),
    holdersOf,
    evictedFrom: (no, limit) =>
      held(
        db.all(
          "SELECT no, hash FROM artifact WHERE no BETWEEN ? AND ? AND project = ? AND gone = 'evicted' ORDER BY no",
          no,
          no + limit - 1,
          project,
        ),
      ),
    leaveToReplicas: (no) => {
      if (holdersOf(no).length === 0) return false;
      db.run("UPDATE artifact SET gone = 'evicted' WHERE no = ? AND project = ?", no, project);
      return true;
    },
    trackUse: () => {
      shelf.used ??= new Map();
    },
  };
}
