// Small files that unpack, nest or repeat without end: they are refused by name, and cost little memory and time.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ImportResult } from '../../src/core/contract/index.js';
import { readZip } from '../../src/core/evidence/zip.js';
import { namedFile } from '../../src/core/files/index.js';
import { importableFormats } from '../../src/core/formats/index.js';
import { measuredMembers } from '../../src/core/import/index.js';
import { withHolding } from '../../src/core/import/members.js';
import { type ForeignRows, withForeign } from '../../src/core/store/index.js';
import { decoded } from '../../src/main/proxy/decode.js';
import { ensureBuilt } from '../support/built.js';
import { prompt } from '../support/claude-lines.js';
import { importInto } from '../support/imports.js';
import { built, type Machine, machine, node } from '../support/machine.js';
import { emptyChain } from '../support/project.js';

const mebibyte = 1024 ** 2;
/** An import of a small file takes about 200 MiB. */
const maxMemory = 1_000 * mebibyte;
const patience = 120_000;

let own: Machine;
beforeAll(ensureBuilt);
beforeEach(() => {
  own = machine();
});
afterEach(() => own[Symbol.asyncDispose]());

/** Prints the most memory that a process had, in kB. Where the system says only `maxRSS`, that of its parent at the fork is included. */
const report = `import { existsSync, readFileSync } from 'node:fs';
const own = () => existsSync('/proc/self/status') && /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
process.on('exit', () => process.stderr.write('peak=' + (own() || process.resourceUsage().maxRSS) + ';'));`;

/** Runs a command and says how many bytes of memory its process had at most, all threads included. */
function measured(...words: string[]): Promise<{ readonly code: number | null; readonly out: string; readonly peak: number }> {
  const child = spawn(node, ['--import', `data:text/javascript,${encodeURIComponent(report)}`, built('cli', 'stemma.js'), ...words], {
    cwd: own.cwd,
    env: own.env,
    timeout: patience,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part: Buffer) => (out += part.toString()));
  child.stderr.on('data', (part: Buffer) => (err += part.toString()));
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      const peak = Number(/peak=(\d+);/.exec(err)?.[1]) * 1024;
      if (Number.isNaN(peak)) reject(new Error(`it ended with ${code} and no measure: ${err.slice(-500)}`));
      else resolve({ code, out, peak });
    });
  });
}

async function expectHarmless(path: string, reason: RegExp): Promise<void> {
  const { code, out, peak } = await measured('import', path, '--project', own.path('p.stemma'), '--json');
  expect(code).toBe(0);
  const { skipped } = JSON.parse(out) as ImportResult;
  expect(skipped.map((one) => one.reason).join('\n')).toMatch(reason);
  expect(peak).toBeLessThan(maxMemory);
}

const historyFolder = (): string => {
  const folder = own.path('history');
  mkdirSync(folder);
  return folder;
};

const rollout = `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'session_meta', payload: { id: 's', cwd: '/work', cli_version: '0.60.0' } })}\n`;

test.each([
  ['spaces', 0x20, /expands from \d+ bytes to more than/],
  ['NUL bytes', 0, /expands from \d+ bytes to more than/],
])('[T15] a compressed session of a gigabyte of %s is refused', { tags: 'long' }, async (_, byte, reason) => {
  // 31 KB of zstd: the import took 2 GB.
  const path = join(historyFolder(), 'rollout-2026-01-01T00-00-00-s.jsonl.zst');
  // Made by another process, so that this one does not hold a gigabyte.
  const make = `fs.writeFileSync(process.argv[1], zlib.zstdCompressSync(Buffer.concat([Buffer.from(process.argv[2]), Buffer.alloc(2 ** 30, ${byte})])))`;
  execFileSync(node, ['-e', make, path, rollout]);
  expect(statSync(path).size).toBeLessThan(200_000);
  await expectHarmless(path, reason);
});

test('[T15] a compressed session of millions of empty lines is refused', { tags: 'long' }, async () => {
  // Below the limit of bytes: each line cost a hundred bytes of memory.
  const path = join(historyFolder(), 'rollout-2026-01-01T00-00-00-s.jsonl.zst');
  writeFileSync(path, zstdCompressSync(Buffer.concat([Buffer.from(rollout), Buffer.alloc(60 * mebibyte, '\n')])));
  await expectHarmless(path, /more than 1000000 lines/);
});

test('[T15] a line of a gigabyte is refused', { tags: 'long' }, async () => {
  // A file with a hole: it takes no space on the disk, and one of 4 GB took 3 GB of memory.
  const path = join(historyFolder(), 's.jsonl');
  writeFileSync(path, prompt('a', 'asked'));
  truncateSync(path, 1024 ** 3);
  await expectHarmless(path, /a line or a turn of more than \d+ bytes/);
});

test('[T15] millions of lines that are no records are refused', { tags: 'long' }, async () => {
  const path = join(historyFolder(), 's.jsonl');
  writeFileSync(path, Buffer.concat([Buffer.from(prompt('a', 'asked')), Buffer.alloc(12 * mebibyte, '1\n')]));
  await expectHarmless(path, /more than 100000 of its lines are not records/);
});

const nested = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
test.each([
  ['s.jsonl', `${prompt('a', 'asked')}{"type":"user","uuid":"b","message":{"role":"user","content":${nested}}}\n`],
  ['rollout-2026-01-01T00-00-00-s.jsonl', `${rollout}{"type":"response_item","payload":{"type":"message","role":"user","content":${nested}}}\n`],
  [
    'session-1.json',
    `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","messages":[{"id":"1","type":"user","content":${nested}}]}`,
  ],
  ['export.json', `{"info":{"id":"ses_1","directory":"/work"},"messages":[{"info":{"id":"msg_1","role":"user"},"parts":${nested}}]}`],
])('[T15] a value that nests a million deep is refused in %s', { tags: 'long' }, async (name, text) => {
  const path = join(historyFolder(), name);
  writeFileSync(path, text);
  await expectHarmless(path, /./);
});

test('[T15] a side file that nests deep, and many problems, change nothing', { tags: 'long' }, async () => {
  const folder = historyFolder();
  writeFileSync(join(folder, 'agent-a.jsonl'), prompt('a', 'asked') + 'torn\n'.repeat(20_000));
  writeFileSync(join(folder, 'agent-a.meta.json'), `{"toolUseId":${'['.repeat(400_000)}${']'.repeat(400_000)}}`);
  const { code, out, peak } = await measured('import', folder, '--project', own.path('p.stemma'), '--json');
  expect(code).toBe(0);
  const { skipped, commits } = JSON.parse(out) as ImportResult;
  expect(commits).toBe(1);
  expect(skipped.length).toBeLessThan(1_010);
  expect(peak).toBeLessThan(maxMemory);
});

test('[T15] a recorded reply that is packed again and again is not unpacked', { tags: 'long' }, async () => {
  let body: Buffer = Buffer.alloc(8 * mebibyte);
  for (let times = 0; times < 4; times++) body = zstdCompressSync(body);
  await expect(decoded(body, Array(4).fill('zstd').join(', '))).rejects.toThrow(/packed 4 times/);
  await expect(decoded(zstdCompressSync(Buffer.alloc(65 * mebibyte)), 'zstd')).rejects.toThrow();
});

/** A ZIP archive with one entry that its directory lists under several names, each of them the same bytes. */
function archiveOf(content: Uint8Array, length: number, names: readonly string[], method = 93): Buffer {
  const record = (name: string, isListed: boolean): Buffer => {
    const title = Buffer.from(name);
    const head = Buffer.alloc(isListed ? 46 : 30);
    head.writeUInt32LE(isListed ? 0x02014b50 : 0x04034b50, 0);
    const at = isListed ? 10 : 8;
    head.writeUInt16LE(method, at);
    head.writeUInt32LE(content.length, at + 10);
    head.writeUInt32LE(length, at + 14);
    head.writeUInt16LE(title.length, at + 18);
    return Buffer.concat([head, title]);
  };
  const local = Buffer.concat([record(names[0] ?? '', false), content]);
  const directory = Buffer.concat(names.map((name) => record(name, true)));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

const inspect = importableFormats.find(({ id }) => id === 'inspect-eval-v1');
const samples = (count: number): string[] => Array.from({ length: count }, (_, at) => `samples/${at}_epoch_1.json`);
const manyObjects = Buffer.from(`{"id":1,"messages":[${'{},'.repeat(5_000_000)}{}]}`);

test.each([
  [
    'an entry of 255 MiB of spaces',
    () => archiveOf(zstdCompressSync(Buffer.alloc(255 * mebibyte, 0x20)), 255 * mebibyte, samples(1)),
    /its entry samples.* expands from/,
  ],
  ['an entry that a thousand names share', () => archiveOf(zstdCompressSync(manyObjects), manyObjects.length, samples(1_000)), /^it expands from/],
])('[T15] a log of Inspect with %s is refused', async (_, make, reason) => {
  // 8 KB cost a gigabyte for each of its samples.
  const path = join(historyFolder(), 'log.eval');
  writeFileSync(path, make());
  await expectHarmless(path, reason);
});

test('[T15] a log of Inspect that claims less than an entry expands to reads no more of it', { tags: 'long' }, async () => {
  const path = join(historyFolder(), 'log.eval');
  writeFileSync(path, archiveOf(zstdCompressSync(manyObjects), 1_000, samples(10)));
  await expectHarmless(path, /^$/);
});

test('[T15] a log of 30,000 samples is read in time proportional to their number', { tags: 'long' }, () => {
  // Each sample once searched the names of all entries.
  const names = Array.from({ length: 30_000 }, (_, at) => `samples/${at}/sample.json`);
  const members = [...(inspect?.exports?.members(archiveOf(Buffer.from('{}'), 2, names, 0), 'log.eval') ?? [])];
  expect(members).toHaveLength(30_000);
  expect(members.map((member) => member.lines().bytes.length).every((length) => length > 0)).toBe(true);
});

test('[T15] a database of OpenClaw whose events expand without measure is refused', { tags: 'long' }, async () => {
  const path = join(historyFolder(), 'openclaw-agent.sqlite');
  const raw = new Database(path);
  raw.exec('CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)');
  const event = zstdCompressSync(Buffer.from(`{"type":"message","text":"${' '.repeat(32 * mebibyte)}"}`));
  for (let seq = 0; seq < 200; seq++) raw.prepare("INSERT INTO transcript_events VALUES ('s', ?, NULL, ?)").run(seq, event);
  raw.close();
  expect(statSync(path).size).toBeLessThan(4 * mebibyte);
  await expectHarmless(path, /an event of it expands from/);
});

/** Milliseconds that reading takes at most. What grew with the square of its size took minutes. */
const linear = 20_000;

test(
  '[T15] names in a log of Inspect are read once, whatever they contain',
  () => {
    // Each slash began a search that went on to the end of the name.
    const names = Array.from({ length: 20 }, (_, at) => `samples/${'/'.repeat(60_000)}\n${at}`);
    expect([...(inspect?.exports?.members(archiveOf(Buffer.from('{}'), 2, ['header.json', ...names], 0), 'log.eval') ?? [])]).toEqual(
      expect.any(Array),
    );
  },
  linear,
);

test(
  '[T15] a sample of thousands of tries is read once',
  () => {
    // Each try read the whole sample again.
    const tries = Array.from({ length: 3_000 }, (_, at) => ({ events: [{ event: 'info', uuid: `e${at}`, data: 'x'.repeat(300) }] }));
    const sample = Buffer.from(JSON.stringify({ id: 1, epoch: 1, messages: [], error_retries: tries }));
    const members = [...(inspect?.exports?.members(archiveOf(sample, sample.length, ['samples/1_epoch_1.json'], 0), 'log.eval') ?? [])];
    expect(members.length).toBeGreaterThan(3_000);
    for (const member of members) expect(member.lines().bytes.length).toBeGreaterThan(0);
  },
  linear,
);

/** The conversations of a database of another program, and what reading each of them gives. */
function conversationsIn(path: string): readonly (number | string)[] {
  return (
    withHolding(namedFile(path), undefined, ({ members }) =>
      [...members].map((member) => {
        try {
          return member.lines().bytes.length;
        } catch (error) {
          return (error as Error).message;
        }
      }),
    ) ?? []
  );
}

test('[T15] 200,000 bubbles of Cursor are listed in time proportional to their number', { tags: 'long', timeout: linear }, () => {
  const path = join(historyFolder(), 'state.vscdb');
  const raw = new Database(path);
  raw.exec(`CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO cursorDiskKV SELECT 'bubbleId:c:' || i, '{}' FROM n;
    INSERT INTO cursorDiskKV VALUES ('composerData:c', '{"name":"Many"}')`);
  raw.close();
  expect(withHolding(namedFile(path), undefined, ({ members }) => [...members].map(({ id }) => id))).toEqual(['c']);
});

test('[T15] a row that is too large is refused by name, and the other conversations are read', { tags: 'long', timeout: 60_000 }, () => {
  const path = join(historyFolder(), 'state.vscdb');
  const raw = new Database(path);
  raw.exec(`CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
    INSERT INTO cursorDiskKV VALUES ('bubbleId:a:1', zeroblob(140000000)), ('bubbleId:b:1', '{"type":1,"text":"asked"}'),
      ('composerData:a', '{"name":"Huge"}'), ('composerData:b', '{"name":"Small"}')`);
  raw.close();
  const before = process.memoryUsage().arrayBuffers;
  expect(conversationsIn(path)).toEqual([expect.stringMatching(/^a row of its table cursorDiskKV has 1400\d+ bytes/), expect.any(Number)]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * mebibyte);
});

test('[T15] a first event of OpenClaw that expands too much hides no other session', () => {
  const path = join(historyFolder(), 'openclaw-agent.sqlite');
  const raw = new Database(path);
  raw.exec(`CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
    INSERT INTO transcript_events VALUES ('b', 0, '{"type":"session"}', NULL)`);
  raw.prepare("INSERT INTO transcript_events VALUES ('a', 0, NULL, ?)").run(zstdCompressSync(Buffer.alloc(65 * mebibyte)));
  raw.close();
  expect(conversationsIn(path)).toEqual([expect.stringMatching(/^an event of it expands from/), expect.any(Number)]);
});

test('[T15] a conversation too large for the memory is refused, and the others are read', () => {
  const rows: ForeignRows = {
    tables: new Map(),
    *each(table) {
      for (let at = 0; at < (table === 'large' ? 4 : 1); at++) yield { value: 'x'.repeat(100 * mebibyte) };
    },
  };
  const database = {
    members: (given: ForeignRows) =>
      ['large', 'small'].map((table) => ({ id: table, lines: () => ({ bytes: Buffer.alloc([...given.each(table, [])].length) }) })),
  };
  const [large, small] = [...measuredMembers(database as never, rows)];
  expect(() => large?.lines()).toThrow(/the conversation has more than 268435456 bytes/);
  expect(small?.lines().bytes).toHaveLength(1);
});

test('[T15] a look-up by several columns does not scan, whatever indexes a database has', { tags: 'long', timeout: linear }, () => {
  const path = join(historyFolder(), 'other.db');
  const raw = new Database(path);
  // Every row has the same first column, and the only index is over it.
  raw.exec(`CREATE TABLE step (thread TEXT, id TEXT, value TEXT); CREATE INDEX one ON step(thread);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO step SELECT 't', 'i' || i, 'v' FROM n`);
  raw.close();
  const found = withForeign(namedFile(path), ({ rows }) => {
    let all = 0;
    for (let at = 1; at <= 40_000; at++) all += [...rows.each('step', ['value'], { thread: 't', id: `i${at}` })].length;
    return all;
  });
  expect(found).toBe(40_000);
});

test('[T15] a pack of evidence with more files than a ZIP can list is refused while it is read', () => {
  // Each file is a header of 30 bytes and a name: a pack of the largest size would be more names than memory holds.
  const header = Buffer.alloc(36);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(6, 26);
  const file = Buffer.concat(
    Array.from({ length: 70_000 }, (_, at) => {
      header.write(String(at).padStart(6, '0'), 30);
      return Buffer.from(header);
    }),
  );
  expect(() => readZip(file)).toThrow(/more than 65535 files/);
});

test(
  '[T15] a log of Inspect with 60,000 empty entries is refused by name',
  () => {
    // Each entry became a conversation of its own: a file of 5 MB made 60,000 commits.
    const path = join(historyFolder(), 'log.eval');
    writeFileSync(path, archiveOf(Buffer.alloc(0), 0, samples(60_000), 0));
    const chain = emptyChain();
    const { commits, skipped } = importInto(chain, path);
    expect(commits).toBe(0);
    expect(skipped).toEqual([expect.objectContaining({ path, reason: expect.stringContaining('no log of Inspect') })]);
  },
  linear,
);
