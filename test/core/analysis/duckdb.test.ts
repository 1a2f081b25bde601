// What DuckDB reads from the Parquet files of a dataset equals what SQL over the views answers.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type * as DuckDb from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { door } from '../../support/door.js';
import { peer } from '../../support/peers.js';
import { scratch } from '../../support/project.js';

const { DuckDBConnection } = peer('@duckdb/node-api') as typeof DuckDb;
const fixture = (name: string): string => join(import.meta.dirname, '..', '..', 'fixtures', name);

/** What the values of a column come to, in the SQL of both engines. */
const measures: Readonly<Record<string, readonly string[]>> = {
  text: ['count(%)', 'count(DISTINCT %)', 'min(%)', 'max(%)'],
  count: ['count(%)', 'sum(% % 1000003)', 'min(%)', 'max(%)'],
  number: ['count(%)', 'sum(CAST(% AS DOUBLE))', 'max(CAST(% AS DOUBLE))'],
  'yes-no': ['count(%)', 'sum(CAST(% AS DOUBLE))'],
  time: ['count(%)', 'count(DISTINCT %)', 'min(%)', 'max(%)'],
};

/** A value of either engine: numbers to six digits behind the point, times in milliseconds. */
const plain = (value: unknown, kind: string): unknown => {
  if (value === null) return null;
  if (kind === 'text') return typeof value === 'bigint' ? Number(value) : value;
  return Number(Number(value).toFixed(6));
};

test('[Q5] DuckDB reads a dataset and a file of a question with equal sums', { tags: 'long' }, async () => {
  const { client } = door();
  const paths = ['usage', 'codex', 'pi', 'subagents', 'gemini'].map(fixture);
  for await (const _ of await client.import.run({ paths }));
  await client.ticket.create({ title: 'Ünïcode, "quoted"\nand more', type: 'task', labels: ['a'] });
  const folder = join(scratch(), 'facts');
  await client.analysis.export({ dataset: true, format: 'parquet', path: folder });
  const duck = await DuckDBConnection.create();
  const rowsOf = async (sql: string): Promise<unknown[][]> => (await duck.runAndReadAll(sql)).getRows();
  const mine = async (sql: string): Promise<unknown[]> => (await client.analysis.sql({ sql })).rows[0] ?? [];

  const { views } = await client.analysis.schema({});
  for (const { name, columns } of views) {
    expect(existsSync(join(folder, name)), name).toBe(true);
    const from = `read_parquet('${join(folder, name)}/*/*.parquet', hive_partitioning = true)`;
    const described = new Set((await rowsOf(`DESCRIBE SELECT * FROM ${from}`)).map(([column]) => String(column)));
    expect(described.has('month'), name).toBe(true);
    const kept = columns.filter((column) => described.has(column.name));
    expect(kept.length, name).toBe(described.size - 1);
    const asked = kept.flatMap(({ name: column, kind }) => (measures[kind] ?? []).map((measure) => ({ column, kind, measure })));
    const own = await mine(
      `SELECT count(*), ${asked
        .map(({ column, kind, measure }) =>
          measure.replaceAll(/%(?! 1)/g, kind === 'time' ? `CAST(round(unixepoch("${column}", 'subsec') * 1000) AS INTEGER)` : `"${column}"`),
        )
        .join(', ')} FROM ${name}`,
    );
    const [theirs = []] = await rowsOf(
      `SELECT count(*), ${asked.map(({ column, kind, measure }) => measure.replaceAll(/%(?! 1)/g, kind === 'time' ? `epoch_ms("${column}")` : `"${column}"`)).join(', ')} FROM ${from}`,
    );
    const compared = (row: readonly unknown[]) => [
      ['rows', Number(row[0])],
      ...asked.map(({ column, kind, measure }, at) => [measure.replaceAll(/%(?! 1)/g, column), plain(row[at + 1], kind)]),
    ];
    expect(compared(theirs), name).toEqual(compared(own));
  }

  const file = join(scratch(), 'calls.parquet');
  const statement = 'SELECT model, count(*) AS calls, sum(output_tokens) AS output, sum(cost) AS cost FROM calls GROUP BY 1 ORDER BY 1 NULLS FIRST';
  await client.analysis.export({ sql: statement, format: 'parquet', path: file });
  const read = await rowsOf(`SELECT model, calls, output, cost FROM '${file}' ORDER BY 1 NULLS FIRST`);
  const shown = (rows: readonly (readonly unknown[])[]) =>
    rows.map(([model, ...counts]) => [model, ...counts.map((value) => plain(value, 'number'))]);
  expect(shown(read)).toEqual(shown((await client.analysis.sql({ sql: statement })).rows));
  duck.closeSync();
});
