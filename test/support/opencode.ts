import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { root } from './source.js';

export type Row = Record<string, string | number | null>;

/** Rows of a real session's database, and the sent messages of its calls (test/fixtures/opencode/README.md). */
export interface Recorded {
  readonly session: readonly Row[];
  readonly message: readonly Row[];
  readonly part: readonly Row[];
  readonly event: readonly Row[];
  readonly wire: readonly { readonly model: string; readonly messages: readonly { readonly role: string; readonly content: unknown }[] }[];
}

export const recorded = (name: 'tour' | 'troubles'): Recorded =>
  JSON.parse(readFileSync(join(root, 'test/fixtures/opencode', `${name}.json`), 'utf8')) as Recorded;

const indexes = [
  'CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id)',
  'CREATE INDEX part_session_idx ON part (session_id)',
  'CREATE INDEX event_aggregate_seq_idx ON event (aggregate_id, seq)',
];

/** An OpenCode database with a secret in another table. `isOpen` leaves the last writes in the log, as the running agent does. */
export function writeDatabase(path: string, rows: Omit<Recorded, 'wire'>, { isOpen = false } = {}): void {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec("CREATE TABLE account (id text PRIMARY KEY, access_token text); INSERT INTO account VALUES ('a', 'sk-very-secret')");
  for (const [table, list] of Object.entries({ session: rows.session, message: rows.message, part: rows.part, event: rows.event })) {
    const columns = Object.keys(list[0] ?? blank[table] ?? { id: '' });
    db.exec(`CREATE TABLE ${table} (${columns.map((column) => (column === 'id' ? 'id text PRIMARY KEY' : column)).join(', ')})`);
    const insert = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`);
    db.transaction(() => {
      for (const row of list) insert.run(columns.map((column) => row[column] ?? null));
    })();
  }
  for (const sql of indexes) db.exec(sql);
  if (!isOpen) db.close();
}

const blank: Readonly<Record<string, Row>> = {
  session: { id: '', parent_id: '', directory: '', title: '', time_created: 0, time_updated: 0 },
  message: { id: '', session_id: '', time_created: 0, data: '' },
  part: { id: '', message_id: '', session_id: '', data: '' },
  event: { id: '', aggregate_id: '', seq: 0, type: '', data: '' },
};
