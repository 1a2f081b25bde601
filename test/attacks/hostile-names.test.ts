import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { checkpointInProgress } from '../../src/core/follow/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, kindOf, router } from '../../src/core/router/index.js';
import { registerSums, unwatchRows, watchRows } from '../../src/core/store/sums.js';
import { run } from '../../src/main/cli/program.js';
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

/** Columns and members of JSON with one of a few words, a number, a hash or an id of one form: what a sender writes there is refused at its arrival. */
const words = new RegExp(
  `^(?:${[
    ...['type', 'format', 'checkpoint', 'status', 'policy', 'contentType', 'tier', 'granularity', 'wire', 'task', 'tool', 'strategy', 'contextFound'],
    ...[
      'moveFrom',
      'moveTo',
      'what',
      'verdict',
      'digest',
      'recorded',
      'data',
      'limits',
      'cron',
      'pieces',
      'tips',
      'calls',
      'commits',
      'kind',
      'role',
    ],
    ...['op', 'reason', 'contextId', 'ticketId', 'threadId', 'turnId', 'provider', 'id', 'waiting', 'agent', 'frame', 'trigger', 'packed', 'cards'],
    ...['profile', 'cardIds', 'timestamp', 'createdAt', 'stop', 'value', 'caseId', 'holds', 'work'],
  ].join('|')})$`,
);
/** Identities of rows, which other rows and the inputs of this test name. */
const identities = /^(?:record|key|\w*Id)$/;

/** A value of a column with hostile texts in its place, or in the texts of its JSON. */
function within(value: string, hostile: string): string {
  if (!/^[[{]/.test(value)) return hostile;
  const walk = (one: unknown, name: string): unknown => {
    if (typeof one === 'string') return words.test(name) || identities.test(name) ? one : hostile;
    if (Array.isArray(one)) return one.map((item) => walk(item, name));
    return typeof one === 'object' && one !== null ? Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item, key)])) : one;
  };
  return JSON.stringify(walk(JSON.parse(value), ''));
}

/** Which columns get a hostile value: texts that people and programs choose; these and identities; or everything, whatever a schema says. */
type Reach = 'texts' | 'identities' | 'everything';
const isReached = (column: string, reach: Reach): boolean =>
  reach === 'everything' || (!words.test(column) && (reach === 'identities' || !identities.test(column)));

const skipped = /^(search|usage|sqlite_|outline|record|progress|project$|artifact$)/;

/** Puts a value into columns of every table, primary keys included; each row has a valid checksum. */
function poison(dir: string, hostile: string, reach: Reach): number {
  const raw = new Database(databaseIn(dir));
  registerSums(raw);
  raw.pragma('foreign_keys = OFF');
  watchRows(raw);
  let changed = 0;
  const columns = raw
    .prepare(
      "SELECT m.name AS name, p.name AS column FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.type = 'TEXT'",
    )
    .all() as { name: string; column: string }[];
  for (const { name: table, column } of columns.filter(({ name, column }) => !skipped.test(name) && isReached(column, reach))) {
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

/** Places where commands may write: the folder where they start, and the home folder of the person. */
function surroundings(data: string) {
  const [cwd, home] = [scratch(), scratch()];
  const file = (name: string): string => join(cwd, name);
  /** Runs a command in this process, and returns what it prints. */
  const stemma = async (words: readonly string[]): Promise<string> => {
    let said = '';
    const collect = (part: string | Uint8Array): boolean => {
      said += typeof part === 'string' ? part : Buffer.from(part).toString('utf8');
      return true;
    };
    const before = process.cwd();
    const writes = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(collect));
    process.chdir(cwd);
    for (const [name, value] of [
      ['STEMMA_HOME', data],
      ['HOME', home],
    ] as const)
      vi.stubEnv(name, value);
    try {
      await run(['node', 'stemma', ...words]);
    } finally {
      process.chdir(before);
      vi.unstubAllEnvs();
      for (const write of writes) write.mockRestore();
      process.exitCode = 0;
    }
    return said;
  };
  /** The content of everything that was written here. */
  const written = (): string =>
    [cwd, home]
      .flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name)))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'latin1'))
      .join('\n');
  return { stemma, file, written };
}

type Named = Readonly<Record<'tip' | 'ticket' | 'source' | 'session' | 'event' | 'hostile', string>>;

/** Commands that read, export, repair and hand over, with the ids of a project or with a hostile name in their place. */
const commandsFor = ({ tip, ticket, source, session, event, hostile }: Named, file: (name: string) => string): readonly (readonly string[])[] => [
  ...['log', 'library', 'backup --now', 'source list', 'prices', 'request list', 'request prompts', 'experiment list', 'job list', 'job received']
    .concat(['ticket list', 'usage', 'cache', 'log --json', 'source list --json', 'ticket list --json'])
    .map((line) => line.split(' ')),
  ...[tip, hostile].flatMap((id) => [
    ['show', id, '--all'],
    ['materialize', id, '--format', 'narrative'],
    ['diff', id, tip, '-o', file('diff.md'), '--markdown'],
    ['export', id, '--to', 'markdown', '-o', file('export.md')],
    ['export', id, '--to', 'claude-code-v1', '-o', file('export.jsonl'), '--redact'],
    ['fork', id, '--edits', JSON.stringify([{ op: 'append', entry: { role: 'user', kind: 'text', text: hostile } }]), '--summary', hostile],
    ['evidence', id, '-o', file('evidence.zip')],
    ['resume', id, '--agent', 'claude-code', '--cwd', file('.')],
    ['request', 'list', id],
    ['compaction', id],
  ]),
  ...[source, hostile].map((id) => ['source', 'get', id, '-o', file('source.jsonl')]),
  ...[session, hostile].flatMap((id) => [
    ['diagnose', id],
    ['repair-session', id],
    ['usage', id],
    ['cache', id],
  ]),
  ...[ticket, hostile].flatMap((id) => [
    ['ticket', 'show', id],
    ['ticket', 'start', id, hostile],
    ['ticket', 'discuss', id, 'words'],
    ['ticket', 'update', id, '--title', hostile],
  ]),
  ['ticket', 'acknowledge', event, 'taken', '--by', hostile],
  ['blame', 'a.ts', '--repository', file('.')],
  ['verify', file('evidence.zip')],
  ['fsck'],
  ['fsck', '--repair'],
];

describe('[T12] [S24] names and paths in a database are no places on the disk', () => {
  test('every column hostile: reads, repair, backup, export and following', { tags: 'long', timeout: 300_000 }, async () => {
    const outside = outsider();
    for (const hostile of hostileValues(outside.dir).filter((_, at) => at % 2 === 0)) {
      const { project, engine, inputs, folder, path } = await everyTable();
      const { dir } = project;
      const data = join(folder, 'data');
      await engine.close();
      expect(poison(dir, hostile, 'everything')).toBeGreaterThan(60);
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

  test.each([
    ['texts', 0],
    ['identities', 1],
    ['texts', 3],
  ] as const)('hostile %s of kind %i: each command and procedure', { tags: 'long', timeout: 300_000 }, async (reach, which) => {
    const outside = outsider();
    const hostile = hostileValues(outside.dir)[which] ?? '';
    const { project, engine, inputs, folder, client: before } = await everyTable();
    const { dir } = project;
    const named = {
      tip: (await before.context.tips({ sessionId: 's1' }))[0]?.id ?? '',
      ticket: (await before.ticket.list({}))[0]?.ticketId ?? '',
      source: (await before.source.list({}))[0]?.sourceId ?? '',
      event: String((await before.ticket.events({}))[0]?.event ?? 1),
      session: 's1',
      hostile,
    };
    await engine.close();
    expect(poison(dir, hostile, reach)).toBeGreaterThan(60);
    const around = readdirSync(join(dir, '..'));
    const { stemma, file, written } = surroundings(join(folder, 'data'));
    let said = '';
    let answered = 0;
    for (const words of commandsFor(named, file)) {
      const text = await stemma([...words, ...(['library', 'verify'].includes(words[0] ?? '') ? [] : ['--project', dir])]);
      expect(text, words.join(' ').slice(0, 200)).not.toContain('Run "stemma trust');
      if (!/^(?:stemma: |\{"code")/.test(text)) answered += 1;
      said += text;
    }
    expect(answered).toBeGreaterThan(20);
    const again = createEngine({
      ...{ dataDir: join(folder, 'data'), agentRoots: [], sampleDir: folder, startup: { paths: [], project: null } },
      ...{ platform: 'linux', providers: [] },
    });
    onTestFinished(() => again.close());
    const client = createRouterClient(router, { context: contextOf(createSession(again)) });
    await client.project.open({ dir });
    said += await askAll(client, inputs);
    expect(said + written()).not.toContain(outside.canary);
    expect(state(outside.dir)).toEqual(outside.before);
    expect(readdirSync(join(dir, '..'))).toEqual(around);
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
    const commits = () => chain.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM commits')?.count;
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
