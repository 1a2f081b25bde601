import type { Chain } from '../chain/index.js';
import type { Item } from './rows.js';

/** What a project last exchanged with a hub: per item the digest that both sides hold, and how far the hub's list was read. */
export interface Known {
  digest(kind: string, key: string): string | undefined;
  /** The number of a row that only its digest names. */
  row(kind: string, key: string): number | undefined;
  /** Both sides hold the item now. Call it inside the transaction that stores it. */
  note(item: Pick<Item, 'kind' | 'key' | 'digest'>, row: number | undefined): void;
  /** The number up to which the hub's list was read. */
  pulled(): number;
  setPulled(seq: number): void;
  /** Forgets everything: the hub was replaced, or restored from an older backup. */
  forget(): void;
}

/** Opens what this project knows of a hub's project. */
export function openKnown({ db, project }: Chain, hub: string): Known {
  const progress = `team ${hub}`;
  const get = <T>(column: 'digest' | 'row', kind: string, key: string): T | undefined =>
    db.one<{ value: T }>(`SELECT ${column} AS value FROM teamItem WHERE project = ? AND hub = ? AND kind = ? AND key = ?`, project, hub, kind, key)
      ?.value ?? undefined;
  return {
    digest: (kind, key) => get('digest', kind, key),
    row: (kind, key) => get('row', kind, key),
    note: ({ kind, key, digest }, row) => {
      db.run(
        'INSERT INTO teamItem (project, hub, kind, key, digest, row) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest, row = excluded.row',
        project,
        hub,
        kind,
        key,
        digest,
        row ?? null,
      );
    },
    pulled: () => db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', project, progress)?.value ?? 0,
    setPulled: (seq) => {
      db.run('INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', project, progress, seq);
    },
    forget: () => {
      db.run('DELETE FROM teamItem WHERE project = ? AND hub = ?', project, hub);
      db.run('DELETE FROM progress WHERE project = ? AND name = ?', project, progress);
    },
  };
}
