import Database from 'better-sqlite3';
import { type Connection, guard } from './connection.js';
import { changedDefinitions } from './definitions.js';
import { saysDamage } from './failures.js';
import { type ChangedRow, changedRows, tablesOf } from './sums.js';

/** The checks of an open database. */
export function checksOf(current: () => Connection) {
  return {
    integrity: () => guard(() => integrityOf(current().raw)),
    dangling: () =>
      guard(() =>
        (current().raw.pragma('main.foreign_key_check') as { table: string; rowid: number; parent: string }[]).map(({ table, rowid, parent }) => ({
          table,
          row: rowid,
          parent,
        })),
      ),
    changedDefinitions: () => guard(() => changedDefinitions(current().raw)),
    changedRows: (): ChangedRow[] => {
      const { raw } = current();
      return tablesOf(raw).flatMap((table) => guard(() => changedRows(raw, table), raw));
    },
  };
}

/** The findings of SQLite's own check. Damage may end the check early. */
function integrityOf(raw: Database.Database): string[] {
  const lines: string[] = [];
  try {
    for (const line of raw.prepare('PRAGMA main.integrity_check(100)').pluck().iterate()) lines.push(String(line));
  } catch (error) {
    if (!(error instanceof Database.SqliteError && saysDamage(error))) throw error;
    lines.push(error.message);
  }
  return lines.filter((line) => line !== 'ok');
}
