// Bad questions over many sessions, at the command line, over HTTP and over MCP: refused by name, nothing written, and the engine goes on.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeMember, readZip, zipParts } from '../../src/core/evidence/zip.js';
import { ensureBuilt } from '../support/built.js';
import { type Answer, cli, type Door, http, mcp, toolNames } from '../support/doors.js';
import { type Machine, machine } from '../support/machine.js';

interface World {
  readonly own: Machine;
  readonly dir: string;
  readonly doors: readonly Door[];
}

let world: World;

/** One machine with a project, and the three doors to it. Starting them takes longest. */
beforeAll(async () => {
  await ensureBuilt();
  const own = machine();
  const dir = own.path('work.stemma');
  for (const words of [
    ['init', dir],
    ['import', '--project', dir, own.giveHistory()],
  ])
    expect((await own.ask(...words)).code).toBe(0);
  const tool = await mcp(own, dir);
  world = { own, dir, doors: [cli(own, dir), await http(own, dir), tool] };
  return async () => {
    await tool.close();
    await own[Symbol.asyncDispose]();
  };
}, 300_000);

/** What a door answers, in short: the code and what the message names, or the result. */
const at = async ({ name, call }: Door, procedure: string, input: object): Promise<readonly [string, Answer]> => [name, await call(procedure, input)];
const has = ({ name }: Door, procedure: string): boolean => name !== 'MCP' || procedure in toolNames;
/** Each command is a process of its own, so the command line is asked less. */
const asksAll = ({ name }: Door): boolean => name !== 'CLI';

/** The files that the questions of this test name, and parts of files, anywhere in a folder. */
const writtenIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /attached|copied|outside|out\.csv|\.part$/.test(name));

/** What a project holds. */
const contentOf = async (own: Machine, dir: string): Promise<string[]> =>
  Promise.all(['context.tips', 'ticket.list', 'session.list'].map(async (name) => (await own.ask('call', name, '--project', dir)).out));

const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';

type Bad = readonly [what: string, procedure: string, input: (own: Machine) => object, code: string, named: RegExp];

const bad: readonly Bad[] = [
  ['SQL that changes a table', 'analysis.sql', () => ({ sql: "UPDATE commits SET summary = 'x'" }), 'BAD_REQUEST', /context|update|write/i],
  ['SQL that makes a table', 'analysis.sql', () => ({ sql: 'CREATE TABLE mine (x)' }), 'BAD_REQUEST', /changes nothing/],
  ['SQL that attaches', 'analysis.sql', (own) => ({ sql: `ATTACH '${own.path('attached.db')}' AS x` }), 'BAD_REQUEST', /attach/i],
  ['SQL that copies the file', 'analysis.sql', (own) => ({ sql: `VACUUM INTO '${own.path('copied.db')}'` }), 'BAD_REQUEST', /./],
  ['SQL that loads', 'analysis.sql', () => ({ sql: "SELECT load_extension('x')" }), 'BAD_REQUEST', /load_extension/],
  ['SQL that reads another table', 'analysis.sql', () => ({ sql: 'SELECT * FROM artifact' }), 'BAD_REQUEST', /artifact/],
  ['an unknown column', 'analysis.sql', () => ({ sql: 'SELECT nope FROM calls' }), 'BAD_REQUEST', /nope/],
  ['a value larger than the memory', 'analysis.sql', () => ({ sql: 'SELECT zeroblob(1000000000)' }), 'UNAVAILABLE', /memory|large|big/],
  ['an unknown column of a question', 'analysis.query', () => ({ from: 'calls', select: ['nope'] }), 'BAD_REQUEST', /nope/],
  ['an unknown view', 'analysis.query', () => ({ from: 'artifact', select: '*' }), 'BAD_REQUEST', /from|sessions/],
  [
    'a file of SQL that writes',
    'analysis.export',
    (own) => ({ sql: 'DELETE FROM calls', format: 'csv', path: own.path('out.csv') }),
    'BAD_REQUEST',
    /modify|changes nothing/,
  ],
  [
    'a file in no folder',
    'analysis.export',
    (own) => ({ sql: 'SELECT 1', format: 'csv', path: own.path('no', 'out.csv') }),
    'BAD_REQUEST',
    /does not exist/,
  ],
  ['an unknown rule', 'finding.list', () => ({ rule: 'nope' }), 'NOT_FOUND', /nope/],
  ...(
    [
      ['search.query', { text: 'queue' }],
      ['usage.sessions', {}],
      ['usage.calls', {}],
      ['session.list', {}],
    ] as const
  ).map(
    ([procedure, input]): Bad => [
      `dates backward in ${procedure}`,
      procedure,
      () => ({ ...input, filter: { from: '2026-02-01T00:00:00+02:00', to: '2026-01-31T21:59:59.999Z' } }),
      'BAD_REQUEST',
      /before from/,
    ],
  ),
  ['dates backward in card.list', 'card.list', () => ({ from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }), 'BAD_REQUEST', /before from/],
  ['SQL that writes', 'analysis.sql', () => ({ sql: 'DELETE FROM calls' }), 'BAD_REQUEST', /modify|changes nothing/],
];

const endless = `${numbers} SELECT count(*) FROM n`;

test('[Q1, Q2, Q4] bad questions are refused by name at every door, beside an endless one', { tags: 'long' }, async () => {
  const { own, dir, doors } = world;
  const before = await contentOf(own, dir);
  const [, server] = doors;
  let isStopped = false;
  const stopped = server?.call('analysis.sql', { sql: endless }).finally(() => {
    isStopped = true;
  });
  const beside = await Promise.all(doors.filter(asksAll).map((door) => at(door, 'search.query', { text: 'the' })));
  expect([beside, isStopped]).toMatchObject([doors.filter(asksAll).map(({ name }) => [name, { result: expect.anything() }]), false]);
  const wrong = [];
  for (const [no, [what, procedure, input, code, named]] of bad.entries())
    for (const door of doors.filter((one) => has(one, procedure) && (asksAll(one) || no >= bad.length - 2))) {
      const [name, answer] = await at(door, procedure, input(own));
      if (!('code' in answer && answer.code === code && named.test(answer.message))) wrong.push({ what, name, answer });
    }
  expect(wrong).toEqual([]);
  expect(await stopped).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/longer than 15 seconds/) });
  expect(writtenIn(own.dir)).toEqual([]);
  expect(await contentOf(own, dir)).toEqual(before);
});

test('[Q2] a billion rows are cut', { tags: 'long' }, async () => {
  const rows = `${numbers} SELECT i FROM n LIMIT 1000000000`;
  for (const door of world.doors) {
    const [name, answer] = await at(door, 'analysis.sql', { sql: rows, limit: 3 });
    expect([name, JSON.stringify(answer).replaceAll('\\', '')]).toEqual([name, expect.stringMatching(/"truncated":\s*true/)]);
  }
});

test('[Q7] wrong rules are named at every door, and the others go on', { tags: 'long' }, async () => {
  const { own, doors } = world;
  mkdirSync(own.path('stemma', 'rules'), { recursive: true });
  const rules = { writes: 'DELETE FROM artifact', columns: 'SELECT nope FROM calls', shapeless: 'SELECT 1 AS x', nothing: '-- title: Nothing' };
  for (const [name, sql] of Object.entries(rules)) writeFileSync(own.path('stemma', 'rules', `${name}.sql`), sql);
  const good = "-- title: Every session\nSELECT session_id, 'Here' AS detail FROM sessions";
  writeFileSync(own.path('stemma', 'rules', 'good.sql'), good);
  for (const door of doors) {
    const [name, answer] = await at(door, 'finding.list', {});
    const said = JSON.stringify(answer).replaceAll('\\', '');
    for (const rule of Object.keys(rules))
      expect([name, said]).toEqual([name, expect.stringMatching(new RegExp(`"rule":\\s*"${rule}",[^{}]*?"message"`))]);
    expect([name, said]).toEqual([name, expect.stringContaining('Every session')]);
  }
});

test('[V2] a pack with a path outside is no pack, and nothing of it is written', { tags: 'long' }, async () => {
  const { own, dir, doors } = world;
  const [tip] = JSON.parse((await own.ask('call', 'context.tips', '--project', dir)).out) as { id: string }[];
  const pack = own.path('pack.zip');
  expect((await own.ask('evidence', tip?.id ?? '', '-o', pack, '--project', dir)).code).toBe(0);
  const members = [...readZip(readFileSync(pack))].map(([name, bytes]) => makeMember(name, bytes));
  for (const [no, outside] of ['../../outside.txt', '/tmp/outside.txt', '..\\outside.txt', 'objects/../../outside.txt'].entries()) {
    const forged = own.path('forged.zip');
    writeFileSync(forged, Buffer.concat([...zipParts([...members, makeMember(outside, Buffer.from('x'))])]));
    for (const door of doors.filter((one) => has(one, 'evidence.verify') && asksAll(one))) {
      const [name, answer] = await at(door, 'evidence.verify', { path: forged });
      expect([name, answer]).toMatchObject([name, { result: { ok: false } }]);
      expect(JSON.stringify(answer)).toContain('outside.txt');
    }
    expect(writtenIn(own.dir)).toEqual([]);
    if (no > 0) continue;
    const checked = await own.ask('verify', forged);
    expect([checked.code, checked.out]).toEqual([1, expect.stringContaining('outside.txt')]);
  }
  expect([join(own.dir, '..', 'outside.txt'), '/tmp/outside.txt'].filter((path) => existsSync(path))).toEqual([]);
});
