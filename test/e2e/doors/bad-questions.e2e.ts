import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import type { WebHost } from '../../support/machine.js';
import { ask } from '../../support/raw-web.js';

/** What a person or an agent may ask wrongly, with what the answer says. */
const wrong: readonly (readonly [procedure: string, input: object, status: number, says: RegExp])[] = [
  ['analysis.sql', { sql: 'DELETE FROM calls' }, 400, /cannot modify calls/],
  ['analysis.sql', { sql: "UPDATE sessions SET title = 'x'" }, 400, /cannot modify sessions/],
  ['analysis.sql', { sql: 'CREATE TABLE x (a)' }, 400, /creates a table|inserts rows/],
  ['analysis.sql', { sql: "ATTACH '/etc/passwd' AS x" }, 400, /attaches a database/],
  ['analysis.sql', { sql: "SELECT load_extension('/tmp/x.so')" }, 400, /load_extension/],
  ['analysis.sql', { sql: 'PRAGMA journal_mode = DELETE' }, 400, /PRAGMA/],
  ['analysis.sql', { sql: 'SELECT * FROM commits' }, 400, /the table commits/],
  ['analysis.sql', { sql: 'SELECT nothing FROM calls' }, 400, /nothing/],
  ['analysis.query', { from: 'calls', select: ['nothing'] }, 400, /no column ..nothing.*It has request_id/],
  ['analysis.query', { from: 'nowhere', select: '*' }, 400, /nowhere|sessions/],
  ['analysis.export', { sql: 'DELETE FROM calls', format: 'csv', path: 'PATH' }, 400, /cannot modify calls/],
  ['analysis.export', { dataset: true, format: 'csv', path: 'PATH' }, 400, /written as parquet/],
  ['usage.calls', { filter: { from: '2026-02-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' } }, 400, /2026-01-01/],
  ['usage.sessions', { filter: { from: '2026-02-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' } }, 400, /2026-01-01/],
  ['evidence.pack', { ids: ['ctx-99999999'], path: 'PATH' }, 404, /ctx-99999999/],
];

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';

/** How to call the engine over HTTP, each time with a connection of its own. */
const caller =
  ({ port, bearer }: WebHost) =>
  async (procedure: string, input: object) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const { status, body } = await ask(port, `/api/${procedure.replace('.', '/')}`, headers, 'POST', JSON.stringify(input));
    return { status, text: body };
  };

/** The digest of the record, and what is in the folder. */
const stateOf = (project: string) => ({
  record: createHash('sha256')
    .update(readFileSync(join(project, 'stemma.db')))
    .digest('hex'),
  files: readdirSync(project).filter((name) => !/-(wal|shm|seal)$/.test(name)),
});

test('[Q1] wrong questions are refused by name over HTTP, and nothing is written', { tag: '@long' }, async ({ machine }) => {
  const history = machine.giveHistory();
  const project = machine.path('work', 'p.stemma');
  expect(await machine.run('init', project)).toMatchObject({ code: 0 });
  expect(await machine.run('import', '--project', project, history)).toMatchObject({ code: 0 });
  const path = machine.path('work', 'out.csv');
  const call = caller(await machine.web(project));
  expect(await call('analysis.sql', { sql: 'SELECT count(*) FROM calls' })).toMatchObject({ status: 200 });
  const before = stateOf(project);
  const others: unknown[] = [];
  for (const [procedure, input, status, says] of wrong) {
    const answer = await call(procedure, JSON.parse(JSON.stringify(input).replace('PATH', path)) as object);
    if (answer.status !== status || !says.test(answer.text)) others.push({ input, ...answer });
  }
  expect(others).toEqual([]);
  expect(stateOf(project)).toEqual(before);
  expect(existsSync(path)).toBe(false);
});

test('[Q2] an endless question and one of a billion rows leave the engine responsive', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect(await machine.run('init', project)).toMatchObject({ code: 0 });
  const host = await machine.web(project);
  const call = caller(host);
  const many = await call('analysis.sql', { sql: `${endless} SELECT i FROM n LIMIT 1000000000`, limit: 1_000 });
  expect(many.status).toBe(200);
  expect(JSON.parse(many.text)).toMatchObject({ truncated: true, rows: { length: 1_000 } });
  const stop = new AbortController();
  const asked = fetch(`${host.origin}/api/analysis/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sql: `${endless} SELECT count(*) FROM n` }),
    signal: stop.signal,
  }).catch(() => 'canceled');
  const waits: number[] = [];
  for (let round = 0; round < 20; round++) {
    const from = performance.now();
    expect((await call('project.info', {})).status).toBe(200);
    waits.push(performance.now() - from);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  stop.abort();
  expect(await asked).toBe('canceled');
  expect(waits.toSorted((a, b) => a - b)[10]).toBeLessThan(500);
});

test('[Q1] wrong questions, rules and packs are refused by the command line', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  expect(await machine.run('init', project)).toMatchObject({ code: 0 });
  const before = stateOf(project);
  const refusals = [
    { words: ['sql', 'DROP TABLE commits'], says: /deletes rows/ },
    { words: ['sql', 'SELECT nothing FROM calls'], says: /nothing/ },
    { words: ['sql', 'DELETE FROM calls', '-o', machine.path('work', 'x.csv')], says: /cannot modify calls/ },
    { words: ['call', 'usage.sessions', '--input', '{"filter":{"from":"2026-02-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}}'], says: /2026-01-01/ },
  ];
  const others: unknown[] = [];
  for (const { words, says } of refusals) {
    const { code, err } = await machine.run(...words, '--project', project);
    if (code === 0 || !says.test(err)) others.push({ words, code, err });
  }
  expect(others).toEqual([]);
  expect(existsSync(machine.path('work', 'x.csv'))).toBe(false);
  expect(stateOf(project)).toEqual(before);

  // A wrong rule is named, and the others answer.
  const rules = machine.path('stemma', 'rules');
  mkdirSync(rules, { recursive: true });
  writeFileSync(join(rules, 'mine.sql'), '-- title: Mine\nDELETE FROM calls');
  const found = await machine.run('call', 'finding.rules', '--project', project);
  expect(found.code).toBe(0);
  const own = (JSON.parse(found.out) as { rules: { rule: string; problem?: string }[] }).rules.filter(({ problem }) => problem !== undefined);
  expect(own).toMatchObject([{ rule: 'mine', problem: expect.stringContaining('cannot modify calls') }]);

  const pack = machine.path('work', 'forged.zip');
  writeFileSync(pack, storedZip('../../outside', 'x'));
  const checked = await machine.run('verify', pack);
  expect(checked.code).not.toBe(0);
  expect(checked.out + checked.err).toContain('no intact pack of evidence');
  expect(existsSync(machine.path('outside'))).toBe(false);
});

/** A ZIP archive with one stored file. */
function storedZip(name: string, text: string): Buffer {
  const [path, body] = [Buffer.from(name), Buffer.from(text)];
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(20, 0);
  shared.writeUInt32LE(0x8cdc1683, 10);
  shared.writeUInt32LE(body.length, 14);
  shared.writeUInt32LE(body.length, 18);
  shared.writeUInt16LE(path.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, path, body]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared.subarray(0, 24), Buffer.alloc(16), path]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}
