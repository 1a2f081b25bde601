import type { WriteChain } from '../chain/index.js';
import { readProgress, setProgress } from '../store/index.js';
import type { SentItem } from './rows.js';

/** The state of the exchange with a hub: for each item the digest that both sides hold, and the last item read from the hub's list. */
export type Known = ReturnType<typeof openKnown>;

/** Opens the state of this project's exchange with a hub's project. */
export function openKnown(chain: WriteChain, hub: string) {
  const { db, project } = chain;
  const progress = `team ${hub}`;
  const get = <T>(column: 'digest' | 'row', kind: string, key: string): T | undefined =>
    db.value<T>(`SELECT ${column} FROM teamItem WHERE project = ? AND hub = ? AND kind = ? AND key = ?`, project, hub, kind, key) ?? undefined;
  return {
    digest: (kind: string, key: string): string | undefined => get('digest', kind, key),
    /** The number of a row whose only name is its digest. */
    row: (kind: string, key: string): number | undefined => get('row', kind, key),
    /** Records that both sides hold the item. Call it inside the transaction that stores it. */
    note: ({ kind, key, digest }: Pick<SentItem, 'kind' | 'key' | 'digest'>, row: number | undefined): void => {
      const insert =
        'INSERT INTO teamItem (project, hub, kind, key, digest, row) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest, row = excluded.row';
      db.run(insert, project, hub, kind, key, digest, row ?? null);
    },
    /** The number of the last item that was read from the hub's list. */
    pulled: (): number => readProgress(chain, progress),
    setPulled: (seq: number): void => setProgress(chain, progress, seq),
    /** Forgets the whole state. Call it if the hub was replaced, or restored from an older backup. */
    forget: (): void => {
      db.run('DELETE FROM teamItem WHERE project = ? AND hub = ?', project, hub);
      db.run('DELETE FROM progress WHERE project = ? AND name = ?', project, progress);
    },
  };
}
