import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { checkpointInProgress } from '../../src/core/follow/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, kindOf, router } from '../../src/core/router/index.js';
import { registerSums, unwatchRows, watchRows } from '../../src/core/store/sums.js';
import { prompt } from '../support/claude-lines.js';
import { databaseIn } from '../support/damage.js';
import { everyTable } from '../support/every-table.js';
import { emptyChain, scratch } from '../support/project.js';

type Call = (input: object) => Promise<unknown>;

/** Every file below a folder, with its content. */
const state = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(dir, name);
      return `${name} ${statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'}`;
    });

/** A folder of somebody else, with a transcript whose words must appear nowhere. */
function outsider() {
  const dir = scratch();
  const canary = 'qCanaryOfOutsideq';
  writeFileSync(join(dir, 's1.jsonl'), prompt('a', canary) + prompt('b', 'more', { parent: 'a' }));
  mkdirSync(join(dir, 'folder'));
  return { dir, canary, file: join(dir, 's1.jsonl'), before: state(dir) };
}

/** Calls everything that reads, and returns all that was answered as one text. */
async function askAll(client: unknown, inputs: Readonly<Record<string, readonly object[]>>): Promise<string> {
  const answers: string[] = [];
  for (const name of procedureNames(contract)) {
    if (name === 'project.changes' || (!['reads', 'live'].includes(kindOf(name.split('.'))) && !(name in inputs))) continue;
    const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as Call;
    for (const input of inputs[name] ?? [{}])
      answers.push(
        await call(input).then(
          (answer) => JSON.stringify(answer) ?? '',
          (error: Error) => error.message,
        ),
      );
  }
  return answers.join('\n');
}

/** Columns whose values are texts of a form of their own, such as JSON or one of a few words. Hostile values stand in their texts. */
const isForm = (value: string): boolean => /^[[{]/.test(value);
const within = (value: string, hostile: string): string =>
  isForm(value) ? value.replaceAll(/"[^"\\]{3,}"(?!\s*:)/g, JSON.stringify(hostile)) : hostile;

const skipped = /^(search|usage|sqlite_|outline|record|progress|project$|artifact$)/;

/** Puts a value into the columns that hold a name, a title or a path, in every table; each row has a valid checksum. */
function poison(dir: string, hostile: string): number {
  const raw = new Database(databaseIn(dir));
  registerSums(raw);
  raw.pragma('foreign_keys = OFF');
  watchRows(raw);
  let changed = 0;
  const columns = raw
    .prepare(
      "SELECT m.name AS name, p.name AS column FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.type = 'TEXT' AND p.pk = 0",
    )
    .all() as { name: string; column: string }[];
  for (const { name: table, column } of columns.filter(({ name }) => !skipped.test(name))) {
    const values = raw.prepare(`SELECT DISTINCT "${column}" FROM "${table}" WHERE "${column}" IS NOT NULL`).pluck().all() as string[];
    for (const value of values)
      try {
        changed += raw.prepare(`UPDATE OR IGNORE "${table}" SET "${column}" = ? WHERE "${column}" = ?`).run(within(value, hostile), value).changes;
      } catch {
        // A column that refuses the value cannot hold it.
      }
  }
  raw.prepare('INSERT INTO pack (file, createdAt) VALUES (?, 1)').run(hostile);
  raw
    .prepare("INSERT INTO followed (project, places, granularity, principal, since) VALUES (1, ?, 'turn_boundary', 'typed-ada', 1)")
    .run(JSON.stringify([hostile]));
  unwatchRows(raw);
  raw.close();
  return changed;
}

const hostileValues = (dir: string): readonly string[] => [
  join(dir, 's1.jsonl'),
  `../../../../../../../../../../../..${dir}/new.jsonl`,
  `a/../../../../../../../../../../../..${dir}/folder/x`,
  `${dir}/s1.jsonl\0.jsonl`,
  `${'n'.repeat(5_000)}/../x`,
];

describe('[T12] [S24] names and paths in a database are no places on the disk', () => {
  test('every column hostile: reads, repair, backup, export and following', { timeout: 300_000 }, async () => {
    const outside = outsider();
    for (const hostile of hostileValues(outside.dir)) {
      const { project, engine, inputs, folder, path } = await everyTable();
      const { dir } = project;
      const data = join(folder, 'data');
      await engine.close();
      expect(poison(dir, hostile)).toBeGreaterThan(60);
      const around = () => readdirSync(join(dir, '..')).filter((name) => name !== basename(dir));
      const before = around();
      const again = createEngine({
        dataDir: data,
        agentRoots: [],
        sampleDir: folder,
        startup: { paths: [], project: null },
        platform: 'linux',
        providers: [],
      });
      onTestFinished(() => again.close());
      const session = createSession(again);
      const client = createRouterClient(router, { context: contextOf(session) });
      await client.project.open({ dir });
      let said = await askAll(client, inputs);
      said += JSON.stringify(await client.project.backUp({}).catch(String));
      said += JSON.stringify(await client.ticket.create({ title: 't', type: 'task', by: 'typed-ada' }).catch(String));
      said += JSON.stringify(await client.artifact.gc({}).catch(String));
      said += JSON.stringify(await client.artifact.repack({}).catch(String));
      said += JSON.stringify(await client.project.check({ repair: true }).catch(String));
      said += await askAll(client, inputs);
      expect(said, hostile.slice(0, 80)).not.toContain(outside.canary);
      again.close();
      expect(state(outside.dir), hostile.slice(0, 80)).toEqual(outside.before);
      expect(around(), hostile.slice(0, 80)).toEqual(before);
      expect(readFileSync(databaseIn(dir)).includes(outside.canary)).toBe(false);
      expect(readFileSync(path, 'utf8')).toContain('hello there');
    }
  });

  test('a place of a recording that another machine wrote is not read, and an own one is', async () => {
    const outside = outsider();
    const chain = emptyChain();
    const row = { places: JSON.stringify([outside.dir]), principal: '@agent' };
    const insert = (recorded: string | null) =>
      chain.db.run(
        "INSERT INTO followed (project, places, granularity, principal, since, recorded) VALUES (?, ?, 'turn_boundary', ?, 0, ?)",
        chain.project,
        row.places,
        row.principal,
        recorded,
      );
    const commits = () => chain.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM context')?.count;
    for (const recorded of [null, '', 'f'.repeat(64), createHash('sha256').update(`followed\0${row.places}`).digest('hex')]) {
      insert(recorded);
      checkpointInProgress(chain, row.principal, []);
      expect(commits()).toBe(0);
    }
    insert(chain.seal(`followed\0${row.places}`));
    checkpointInProgress(chain, row.principal, []);
    expect(commits()).toBeGreaterThan(0);
  });
});
