import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { parquetFile } from '../../../src/core/analysis/parquet.js';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

const fixture = (...names: string[]): string => join(import.meta.dirname, '..', '..', 'fixtures', ...names);

/** A project with calls of several agents. */
async function imported() {
  const opened = door();
  for await (const _ of await opened.client.import.run({ paths: [fixture('usage'), fixture('codex'), fixture('pi')] }));
  return opened;
}

const readParquet = (bytes: Buffer): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({
    file: new Uint8Array(bytes).buffer,
    compressors: { ZSTD: (packed) => zstdDecompressSync(packed) },
  });

const texts = ['', 'a', 'a, "quoted"', 'line\nbreak', 'ü – 漢字 – 👍', null];

describe('files of a question', () => {
  const statement = 'SELECT model, count(*) AS calls, sum(cost) AS cost, max(at) AS last FROM calls GROUP BY 1 ORDER BY 1';

  test('[Q5] CSV, JSONL and Parquet hold the rows of the answer', { tags: 'long' }, async () => {
    const { client } = await imported();
    const answer = await client.analysis.sql({ sql: statement });
    const dir = scratch();
    const at = (format: string): string => join(dir, `rows.${format}`);
    for (const format of ['csv', 'jsonl', 'parquet'] as const) {
      const written = await client.analysis.export({ sql: statement, format, path: at(format) });
      expect(written).toEqual({ path: at(format), rows: answer.rows.length, bytes: readFileSync(at(format)).length });
    }
    const objects = answer.rows.map((row) => Object.fromEntries(answer.columns.map((name, place) => [name, row[place]])));
    const lines = readFileSync(at('jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(objects);
    expect(readFileSync(at('csv'), 'utf8').split('\n')[0]).toBe('model,calls,cost,last');
    const rows = await readParquet(readFileSync(at('parquet')));
    expect(rows.map((row) => ({ ...row, calls: Number(row.calls) }))).toEqual(objects);
    const queried = await client.analysis.export({ query: { from: 'calls', select: '*' }, format: 'parquet', path: join(dir, 'all.parquet') });
    expect(queried.rows).toBe(Number((await client.analysis.sql({ sql: 'SELECT count(*) FROM calls' })).rows[0]?.[0]));
  });

  test('[Q5] a column of a Parquet file has the kind of all of its values, also of late ones', { tags: 'long' }, async () => {
    const { client } = door();
    const path = join(scratch(), 'kinds.parquet');
    const sql = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 69999)
      SELECT i, iif(i < 5, i, i / 2.0) AS early, iif(i = 69999, 1.5, NULL) AS last, iif(i < 3, i, 'text ' || i) AS words, iif(i < 66000, i, 'x') AS late FROM n`;
    await client.analysis.export({ sql, format: 'parquet', path });
    const rows = await readParquet(readFileSync(path));
    expect(rows).toHaveLength(70_000);
    expect(rows[3]).toEqual({ i: 3n, early: 3, last: null, words: 'text 3', late: '3' });
    expect(rows[7]).toEqual({ i: 7n, early: 3.5, last: null, words: 'text 7', late: '7' });
    expect(rows[2]?.words).toBe('2');
    expect(rows[69_999]).toEqual({ i: 69_999n, early: 34_999.5, last: 1.5, words: 'text 69999', late: 'x' });
  });

  test('[Q5] CSV quotes what it must, and tells null from an empty text', async () => {
    const { client } = door();
    const path = join(scratch(), 'x.csv');
    await client.analysis.export({ sql: `SELECT 'a, "b"' AS "x,y", '' AS e, NULL AS n, 1.5 AS f`, format: 'csv', path });
    expect(readFileSync(path, 'utf8')).toBe('"x,y",e,n,f\n"a, ""b""","",,1.5\n');
  });

  test('[Q5] a taken path, a missing folder and a wrong statement are refused and leave nothing', async () => {
    const { client } = door();
    const dir = scratch();
    const taken = join(dir, 'taken.csv');
    writeFileSync(taken, 'mine');
    const ask = (sql: string, path: string) => laterRefusal(client.analysis.export({ sql, format: 'csv', path }));
    expect(await ask('SELECT 1', taken)).toMatchObject({ code: 'CONFLICT' });
    expect(await ask('SELECT 1', join(dir, 'no', 'x.csv'))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'path' } });
    expect(await ask('SELECT nope FROM calls', join(dir, 'x.csv'))).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await ask('SELECT zeroblob(1000000000)', join(dir, 'y.csv'))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await laterRefusal(client.analysis.export({ format: 'csv', path: join(dir, 'z') }))).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await laterRefusal(client.analysis.export({ dataset: true, format: 'csv', path: join(dir, 'z') }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'format' },
    });
    expect(readdirSync(dir)).toEqual(['taken.csv']);
    expect(readFileSync(taken, 'utf8')).toBe('mine');
  });

  test('[Q5] a dataset has every view by month, with equal sums, no content and a page', { tags: 'long' }, async () => {
    const { client } = await imported();
    const path = join(scratch(), 'facts');
    const written = await client.analysis.export({ dataset: true, format: 'parquet', path });
    const rowsOf = async (view: string): Promise<Record<string, unknown>[]> => {
      const files = existsSync(join(path, view))
        ? readdirSync(join(path, view), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'))
        : [];
      return (await Promise.all(files.map((name) => readParquet(readFileSync(join(path, view, name)))))).flat();
    };
    let total = 0;
    for (const { name } of (await client.analysis.schema({})).views) {
      const rows = await rowsOf(name);
      expect(rows.length, name).toBe(Number((await client.analysis.sql({ sql: `SELECT count(*) FROM ${name}` })).rows[0]?.[0]));
      total += rows.length;
    }
    expect(written.rows).toBe(total);
    const calls = await rowsOf('calls');
    const { totals } = await client.usage.sessions({ groupBy: null });
    const sum = (column: string): number => calls.reduce((all, row) => all + Number(row[column] ?? 0), 0);
    expect(sum('output_tokens')).toBe(totals.tokens.output);
    expect(sum('cost')).toBeCloseTo(totals.cost?.amount ?? 0, 6);
    expect(calls[0]?.at).toBeInstanceOf(Date);
    const [entry] = await rowsOf('entries');
    expect(Object.keys(entry ?? {})).not.toContain('text');
    const page = readFileSync(join(path, 'README.md'), 'utf8');
    expect(page).toContain('| input_tokens | 64-bit integer |');
    const { calls: first } = (await client.usage.calls({ limit: 1 })) ?? {};
    expect(existsSync(join(path, 'calls', `month=${first?.[0]?.at.slice(0, 7)}`, 'part-0.parquet'))).toBe(true);
  });
});

describe('the Parquet writer', () => {
  test('[Q5] keeps every kind of value, in many groups, with and without a dictionary', { tags: 'long' }, async () => {
    const columns = [
      { name: 'text', kind: 'text' },
      { name: 'unique', kind: 'text' },
      { name: 'count', kind: 'count' },
      { name: 'number', kind: 'number' },
      { name: 'time', kind: 'time' },
      { name: 'flag', kind: 'yes-no' },
      { name: 'empty', kind: 'text' },
    ] as const;
    const rows = Array.from({ length: 70_001 }, (_, at) => [
      texts[at % texts.length] ?? null,
      `${at} of many`,
      at % 7 === 0 ? null : (at - 35_000) * 100_000_000,
      at / 3,
      1_700_000_000_000 + at,
      at % 3 === 0 ? null : at % 2,
      null,
    ]);
    const file = parquetFile(columns);
    const bytes = Buffer.concat([...rows.flatMap((row) => file.add(row)), ...file.end()]);
    const read = await readParquet(bytes);
    expect(read).toHaveLength(rows.length);
    const wrong = read.findIndex((row, at) => {
      const [text, unique, count, number, time, flag] = rows[at] ?? [];
      return (
        row.text !== text ||
        row.unique !== unique ||
        (row.count === null ? count !== null : Number(row.count) !== count) ||
        row.number !== number ||
        (row.time as Date).getTime() !== time ||
        (row.flag === null ? flag !== null : (row.flag ? 1 : 0) !== flag) ||
        row.empty !== null
      );
    });
    expect(wrong).toBe(-1);
  });

  test('[Q5] writes a file without rows', async () => {
    const file = parquetFile([{ name: 'x', kind: 'text' }]);
    expect(await readParquet(Buffer.concat(file.end()))).toEqual([]);
  });
});
