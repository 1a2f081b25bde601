import { type JsonObject, parseJson } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { RefusedItem } from './hub.js';
import type { Sender, SentItem } from './rows.js';

/** The most refused items of one hub that are remembered, and the most bytes of them. More can only come from a hostile hub. */
const most = { items: 10_000, bytes: 64 * 1024 * 1024 };

/** The items of a hub that this project refused. The next pull tries them again, because an update or another item may make them valid. */
export type RefusedItems = ReturnType<typeof openRefused>;

/** Opens the items that this project refused from a hub's project. */
export function openRefused({ db, project }: WriteChain, hub: string) {
  const forgotten = new Map<string, RefusedItem>();
  const size = (): { items: number; bytes: number } => {
    const select = 'SELECT COUNT(*) AS items, COALESCE(SUM(LENGTH(body)), 0) AS bytes FROM teamRefused WHERE project = ? AND hub = ?';
    return db.one<{ items: number; bytes: number }>(select, project, hub) ?? { items: 0, bytes: 0 };
  };
  let used: ReturnType<typeof size> | undefined;
  return {
    /** Remembers an item. Call it inside a transaction. */
    add: ({ kind, key, digest, body, sender }: SentItem, reason: string): void => {
      const text = JSON.stringify(body);
      const update = 'UPDATE teamRefused SET reason = ? WHERE project = ? AND hub = ? AND kind = ? AND key = ? AND digest = ?';
      if (db.run(update, reason, project, hub, kind, key, digest).changes > 0) return;
      used ??= size();
      if (used.items >= most.items || used.bytes + text.length > most.bytes) {
        // Said once, by its name. A later pull does not meet it again.
        if (forgotten.size < most.items) forgotten.set(`${kind} ${key}`, { kind, key, reason });
        return;
      }
      used = { items: used.items + 1, bytes: used.bytes + text.length };
      const insert = 'INSERT INTO teamRefused (project, hub, kind, key, digest, body, sender, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
      db.run(insert, project, hub, kind, key, digest, text, sender === undefined ? null : JSON.stringify(sender), reason);
    },
    /** Forgets an item and its earlier versions, once this version is stored. Call it inside a transaction. */
    remove: ({ kind, key }: SentItem): void => {
      used ??= size();
      if (used.items === 0) return;
      db.run('DELETE FROM teamRefused WHERE project = ? AND hub = ? AND kind = ? AND key = ?', project, hub, kind, key);
      used = undefined;
    },
    /** The remembered items, in the order in which they arrived. */
    items: (): SentItem[] =>
      db
        .all<{ kind: string; key: string; digest: string; body: string; sender: string | null }>(
          'SELECT kind, key, digest, body, sender FROM teamRefused WHERE project = ? AND hub = ? ORDER BY no',
          [project, hub],
        )
        .map(({ body, sender, ...item }) => ({
          ...item,
          body: parseJson(body) as JsonObject,
          sender: sender === null ? undefined : (parseJson(sender) as unknown as Sender),
        })),
    /** Every item that is refused now, with the reason. */
    list: (): RefusedItem[] => [
      ...db.all<RefusedItem>('SELECT kind, key, reason FROM teamRefused WHERE project = ? AND hub = ? ORDER BY no', project, hub),
      ...forgotten.values(),
    ],
  };
}
