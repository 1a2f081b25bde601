import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { contract, procedureNames } from '../../../src/core/contract/index.js';
import { kindOf } from '../../../src/core/router/index.js';
import { databaseIn } from '../../support/damage.js';
import { everyTable } from '../../support/every-table.js';

type Shown = readonly [name: string, answer: unknown];
type Table = { readonly name: string; readonly keys: readonly string[]; readonly columns: readonly string[] };

/** Tables whose rows no answer shows: of objects, which have hashes, and of copies of a project in other places. */
const others = /^(sqlite_|artifact$|project$|teamItem$|replicaCopy$|progress$|areaCount$)/;

const tablesOf = (raw: Database.Database): Table[] =>
  (raw.prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").all() as { name: string; wr: number }[])
    .filter(({ name }) => !others.test(name))
    .map(({ name, wr }) => {
      const columns = raw.prepare('SELECT name, pk FROM pragma_table_info(?)').all(name) as { name: string; pk: number }[];
      const keys = wr ? columns.filter(({ pk }) => pk > 0).map((column) => column.name) : ['rowid'];
      return { name, keys, columns: columns.map((column) => column.name).filter((column) => column !== 'rowSum') };
    });

let lies = 0;
const letters = (number: number): string => String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

/** Another value of the same type, in the first text of JSON; and what an answer would show of it. */
function lieFor(value: unknown): { readonly value: string | number; readonly lie?: string } | undefined {
  if (typeof value === 'number') return { value: value < 2 ? 1 - value : value + 1 };
  if (typeof value !== 'string') return undefined;
  const lie = `qZqLie${letters(lies++)}Zq`;
  if (!/^[[{]/.test(value)) return { value: `${value}${lie}`, lie };
  let isDone = false;
  const changed = JSON.stringify(JSON.parse(value), (_, one: unknown) => {
    if (isDone || typeof one !== 'string' || one === '') return one;
    isDone = true;
    return `${one}${lie}`;
  });
  return isDone ? { value: changed, lie } : undefined;
}

/** Whether each text with the lie stands in an object that says what is wrong, or inside of one. */
function isMarkedAround(value: unknown, lie: string, isMarked = false): boolean {
  if (typeof value === 'string') return isMarked || !value.includes(lie);
  if (Array.isArray(value)) return value.every((item) => isMarkedAround(item, lie, isMarked));
  if (typeof value !== 'object' || value === null) return true;
  const own = isMarked || (value as { damaged?: unknown }).damaged === true || typeof (value as { problem?: unknown }).problem === 'string';
  return Object.entries(value).every(([key, member]) => (own || !key.includes(lie)) && isMarkedAround(member, lie, own));
}

test('[T80] no changed value of a column is shown as true, fails a call or keeps it from ending', { tags: 'long', timeout: 900_000 }, async () => {
  const { client, project, inputs } = await everyTable();
  const ask = async (): Promise<Shown[]> => {
    const shown: Shown[] = [];
    for (const name of procedureNames(contract)) {
      if (name === 'project.changes' || (!['reads', 'live'].includes(kindOf(name.split('.'))) && !(name in inputs))) continue;
      const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
        input: object,
      ) => Promise<unknown>;
      for (const input of inputs[name] ?? [{}])
        shown.push([
          name,
          await call(input).catch((error: { code?: string; message: string }) =>
            error.code === undefined || error.code === 'INTERNAL_SERVER_ERROR' ? error : undefined,
          ),
        ]);
    }
    return shown;
  };
  const raw = new Database(databaseIn(project.dir));
  raw.pragma('foreign_keys = OFF');
  const failures = new Set<string>();
  let told = 0;
  for (const { name: table, keys, columns } of tablesOf(raw))
    for (const column of columns) {
      const names = keys.map((key) => `"${key}"`);
      const rows = raw
        .prepare(
          `SELECT ${names.map((key, at) => `${key} AS key${at}`).join(', ')}, "${column}" AS value FROM "${table}" GROUP BY "${column}" LIMIT 1`,
        )
        .all() as Readonly<Record<string, unknown>>[];
      for (const row of rows) {
        const lie = lieFor(row.value);
        if (!lie) continue;
        const before = raw.prepare(`SELECT * FROM "${table}" WHERE ${names.map((key) => `${key} = ?`).join(' AND ')}`);
        const at = keys.map((_, place) => row[`key${place}`]);
        const whole = before.get(...at) as Readonly<Record<string, unknown>>;
        raw.exec('BEGIN');
        const { changes } = raw
          .prepare(`UPDATE OR IGNORE "${table}" SET "${column}" = ? WHERE ${names.map((key) => `${key} = ?`).join(' AND ')}`)
          .run(lie.value, ...at);
        raw.exec('COMMIT');
        if (changes === 0) continue;
        told += 1;
        for (const [name, answer] of await ask()) {
          if (answer instanceof Error) failures.add(`${table}.${column}: ${name}: ${answer.message}`);
          else if (lie.lie !== undefined && !isMarkedAround(answer, lie.lie)) failures.add(`${table}.${column}: ${name}: unmarked`);
        }
        restore(raw, table, column, lie.value, row.value, whole);
      }
    }
  raw.close();
  expect([...failures]).toEqual([]);
  expect(told).toBeGreaterThan(300);
});

/** Puts the old value back, in the row whose other values are the same. */
function restore(
  raw: Database.Database,
  table: string,
  column: string,
  lie: unknown,
  value: unknown,
  whole: Readonly<Record<string, unknown>>,
): void {
  const rest = Object.entries(whole).filter(([name]) => name !== column);
  raw
    .prepare(`UPDATE OR REPLACE "${table}" SET "${column}" = ? WHERE "${column}" IS ? ${rest.map(([name]) => `AND "${name}" IS ?`).join(' ')}`)
    .run(value, lie, ...rest.map(([, one]) => one));
}
