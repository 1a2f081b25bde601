import type { ArtifactNo, ArtifactRef } from '../base/index.js';
import { chunkType } from '../store/index.js';
import { hashOfRef, refOfHash } from './hash.js';
import { insertRow, known } from './put.js';
import { type Gone, isStoredSql, type ReadShelf, type Shelf } from './shelf.js';

/** The objects that a replica takes: those with the policy `replicate`, or all that are not ephemeral. */
export type Takes = 'replicate' | 'all';

export interface Held {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
}

/** The name of the hub as the holder of objects, in a project that is open without a clone. No replica can have this name. */
export const theHub = 'the hub';
/** The row of the `progress` table whose presence means that some objects have to be fetched. */
const expectsName = 'on demand';

/** An object whose content this project has to fetch. */
export interface Expected {
  readonly ref: ArtifactRef;
  readonly size: number;
  readonly contentType: string;
}

const wantedSql = (takes: Takes): string =>
  `a.project = ? AND a.contentType <> '${chunkType}' AND a.gone IS NULL AND ${isStoredSql.replaceAll(/\b(data|pack|block|chunks)\b/g, 'a.$1')}
     AND ${takes === 'all' ? "a.policy <> 'ephemeral'" : "a.policy = 'replicate'"}
     AND NOT EXISTS (SELECT 1 FROM replicaCopy r WHERE r.artifact = a.no AND r.replica = ?)`;

const held = (rows: readonly { no: ArtifactNo; hash: Buffer }[]): Held[] => rows.map(({ no, hash }) => ({ no, ref: refOfHash(hash) }));

/** The project's record of which replicas hold which objects, for reading. Replicas are known by name only. */
export function copiesToRead(shelf: ReadShelf) {
  const { db, project } = shelf;
  const count = (sql: string, ...parameters: (string | number)[]): number => db.value<number>(sql, ...parameters) ?? 0;
  return {
    /** Objects that the replica takes and does not hold, with numbers above `after`. */
    waiting: (replica: string, takes: Takes, after: ArtifactNo | 0, limit: number): Held[] =>
      held(
        db.all(`SELECT a.no, a.hash FROM artifact a WHERE ${wantedSql(takes)} AND a.no > ? ORDER BY a.no LIMIT ?`, project, replica, after, limit),
      ),
    countWaiting: (replica: string, takes: Takes): number => count(`SELECT COUNT(*) FROM artifact a WHERE ${wantedSql(takes)}`, project, replica),
    countHeld: (replica: string): number => count('SELECT COUNT(*) FROM replicaCopy WHERE project = ? AND replica = ?', project, replica),
    /** Objects whose only copy is in this replica. */
    countOnlyIn: (replica: string): number =>
      count(
        `SELECT COUNT(*) FROM artifact a WHERE a.project = ? AND a.gone = 'evicted'
            AND (SELECT COUNT(*) FROM replicaCopy r WHERE r.artifact = a.no) = 1 AND EXISTS (SELECT 1 FROM replicaCopy r WHERE r.artifact = a.no AND r.replica = ?)`,
        project,
        replica,
      ),
    holdersOf: (no: ArtifactNo): string[] => db.column<string>('SELECT replica FROM replicaCopy WHERE artifact = ? AND project = ?', no, project),
    /** Whether `expect` was ever called for this project. */
    expects: (): boolean => db.one('SELECT 1 FROM progress WHERE project = ? AND name = ?', project, expectsName) !== undefined,
    /** This evicted object and those after it, which are usually read next. `bytes` limits their total size, but not that of the first. */
    evictedFrom: (no: ArtifactNo, limit: number, bytes = Number.POSITIVE_INFINITY): Held[] => {
      const near = db.all<{ no: ArtifactNo; hash: Buffer; size: number }>(
        "SELECT no, hash, size FROM artifact WHERE no BETWEEN ? AND ? AND project = ? AND gone = 'evicted' ORDER BY no",
        [no, no + limit - 1, project],
      );
      let total = 0;
      const cut = near.findIndex(({ size }) => {
        total += size;
        return total > bytes;
      });
      return held(cut < 0 ? near : near.slice(0, Math.max(1, cut)));
    },
    /** Remembers from now on when objects were last read, so that eviction starts with the least recently used. */
    trackUse: (): void => {
      shelf.used ??= new Map();
    },
  };
}

/** As {@link copiesToRead}, with the writes. */
export function copiesIn(shelf: Shelf) {
  const { db, project } = shelf;
  const reads = copiesToRead(shelf);
  const addGone = (objects: readonly Expected[], gone: Gone): ArtifactNo[] =>
    objects.flatMap(({ ref, size, contentType }) => {
      const hash = hashOfRef(ref);
      if (known(shelf, hash)) return [];
      const { no } = insertRow(shelf, hash, size, { contentType }, {}, null);
      db.run('UPDATE artifact SET gone = ?, storedSize = 0 WHERE no = ?', gone, no);
      return [no];
    });
  return {
    ...reads,
    record: (replica: string, nos: readonly ArtifactNo[]): void =>
      db.transaction(() => {
        // An object may have been collected while it was copied.
        for (const no of nos)
          db.run(
            'INSERT OR IGNORE INTO replicaCopy (artifact, replica, project, at) SELECT no, ?, project, ? FROM artifact WHERE no = ? AND key >= 0',
            [replica, shelf.clock(), no],
          );
      }),
    forget: (replica: string): void => void db.run('DELETE FROM replicaCopy WHERE replica = ? AND project = ?', replica, project),
    /** Forgets the recorded copies of objects that the project itself still holds, so that they are copied again. */
    doubt: (replica: string): void =>
      void db.run('DELETE FROM replicaCopy WHERE replica = ? AND project = ? AND artifact IN (SELECT no FROM artifact WHERE gone IS NULL)', [
        replica,
        project,
      ]),
    /** Adds objects that only a replica holds; reading one fetches it. Does not change objects that the project knows. */
    expect: (replica: string, objects: readonly Expected[]): void =>
      db.transaction(() => {
        db.run('INSERT OR IGNORE INTO progress (project, name, value) VALUES (?, ?, 1)', project, expectsName);
        for (const no of addGone(objects, 'evicted'))
          db.run('INSERT INTO replicaCopy (artifact, replica, project, at) VALUES (?, ?, ?, ?)', no, replica, project, shelf.clock());
      }),
    /** Adds objects whose content was removed from the hub. Does not change objects that the project knows. */
    expectExpired: (objects: readonly Expected[]): void => db.transaction(() => void addGone(objects, 'expired')),
    /** Marks a damaged object as evicted if a replica holds it, so that reading it fetches it. False if none does. */
    leaveToReplicas: (no: ArtifactNo): boolean => {
      if (reads.holdersOf(no).length === 0) return false;
      db.run("UPDATE artifact SET gone = 'evicted' WHERE no = ? AND project = ?", no, project);
      return true;
    },
  };
}
