// The sender of a whole project folder can write any text into a column that holds JSON, with a checksum that fits.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { jsonColumns } from '../../src/core/integrity/index.js';
import { kindOf } from '../../src/core/router/index.js';
import { registerSums, unwatchRows, watchRows } from '../../src/core/store/sums.js';
import { databaseIn } from '../support/damage.js';
import { everyTable } from '../support/every-table.js';

/** Columns with what was recorded, which may begin like JSON. */
const plain = /^(?:artifact|record|project)\./;

test.each(['{"cut', 'null', '7'])(
  '[T80] %s where a list or an object must be is CORRUPT with the name of its table',
  { tags: 'long' },
  async (wrong) => {
    const { client, project, inputs } = await everyTable();
    const raw = new Database(databaseIn(project.dir));
    registerSums(raw);
    raw.pragma('foreign_keys = OFF');
    watchRows(raw);
    const names = procedureNames(contract).filter(
      (name) => name !== 'project.changes' && (['reads', 'live'].includes(kindOf(name.split('.'))) || name in inputs),
    );
    const failures: string[] = [];
    const refused = new Set<string>();
    for (const [table, columns] of Object.entries(jsonColumns))
      for (const column of columns.map((name) => name.replace('?', ''))) {
        if (table === 'setting' && wrong !== '{"cut') continue;
        const found = raw.prepare('SELECT name FROM pragma_table_info(?) WHERE pk > 0').pluck().all(table) as string[];
        const keys = found.map((name) => `"${name}"`);
        const before = raw
          .prepare(`SELECT "${column}", ${keys.join(', ')} FROM "${table}"`)
          .raw()
          .all() as unknown[][];
        try {
          raw.prepare(`UPDATE "${table}" SET "${column}" = ?`).run(wrong);
        } catch {
          // A column that refuses the value cannot hold it.
          continue;
        }
        for (const name of names) {
          const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
            input: object,
          ) => Promise<unknown>;
          for (const input of inputs[name] ?? [{}])
            await call(input).catch((error: { code?: string; message: string }) => {
              if (error.code === 'CORRUPT' && error.message.includes(`the table ${table} `)) refused.add(table);
              if (error.code === undefined || error.code === 'INTERNAL_SERVER_ERROR') failures.push(`${table}.${column}: ${name}: ${error.message}`);
            });
        }
        const restore = raw.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${keys.map((key) => `${key} = ?`).join(' AND ')}`);
        for (const values of before) restore.run(...values);
      }
    const all = raw
      .prepare(
        "SELECT t.name || '.' || c.name AS place, t.name AS 'table', c.name AS 'column' FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.type = 'table' AND c.type = 'TEXT'",
      )
      .all() as { place: string; table: string; column: string }[];
    const forgotten = all.filter(({ place, table, column }) => {
      const values = raw.prepare(`SELECT "${column}" FROM "${table}" WHERE "${column}" IS NOT NULL`).pluck().all() as string[];
      const isJson = values.length > 0 && values.every((value) => /^(?:\[|\{)/.test(value));
      return isJson && !plain.test(place) && !(jsonColumns[table] ?? []).includes(column);
    });
    unwatchRows(raw);
    raw.close();
    expect(failures).toEqual([]);
    expect(forgotten.map(({ place }) => place)).toEqual([]);
    expect(refused.size).toBeGreaterThan(5);
  },
);
