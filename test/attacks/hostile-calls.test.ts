// Every procedure of the contract, on a project whose every name and path is hostile. It adds to hostile-names.test.ts the calls that write.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { contract, describeProcedure, procedureNames } from '../../src/core/contract/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { registerSums, unwatchRows, watchRows } from '../../src/core/store/sums.js';
import { fields, isPlace, put, type Schema, valid } from '../support/bad-inputs.js';
import { prompt } from '../support/claude-lines.js';
import { databaseIn } from '../support/damage.js';
import { everyTable } from '../support/every-table.js';
import { scratch } from '../support/project.js';

/** Names of columns with one of a few words, or with the identity of a row. */
const words =
  /^(?:type|format|checkpoint|status|policy|contentType|tier|granularity|wire|task|tool|strategy|contextFound|moveFrom|moveTo|what|verdict|digest|recorded|data|limits|cron|pieces|tips|calls|commits|kind|role|op|provider|waiting|agent|frame|trigger|packed|cards|profile|stop|holds|work|record|key|id|\w*Ids?)$/;

const state = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(dir, name);
      return `${name} ${statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'}`;
    });

/** Puts a value into each text column, also where there was none, and into the texts of JSON. Each row has a valid checksum. */
function poison(dir: string, hostile: string): { readonly changed: number; readonly withoutRow: readonly string[] } {
  const raw = new Database(databaseIn(dir));
  registerSums(raw);
  raw.pragma('foreign_keys = OFF');
  watchRows(raw);
  const tables = raw.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").pluck().all() as string[];
  const isEmpty = (table: string): boolean => raw.prepare(`SELECT 1 FROM "${table}"`).get() === undefined;
  // A table that the story of `everyTable` leaves empty gets one row, so that no table is forgotten.
  for (const table of tables.filter((name) => !name.startsWith('sqlite_') && isEmpty(name))) {
    const columns = (raw.prepare('SELECT name, type FROM pragma_table_info(?)').all(table) as { name: string; type: string }[]).filter(
      ({ name }) => name !== 'rowSum',
    );
    const values = columns.map(({ type }) => (type === 'TEXT' ? hostile : type === 'BLOB' ? Buffer.alloc(32) : 1));
    raw
      .prepare(
        `INSERT OR IGNORE INTO "${table}" (${columns.map(({ name }) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      .run(...values);
  }
  let changed = 0;
  const within = (value: string): string =>
    /^[[{]/.test(value)
      ? JSON.stringify(JSON.parse(value), (name, one: unknown) => (typeof one === 'string' && !words.test(name) ? hostile : one))
      : hostile;
  for (const table of tables.filter((name) => !/^(?:sqlite_|artifact$|project$)/.test(name)))
    for (const { name: column } of raw.prepare("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'").all(table) as { name: string }[]) {
      if (words.test(column)) continue;
      const values = raw.prepare(`SELECT DISTINCT "${column}" FROM "${table}"`).pluck().all() as (string | null)[];
      for (const value of values) {
        const sql = `UPDATE OR IGNORE "${table}" SET "${column}" = ? WHERE "${column}" IS ?`;
        try {
          changed += raw.prepare(sql).run(value === null ? hostile : within(value), value).changes;
        } catch {
          // A column that refuses the value cannot hold it.
        }
      }
    }
  const withoutRow = tables.filter((name) => !name.startsWith('sqlite_') && isEmpty(name));
  unwatchRows(raw);
  raw.close();
  return { changed, withoutRow };
}

/** Inputs of a procedure: an example, each switch turned on, each word chosen, and each place named inside of a folder of the test. */
function* inputsOf(name: string, known: ReadonlyMap<string, unknown>, own: object | undefined, place: string): Generator<unknown> {
  const root = (describeProcedure(contract, name)?.input ?? {}) as Schema;
  const example = { ...(valid(root, root, '', known) as object), ...own };
  yield example;
  for (const [path, schema] of fields(root, root)) {
    const field = path.findLast((step) => step !== '0') ?? '';
    if (isPlace(field) && schema.type === 'string') yield put(example, path, join(place, `${name}-${field}`));
    else if (path.length === 1 && schema.type === 'boolean') yield put(example, path, true);
    else if (path.length === 1) for (const word of schema.enum ?? []) yield put(example, path, word);
  }
}

/** Reads what a call answers. A stream that does not end by itself is ended. */
async function drained(output: unknown): Promise<unknown> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return output;
  const stream = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const patience = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 100).unref());
  const events: unknown[] = [];
  while (events.length < 20) {
    const next = await Promise.race([stream.next(), patience]);
    if (next === 'late' || next.done) break;
    events.push(next.value);
  }
  void Promise.resolve(stream.return?.()).catch(() => {});
  return events;
}

const opening = new Set(['project.create', 'project.open', 'project.trust', 'team.open', 'library.sample']);
const canary = 'qCanaryOfOutsideq';

test.each<[string, (dir: string) => string]>([
  ['a path', (dir) => join(dir, 's1.jsonl')],
  ['a path upward', (dir) => `../../../../../../../../../..${dir}/new.jsonl`],
  ['a folder', (dir) => `${dir}/folder`],
  ['an address of a file', (dir) => `file://${dir}/s1.jsonl`],
  ['a path from the home folder', (dir) => `~/../../../../../..${dir}/x`],
])('[T12] [S24] every procedure, where each name in the database is %s', { tags: 'long', timeout: 300_000 }, async (_, valueFor) => {
  const outside = scratch();
  mkdirSync(join(outside, 'folder', '.git'), { recursive: true });
  writeFileSync(join(outside, 's1.jsonl'), prompt('a', canary) + prompt('b', 'more', { parent: 'a' }));
  const before = state(outside);
  const { project, engine, inputs, folder } = await everyTable();
  const { dir } = project;
  await engine.close();
  const { changed, withoutRow } = poison(dir, valueFor(outside));
  expect(changed).toBeGreaterThan(150);
  expect(withoutRow).toEqual([]);
  const around = readdirSync(join(dir, '..'));
  const again = createEngine({
    ...{ dataDir: join(folder, 'data'), agentRoots: [{ agent: 'claude-code', root: join(folder, 'agents') }], sampleDir: folder },
    ...{ startup: { paths: [], project: null }, platform: 'linux', providers: [] },
  });
  onTestFinished(() => again.close());
  const client = createRouterClient(router, { context: contextOf(createSession(again)) });
  await client.project.open({ dir });
  const known = new Map(Object.values(inputs).flatMap((each) => each.flatMap((input) => Object.entries(input))));
  const place = scratch();
  let answered = 0;
  for (const name of procedureNames(contract)) {
    if (name === 'project.changes' || name === 'desktop.quit') continue;
    const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
      input: unknown,
    ) => Promise<unknown>;
    for (const input of inputsOf(name, known, inputs[name]?.[0], place)) {
      // The example of a text is `x`: where it is a place, one inside of the test takes its place.
      const safe = JSON.parse(JSON.stringify(input), (field, value: unknown) => (value === 'x' && isPlace(field) ? place : value)) as unknown;
      const said = await call(safe)
        .then(drained)
        .then(
          (answer) => {
            answered += 1;
            return JSON.stringify(answer) ?? '';
          },
          (error: Error) => error.message,
        );
      expect(said.includes(canary), name).toBe(false);
    }
    if (opening.has(name)) await client.project.open({ dir });
  }
  expect(answered).toBeGreaterThan(250);
  await client.project.check({ repair: true }).catch(() => undefined);
  again.close();
  expect(state(outside)).toEqual(before);
  expect(readdirSync(join(dir, '..'))).toEqual(around);
  expect(readFileSync(databaseIn(dir)).includes(canary)).toBe(false);
});
