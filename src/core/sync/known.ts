import type { WriteChain } from '../chain/index.js';
import { readProgress, setProgress } from '../store/index.js';
import type { Greeting } from './hub.js';
import type { SentItem } from './rows.js';

/** The state of the exchange with a hub: for each item the digest that both sides hold, and the last item read from the hub's list. */
export type Known = ReturnType<typeof openKnown>;

/** Opens the state of this project's exchange with a hub's project. */
export function openKnown(chain: WriteChain, hub: string) {
  const { db, project } = chain;
  const progress = `team ${hub}`;
  const inDatabase = `${progress} database`;
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
    /** Forgets the whole state if the hub was restored from a backup: what it lost is sent again, and what took its places is read. */
    meet: ({ seq, database = 0 }: Pick<Greeting, 'seq' | 'database'>): void => {
      const before = readProgress(chain, inDatabase);
      const isNew = database > 0 && database !== before;
      if ((isNew && before > 0) || seq < readProgress(chain, progress)) {
        db.run('DELETE FROM teamItem WHERE project = ? AND hub = ?', project, hub);
        setProgress(chain, progress, 0);
      }
      if (isNew) setProgress(chain, inDatabase, database);
    },
  };
}
