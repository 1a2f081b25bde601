import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { ArtifactNo } from '../../../src/core/base/index.js';
import { saveFact } from '../../../src/core/chain/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { derive } from '../../../src/core/project/upkeep.js';
import { derivedName, isDerivedName, openDatabase } from '../../../src/core/store/index.js';
import { type Desk, desk } from '../../support/desk.js';
import { root } from '../../support/machine.js';
import { olderDatabase } from '../../support/older.js';
import { emptyProject, scratch } from '../../support/project.js';

const sample = join(root, 'resources/sample');

/** A project with the sample, on a machine of its own. */
async function imported(): Promise<{ dir: string; stemma: Desk; dataDir: string }> {
  const dataDir = scratch();
  const stemma = desk(dataDir);
  const { dir } = await stemma.call.project.create({ dir: join(scratch(), 'work') });
  for await (const _ of await stemma.call.import.run({ paths: [sample] }));
  return { dir, stemma, dataDir };
}

async function reopened(dataDir: string, dir: string): Promise<Desk> {
  const stemma = desk(dataDir);
  await stemma.call.project.open({ dir });
  return stemma;
}

/** What is answered from derived data: outlines, sums of usage, the graph, the search index, SQL. */
async function answers({ call }: Desk): Promise<unknown> {
  const tips = await call.context.tips({});
  const search = async (): Promise<unknown> => {
    for (let asked = 0; asked < 50; asked++) {
      const { hits, pending } = await call.search.query({ text: 'test', limit: 5 });
      if (pending === 0) return hits.map(({ commit, entryKey }) => [commit, entryKey]);
    }
    throw new Error('the index is never complete');
  };
  return {
    outlines: await Promise.all(tips.slice(0, 6).map(async ({ id }) => (await call.context.outline({ id })).rows)),
    sessions: await call.usage.sessions({}),
    graph: (await call.context.graph({ offset: 0, limit: 20 })).rows,
    hits: await search(),
    rows: (await call.analysis.sql({ sql: 'SELECT model, SUM(output_tokens) FROM calls GROUP BY 1 ORDER BY 1' })).rows,
  };
}

const fileIn = (dir: string): string => join(dir, derivedName);
const rowsIn = (dir: string, table: string): number => {
  const raw = new Database(fileIn(dir), { readonly: true });
  onTestFinished(() => void raw.close());
  return raw.prepare(`SELECT COUNT(*) FROM "${table}"`).pluck().get() as number;
};

function removeAll(dir: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${fileIn(dir)}${ending}`, { force: true });
}

test('a locked project without derived data opens at once, and gets its file after the lock', async () => {
  const { dir, stemma, dataDir } = await imported();
  const before = await answers(stemma);
  stemma.engine.close();
  removeAll(dir);
  const other = new Database(join(dir, 'stemma.db'));
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  const again = desk(dataDir);
  const from = performance.now();
  await again.call.project.open({ dir });
  expect((await again.call.session.list({ limit: 5 })).sessions.length).toBeGreaterThan(0);
  // SQLite waits for half a minute elsewhere.
  expect(performance.now() - from).toBeLessThan(10_000);
  other.exec('COMMIT');
  expect(await answers(again)).toEqual(before);
  expect(rowsIn(dir, 'usageCall')).toBeGreaterThan(0);
});

test('[S27] the record has no derived table, and the file beside it has all of them', async () => {
  const { dir, stemma } = await imported();
  await answers(stemma);
  const record = new Database(join(dir, 'stemma.db'), { readonly: true });
  onTestFinished(() => void record.close());
  expect(record.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'usage*' OR name GLOB 'search*' OR name = 'outline'").all()).toEqual([]);
  for (const table of ['outline', 'usageCall', 'searchCommit']) expect(rowsIn(dir, table)).toBeGreaterThan(0);
  expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
  stemma.engine.close();
});

test('[T33] facts about deltas of a kilobyte fill their pages', () => {
  const { chain, dir, close } = emptyProject();
  const fact = { format: 'claude-code-v1', name: 'filler', version: 1, data: 'x'.repeat(1_150) };
  chain.db.transaction(() => {
    for (let artifact = 1; artifact <= 1_000; artifact++) saveFact(chain, { artifact: artifact as ArtifactNo, ...fact });
  });
  close();
  expect(statSync(fileIn(dir)).size).toBeLessThan(1_000 * 1_150 * 1.6);
});

const harms: readonly (readonly [string, (file: string) => void])[] = [
  ['deleted', (file) => rmSync(file)],
  ['empty', (file) => writeFileSync(file, '')],
  ['no database', (file) => writeFileSync(file, 'what is this?'.repeat(1_000))],
  ['cut', (file) => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
  [
    'full of noise after its first page',
    (file) => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 8192), Buffer.alloc(400_000, 0xa5)])),
  ],
  [
    'a link to another file',
    (file) => {
      renameSync(file, `${file}.elsewhere`);
      symlinkSync(`${file}.elsewhere`, file);
    },
  ],
  [
    'a folder',
    (file) => {
      rmSync(file);
      symlinkSync('.', file);
    },
  ],
];

/** Changes a byte in the middle of each page: SQLite itself notices none of them. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  for (let at = 5_000; at < bytes.length; at += 4_096) bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

/** What only another program does to the file, while Stemma does not have it open. */
const changes: typeof harms = [
  ...harms,
  ['with flipped bits', flip],
  [
    'with a page of zeros',
    (file) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0, bytes.length - 8_192, bytes.length - 4_096));
    },
  ],
  [
    'without two of its tables',
    (file) => {
      const raw = new Database(file);
      raw.exec('ALTER TABLE searchWords RENAME TO elsewhere; DROP TABLE usageSum');
      raw.close();
    },
  ],
];

test.each(changes)('[S27] answers are the same if the derived file is %s before the project is opened', async (_, harm) => {
  const { dir, stemma, dataDir } = await imported();
  const before = await answers(stemma);
  stemma.engine.close();
  harm(fileIn(dir));
  const again = await reopened(dataDir, dir);
  expect(await answers(again)).toEqual(before);
  expect((await again.call.project.check({})).problems).toEqual([]);
  again.engine.close();
});

test.each(harms)('[S27] answers are the same if the derived file is %s while the project is open', async (_, harm) => {
  const { dir, stemma } = await imported();
  const before = await answers(stemma);
  const [tip] = await stemma.call.context.tips({});
  harm(fileIn(dir));
  expect(await answers(stemma)).toEqual(before);
  // What is acknowledged meanwhile is in the record.
  await stemma.call.context.update({ id: tip?.id ?? '', tags: ['kept'] });
  expect((await stemma.call.context.show({ id: tip?.id ?? '' })).tags).toEqual(['kept']);
  stemma.engine.close();
});

test('[S27] a file that was closed is used again, and is sealed meanwhile', async () => {
  const { dir, stemma, dataDir } = await imported();
  await answers(stemma);
  const calls = (): unknown => {
    const raw = new Database(fileIn(dir), { readonly: true });
    try {
      return raw.prepare('SELECT COUNT(*) FROM usageCall').pluck().get();
    } finally {
      raw.close();
    }
  };
  const [stored, seal] = [calls(), `${fileIn(dir)}-seal`];
  expect(stored).toBeGreaterThan(0);
  stemma.engine.close();
  for (let times = 0; times < 2; times++) {
    expect([statSync(seal).mode & 0o777, existsSync(`${fileIn(dir)}-wal`)]).toEqual([0o600, false]);
    const again = await reopened(dataDir, dir);
    expect([calls(), existsSync(seal)]).toEqual([stored, false]);
    // Another connection that closes earlier does not seal a file that is in use.
    openDatabase(join(dir, 'stemma.db')).close();
    expect(existsSync(seal)).toBe(false);
    again.engine.close();
  }
});

test('[S27] background work derives everything anew, outlines included', async () => {
  const { dir, stemma, dataDir } = await imported();
  stemma.engine.close();
  removeAll(dir);
  const again = await reopened(dataDir, dir);
  const { chain } = again.engine.held(dir) as Project;
  const missing = (): unknown =>
    chain.db.one("SELECT COUNT(*) AS n FROM commits c WHERE c.type = 'delta' AND NOT EXISTS (SELECT 1 FROM outline o WHERE o.artifact = c.artifact)");
  expect(missing()).not.toEqual({ n: 0 });
  for (const _ of derive(chain));
  expect(missing()).toEqual({ n: 0 });
  again.engine.close();
});

test('[S27] what another machine wrote into the derived file is not believed', { tags: 'long' }, async () => {
  const { dir, stemma } = await imported();
  const before = await answers(stemma);
  stemma.engine.close();
  const raw = new Database(fileIn(dir));
  raw.exec('UPDATE usageCall SET output = 999999; UPDATE usageSum SET output = 999999');
  raw.close();
  const other = desk(scratch());
  await other.call.project.open({ dir });
  await other.call.project.trust({ dir });
  expect(await answers(other)).toEqual(before);
  other.engine.close();
});

test('[S27] a derived file that is ahead of its record is begun anew', { tags: 'long' }, async () => {
  const { dir, stemma, dataDir } = await imported();
  const before = await answers(stemma);
  stemma.engine.close();
  const copy = readFileSync(join(dir, 'stemma.db'));
  const later = await reopened(dataDir, dir);
  for await (const _ of await later.call.import.run({ paths: [join(root, 'test/fixtures/usage/branches.jsonl')] }));
  await answers(later);
  later.engine.close();
  expect(existsSync(join(dir, 'stemma.db-wal'))).toBe(false);
  // A person puts an earlier copy of the record back.
  writeFileSync(join(dir, 'stemma.db'), copy);
  const again = await reopened(dataDir, dir);
  expect(await answers(again)).toEqual(before);
  again.engine.close();
});

test('[S27] a project of an earlier format gives up derived tables, and other layouts', () => {
  const dir = scratch();
  const file = join(dir, 'stemma.db');
  writeFileSync(file, olderDatabase(47));
  writeFileSync(join(dir, 'derived-0.db'), 'of an earlier layout');
  const raw = new Database(file);
  raw.exec(readFileSync(join(root, 'test/support/derived-of-format-47.sql'), 'utf8'));
  raw.exec(`INSERT INTO project (no, projectId, name, createdAt) VALUES (1, 'p', 'old', 1);
    INSERT INTO usageCall (project, call, context, key, session, subagent, agent, at) VALUES (1, 'c', 1, 'k', 's', '', 'a', 1);
    INSERT INTO progress (project, name, value) VALUES (1, 'usage', 7), (1, 'repack', 3)`);
  raw.close();
  const db = openDatabase(file);
  expect(db.all("SELECT name FROM main.sqlite_schema WHERE name GLOB 'usage*' OR name GLOB 'search*' OR name = 'outline'")).toEqual([]);
  expect(db.all('SELECT call FROM usageCall')).toEqual([]);
  expect(db.all('SELECT name, value FROM progress')).toEqual([{ name: 'repack', value: 3 }]);
  expect(db.all('SELECT name FROM derivedProgress')).toEqual([]);
  expect(db.changedDefinitions()).toEqual([]);
  db.close();
  expect(['derived-0.db', 'derived-13.db-wal', 'stemma.db', 'derived-1.db.part'].map(isDerivedName)).toEqual([true, true, false, false]);
  expect(existsSync(join(dir, 'derived-0.db'))).toBe(false);
});

test('[S27] a connection that only reads computes without the file, and uses it when it is there', () => {
  const file = join(scratch(), 'stemma.db');
  const writer = openDatabase(file, { mark: 'of this machine' });
  rmSync(join(file, '..', derivedName));
  const reader = openDatabase(file, { readonly: true, mark: 'of this machine' });
  expect(reader.all('SELECT * FROM derivedProgress')).toEqual([]);
  const before = reader.version();
  writer.transaction(() => writer.run("INSERT INTO derivedProgress (project, name, value) VALUES (1, 'usage', 7)"));
  expect(reader.version()).not.toBe(before);
  expect(reader.all('SELECT value FROM derivedProgress')).toEqual([{ value: 7 }]);
  expect(() => reader.one('UPDATE derivedProgress SET value = 8 RETURNING value')).toThrow(/read-only/);
  removeAll(join(file, '..'));
  expect(reader.version()).not.toBe(before);
  expect(reader.all('SELECT value FROM derivedProgress')).toEqual([]);
  reader.close();
  writer.close();
});

test('[S27] a link that leads to itself in place of the log is no log, and the record is read', () => {
  const file = join(scratch(), 'stemma.db');
  openDatabase(file).close();
  const log = join(file, '..', `${derivedName}-wal`);
  rmSync(log, { force: true });
  symlinkSync(log, log);
  const reader = openDatabase(file, { readonly: true });
  expect(reader.all('SELECT * FROM project')).toEqual([]);
  reader.close();
});
