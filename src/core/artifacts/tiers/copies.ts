import type { ArtifactNo } from '../../base/index.js';
import { chunkType, isStoredSql, type Shelf } from '../shelf.js';

/** What a tier is given: objects whose policy asks for it, or everything that stays. */
export type Takes = 'replicate' | 'all';

export interface Held {
  readonly no: ArtifactNo;
  /** The hash in hexadecimal: the object's name in a tier. */
  readonly hash: string;
}

const wantedSql = (takes: Takes): string =>
  `a.project = ? AND a.contentType <> '${chunkType}' AND a.gone IS NULL AND ${isStoredSql.replaceAll(/\b(data|pack|block|chunks)\b/g, 'a.$1')}
     AND ${takes === 'all' ? "a.policy <> 'ephemeral'" : "a.policy = 'replicate'"}
     AND NOT EXISTS (SELECT 1 FROM tierCopy t WHERE t.artifact = a.no AND t.tier = ?)`;

/** What the store knows of its backing stores, by their names. */
export interface Copies {
  /** Objects that the tier should have and has not, from a number on. */
  waiting(tier: string, takes: Takes, after: ArtifactNo | 0, limit: number): Held[];
  countWaiting(tier: string, takes: Takes): number;
  countHeld(tier: string): number;
  /** Objects that nobody but this tier has any more. */
  countOnlyIn(tier: string): number;
  /** Notes that a tier holds objects. */
  note(tier: string, nos: readonly ArtifactNo[]): void;
  /** Nothing is taken for granted of a tier any more, or of one object in it. */
  forget(tier: string, no?: ArtifactNo): void;
  holdersOf(no: ArtifactNo): string[];
  /** Objects that lie in tiers only, from this one on: where one is needed, its neighbors are soon. */
  evictedFrom(no: ArtifactNo, limit: number): Held[];
  /** Leaves a damaged object to the tiers that hold it: it is fetched when it is read. False where none does. */
  leaveToTiers(no: ArtifactNo): boolean;
  /** Keeps from now on when objects were last read, so that those go first that were not used longest. */
  trackUse(): void;
}

export function copiesIn(shelf: Shelf): Copies {
  const { db, project } = shelf;
  const held = (rows: readonly { no: ArtifactNo; hash: Buffer }[]): Held[] => rows.map(({ no, hash }) => ({ no, hash: hash.toString('hex') }));
  const count = (sql: string, ...parameters: (string | number)[]): number => db.one<{ count: number }>(sql, ...parameters)?.count ?? 0;
  const holdersOf = (no: ArtifactNo): string[] =>
    db.all<{ tier: string }>('SELECT tier FROM tierCopy WHERE artifact = ? AND project = ?', no, project).map(({ tier }) => tier);
  return {
    waiting: (tier, takes, after, limit) =>
      held(db.all(`SELECT a.no, a.hash FROM artifact a WHERE ${wantedSql(takes)} AND a.no > ? ORDER BY a.no LIMIT ?`, project, tier, after, limit)),
    countWaiting: (tier, takes) => count(`SELECT COUNT(*) AS count FROM artifact a WHERE ${wantedSql(takes)}`, project, tier),
    countHeld: (tier) => count('SELECT COUNT(*) AS count FROM tierCopy WHERE project = ? AND tier = ?', project, tier),
    countOnlyIn: (tier) =>
      count(
        `SELECT COUNT(*) AS count FROM artifact a WHERE a.project = ? AND a.gone = 'evicted'
            AND (SELECT COUNT(*) FROM tierCopy t WHERE t.artifact = a.no) = 1 AND EXISTS (SELECT 1 FROM tierCopy t WHERE t.artifact = a.no AND t.tier = ?)`,
        project,
        tier,
      ),
    note: (tier, nos) =>
      db.transaction(() => {
        // It may have been collected while it was copied.
        for (const no of nos)
          db.run(
            'INSERT OR IGNORE INTO tierCopy (artifact, tier, project, at) SELECT no, ?, project, ? FROM artifact WHERE no = ? AND key >= 0',
            tier,
            shelf.clock(),
            no,
          );
      }),
    forget: (tier, no) =>
      void (no === undefined
        ? db.run('DELETE FROM tierCopy WHERE tier = ? AND project = ?', tier, project)
        : db.run('DELETE FROM tierCopy WHERE tier = ? AND project = ? AND artifact = ?', tier, project, no)),
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
    leaveToTiers: (no) => {
      if (holdersOf(no).length === 0) return false;
      db.run("UPDATE artifact SET gone = 'evicted' WHERE no = ? AND project = ?", no, project);
      return true;
    },
    trackUse: () => {
      shelf.used ??= new Map();
    },
  };
}
