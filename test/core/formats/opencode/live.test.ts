import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { entries, graph, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { follow, type Live, type LiveOptions, type LiveTimes } from '../../../../src/core/follow/index.js';
import { importPaths, listSources } from '../../../../src/core/import/index.js';
import { atOnce } from '../../../../src/core/project/index.js';
import { type Recorded, type Row, recorded, writeDatabase } from '../../../support/opencode.js';
import { emptyChain, scratch } from '../../../support/project.js';

const quick: LiveTimes = { settle: 5, maxWait: 40, rest: 60, quiet: 120, patience: 600_000 };
const realTime = (): number => performance.timeOrigin + performance.now();
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const summaries = (chain: WriteChain): string[] =>
  graph(chain, { offset: 0, limit: 100 })
    .rows.map(({ commit }) => commit.summary ?? '')
    .reverse();
const texts = (chain: WriteChain): unknown[] =>
  tips(chain, {})
    .map(({ id }) => entries(chain, { id }).entries.map((entry) => [entry.key, entry.text ?? entry.arguments]))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const none: Omit<Recorded, 'wire'> = { session: [], message: [], part: [], event: [] };

/** An agent that writes a recorded session, one message at a time, into a database that it keeps open. */
function agentAt(path: string, { session, message, part }: Omit<Recorded, 'wire'>) {
  writeDatabase(path, { ...none, session: session.slice(0, 0) }, { isOpen: false });
  const db = new Database(path, { timeout: 0 });
  onTestFinished(() => void db.close());
  const tables = { session: [...session], message: [...message], part: [...part] };
  for (const [table, rows] of Object.entries(tables)) {
    db.exec(`DROP TABLE ${table}`);
    db.exec(
      `CREATE TABLE ${table} (${Object.keys(rows[0] as Row)
        .map((column) => (column === 'id' ? 'id text PRIMARY KEY' : column))
        .join(', ')})`,
    );
  }
  db.exec('CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer)');
  db.pragma('wal_checkpoint(TRUNCATE)');
  const put = (table: keyof typeof tables, row: Row): void => {
    const columns = Object.keys(tables[table][0] as Row);
    db.prepare(`INSERT OR REPLACE INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(columns.map((column) => row[column] ?? null));
    const id = String(table === 'session' ? row.id : row.session_id);
    db.prepare('INSERT INTO event_sequence VALUES (?, 0) ON CONFLICT (aggregate_id) DO UPDATE SET seq = seq + 1').run(id);
  };
  const open = (row: Row): Row => {
    const { finish: _, ...data } = JSON.parse(String(row.data)) as { finish?: string; role: string; time: object };
    return { ...row, data: JSON.stringify({ ...data, time: { created: (data.time as { created: number }).created } }) };
  };
  return {
    db,
    put,
    tables,
    begin: (id: string) => put('session', tables.session.find((row) => row.id === id) as Row),
    /** Writes a message as the agent does: first its row, then its parts, then its completion. */
    write: (row: Row, isDone = true): void => {
      put('message', JSON.parse(String(row.data)).role === 'assistant' ? open(row) : row);
      for (const each of part.filter((one) => one.message_id === row.id)) put('part', each);
      if (isDone) put('message', row);
    },
  };
}

async function following(path: string, more: Partial<LiveOptions> = {}): Promise<{ chain: WriteChain; live: Live }> {
  const chain = emptyChain(realTime);
  const live = await follow(chain, { places: [{ path, agent: 'opencode' }], from: 'now', granularity: 'turn_boundary', times: quick, ...more });
  onTestFinished(() => live.close());
  return { chain, live };
}

const tour = recorded('tour');
const [first] = tour.session as [Row];
const messages = tour.message.filter((row) => row.session_id === first.id).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
const dataOf = (row: Row | undefined) => JSON.parse(String(row?.data)) as { role: string; finish?: string };

test('[L1, L2] a followed session is recorded turn by turn and equals an import', async () => {
  const path = join(scratch(), 'opencode.db');
  const agent = agentAt(path, tour);
  const { chain, live } = await following(path);
  const base = readFileSync(path);
  agent.begin(String(first.id));
  let over = 0;
  for (const [at, message] of messages.entries()) {
    agent.write(message, false);
    if (dataOf(message).role === 'assistant' && dataOf(message).finish === 'stop') {
      const before = summaries(chain).length;
      // An unfinished turn is left for later.
      if (over === 0) {
        await soon(() => expect(live.status().files).toMatchObject([{ open: true }]));
        expect(summaries(chain)).toHaveLength(before);
      }
      agent.write(message);
      over += 1;
      await soon(() => expect(summaries(chain).length, `message ${at}`).toBeGreaterThan(before));
    } else agent.write(message);
  }
  expect(over).toBeGreaterThan(4);
  // The reader wrote nothing to the database and never delayed the agent, which waits for no lock (timeout 0).
  expect(readFileSync(path).equals(base)).toBe(true);
  expect(live.status().problems).toEqual([]);
  const whole = emptyChain(realTime);
  atOnce(importPaths(whole, { paths: [path] }));
  expect(texts(chain)).toEqual(texts(whole));
  expect(summaries(chain)).toEqual(summaries(whole));
});

test('[L1] nothing is missed when only the log changes or starts again', async () => {
  const path = join(scratch(), 'opencode.db');
  const agent = agentAt(path, tour);
  const { chain } = await following(path);
  agent.begin(String(first.id));
  for (const message of messages.slice(0, 4)) agent.write(message);
  await soon(() => expect(summaries(chain)).toHaveLength(1));
  agent.db.pragma('wal_checkpoint(TRUNCATE)');
  for (const message of messages.slice(4, 6)) agent.write(message);
  await soon(() => expect(summaries(chain)).toHaveLength(2));
  agent.db.pragma('wal_checkpoint(RESTART)');
  for (const message of messages.slice(6, 8)) agent.write(message);
  await soon(() => expect(summaries(chain)).toHaveLength(3));
});

test('[L5] a turn that the agent abandoned ends its session', async () => {
  const path = join(scratch(), 'opencode.db');
  const agent = agentAt(path, tour);
  const asked: string[] = [];
  const isRunning = (format: string, cwd: string): boolean => {
    asked.push(`${format} ${cwd}`);
    return false;
  };
  const { chain } = await following(path, { isRunning });
  agent.begin(String(first.id));
  for (const message of messages.slice(0, 3)) agent.write(message);
  await soon(() => expect(graph(chain, { offset: 0, limit: 9 }).rows.map(({ commit }) => commit.checkpoint)).toEqual(['session_end']));
  expect(asked[0]).toBe(`opencode-v1 ${first.directory}`);
});

test('following from now on records only new turns of the chosen directory', async () => {
  const path = join(scratch(), 'opencode.db');
  const agent = agentAt(path, tour);
  const other = tour.session[1] as Row;
  agent.begin(String(other.id));
  for (const message of tour.message.filter((row) => row.session_id === other.id)) agent.write(message);
  agent.begin(String(first.id));
  for (const message of messages.slice(0, 4)) agent.write(message);
  const { chain } = await following(path);
  const elsewhere = await following(path, { cwd: '/somewhere/else' });
  for (const message of messages.slice(4, 6)) agent.write(message);
  await soon(() => expect(listSources(chain)).toHaveLength(1));
  expect(listSources(chain)).toMatchObject([{ path: expect.stringContaining(String(first.id)) }]);
  elsewhere.live.flush(true);
  expect(listSources(elsewhere.chain)).toEqual([]);
});

test('[L6] an agent that is installed later is followed', async () => {
  const home = scratch();
  const path = join(home, '.local', 'share', 'opencode', 'opencode.db');
  const { chain, live } = await following(path);
  expect(live.status().places).toMatchObject([{ there: false }]);
  mkdirSync(join(home, '.local', 'share', 'opencode'), { recursive: true });
  const agent = agentAt(path, tour);
  // Other folders are ignored.
  mkdirSync(join(home, '.local', 'share', 'other'));
  for (const other of ['other/x.jsonl', 'x.json', 'opencode/log.json']) writeFileSync(join(home, '.local', 'share', other), '{"type":"user"}\n');
  agent.begin(String(first.id));
  for (const message of messages.slice(0, 4)) agent.write(message);
  await soon(() => expect(summaries(chain)).toHaveLength(1));
  expect(live.status().files.map((file) => file.path)).toEqual([path]);
  agent.db.close();
  const again = new Database(path);
  onTestFinished(() => void again.close());
  rmSync(`${path}-shm`, { force: true });
  expect(live.status()).toMatchObject({ problems: [], places: [{ there: true }] });
});

test('[L2] a fork that is still being copied makes no branch', async () => {
  const path = join(scratch(), 'opencode.db');
  const agent = agentAt(path, tour);
  const { chain, live } = await following(path);
  agent.begin(String(first.id));
  for (const message of messages.slice(0, 6)) agent.write(message);
  await soon(() => expect(summaries(chain)).toHaveLength(2));
  const copy = { ...first, id: 'ses_fork' };
  agent.tables.session.push(copy);
  agent.begin('ses_fork');
  const copied = messages.slice(0, 6).map((row) => ({ ...row, id: `${row.id}f`, session_id: 'ses_fork' }));
  for (const [n, row] of copied.entries()) {
    // The completed message comes before its parts.
    agent.put('message', row);
    if (n % 2) await soon(() => expect(live.status().files).toMatchObject([{ open: true }]));
    for (const part of tour.part.filter((one) => one.message_id === messages[n]?.id))
      agent.put('part', { ...part, id: `${part.id}f`, session_id: 'ses_fork', message_id: row.id });
  }
  await soon(() => expect(listSources(chain)).toHaveLength(2));
  expect(summaries(chain)).toHaveLength(2);
  expect(tips(chain, {})).toHaveLength(1);
});
