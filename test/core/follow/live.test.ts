import { appendFileSync, chmodSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { entries, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { follow, importGrowth, type Live, type LiveOptions, type LiveTimes } from '../../../src/core/follow/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce } from '../../../src/core/project/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';

const over = (text: string, reason = 'end_turn'): string => text.replace('"model":"m"', `"model":"m","stop_reason":"${reason}"`);
const question = (n: number, parent: string | null = n === 1 ? null : `a${n - 1}`): string => prompt(`u${n}`, `question ${n}`, { parent });
const reply = (n: number): string => over(answer(`a${n}`, `answer ${n}`, { parent: `u${n}` }));
const turn = (n: number): string => question(n) + reply(n);
const working = (n: number): string =>
  over(call(`c${n}`, `t${n}`, 'Bash', { command: 'ls' }, { parent: `u${n}` }), 'tool_use') + result(`r${n}`, `t${n}`, 'files', { parent: `c${n}` });
const bookkeeping = '{"type":"last-prompt","lastPrompt":"x","sessionId":"s1"}\n';
const left = '{"type":"cost-state","sessionId":"s1"}\n';

/** Moments instead of seconds; `patience` far beyond a test. */
const quick: LiveTimes = { settle: 5, maxWait: 40, rest: 60, quiet: 120, patience: 600_000 };

const realTime = (): number => performance.timeOrigin + performance.now();
const commits = (chain: WriteChain) => graph(chain, { offset: 0, limit: 100 }).rows.map((row) => row.commit);
const textsAtTip = (chain: WriteChain): (string | undefined)[] => {
  const [tip] = tips(chain, {});
  return tip ? entries(chain, { id: tip.id }).entries.map((entry) => entry.text ?? entry.toolName ?? String(entry.result)) : [];
};

async function followed(
  more: Partial<LiveOptions> = {},
  clock: () => number = realTime,
): Promise<{ chain: WriteChain; dir: string; path: string; live: Live }> {
  const chain = emptyChain(clock);
  const dir = scratch();
  const live = await follow(chain, { places: [{ path: dir }], from: 'beginning', granularity: 'turn_boundary', times: quick, ...more });
  onTestFinished(() => live.close());
  return { chain, dir, path: join(dir, '11111111-1111-4111-8111-111111111111.jsonl'), live };
}

const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });
/** Holds now, and goes on to hold while another file is written and taken in: so long the first was looked at as well. */
async function stays(chain: WriteChain, dir: string, check: () => void): Promise<void> {
  const before = commits(chain).length;
  writeFileSync(join(dir, '22222222-2222-4222-8222-222222222222.jsonl'), turn(90).replaceAll('"a89"', 'null'));
  await soon(() => expect(commits(chain).length).toBeGreaterThan(before));
  check();
}

describe('a transcript that grows', () => {
  test('[L1] each turn becomes a commit when it is over, not before', async () => {
    const { chain, dir, path } = await followed();
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
    appendFileSync(path, question(2) + working(2));
    await stays(chain, dir, () => expect(commits(chain).filter((commit) => commit.summary === 'question 2')).toEqual([]));
    appendFileSync(path, over(answer('a2', 'answer 2', { parent: 'r2' })));
    await soon(() => expect(commits(chain).map((commit) => commit.summary)).toContain('question 2'));
    expect(commits(chain).find((commit) => commit.summary === 'question 2')).toMatchObject({ checkpoint: 'turn_boundary', messageCount: 4 });
  });

  test('[L2] byte by byte or at once: the same entries, each once', async () => {
    const { chain, path } = await followed();
    const text =
      [1, 2, 3].map((n) => question(n) + working(n) + over(answer(`a${n}`, `answer ${n}`, { parent: `r${n}` }))).join('') + bookkeeping + left;
    writeFileSync(path, '');
    for (let at = 0; at < text.length; at += 97) {
      appendFileSync(path, text.slice(at, at + 97));
      if (at % 5 === 0) await new Promise((resume) => setImmediate(resume));
    }
    const whole = emptyChain(realTime);
    const copy = join(scratch(), '11111111-1111-4111-8111-111111111111.jsonl');
    writeFileSync(copy, text);
    atOnce(importPaths(whole, { paths: [copy] }));
    await soon(() => expect(textsAtTip(chain)).toEqual(textsAtTip(whole)));
    expect(textsAtTip(chain)).toHaveLength(12);
  });

  test('[L2] a turn that another process imports meanwhile is stored once', async () => {
    const { chain, path } = await followed();
    for (const n of [1, 2, 3, 4]) {
      appendFileSync(path, turn(n));
      importGrowth(chain, namedFile(path), { what: 'all', granularity: 'turn_boundary' });
    }
    await soon(() => expect(textsAtTip(chain)).toHaveLength(8));
    expect(commits(chain)).toHaveLength(4);
  });

  test('[L3] bookkeeping by itself makes no commit', async () => {
    const { chain, dir, path } = await followed();
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
    appendFileSync(path, bookkeeping + bookkeeping);
    await stays(chain, dir, () => expect(commits(chain)).toHaveLength(2));
  });

  test('[L4] a turn without a stop reason ends when nothing follows', async () => {
    const { chain, path } = await followed();
    writeFileSync(path, question(1) + answer('a1', 'an older version', { parent: 'u1' }));
    await soon(() => expect(textsAtTip(chain)).toEqual(['question 1', 'an older version']));
  });

  test('[L4] a clock that is set back by an hour delays no turn', async () => {
    let wrong = 0;
    const { chain, path } = await followed({ times: { ...quick, settle: 400, maxWait: 400 } }, () => realTime() + wrong);
    writeFileSync(path, question(1) + answer('a1', 'an older version', { parent: 'u1' }));
    await new Promise((resume) => setTimeout(resume, 200));
    wrong = -3_600_000;
    await soon(() => expect(textsAtTip(chain)).toEqual(['question 1', 'an older version']));
  });

  test('[L5] the end of the session is told by its file', async () => {
    const { chain, path } = await followed();
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
    appendFileSync(path, bookkeeping + left);
    await soon(() => expect(commits(chain)[0]).toMatchObject({ checkpoint: 'session_end' }));
    expect(textsAtTip(chain)).toHaveLength(2);
  });

  test('[L5] an agent that ends in the middle of a turn leaves a last checkpoint', async () => {
    let alive = true;
    const asked: string[] = [];
    const isRunning = (format: string, cwd: string): boolean => {
      asked.push(`${format} ${cwd}`);
      return alive;
    };
    const { chain, path } = await followed({ isRunning });
    writeFileSync(path, turn(1) + question(2) + working(2));
    await soon(() => expect(asked.length).toBeGreaterThan(1));
    expect(asked[0]).toBe('claude-code-v1 /work');
    expect(commits(chain)).toHaveLength(1);
    alive = false;
    await soon(() => expect(commits(chain)[0]).toMatchObject({ checkpoint: 'session_end', summary: 'question 2' }));
  });

  test('[L5] a capture that ends with its agents imports their sessions to the end', async () => {
    const { chain, path, live } = await followed();
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
    appendFileSync(path, question(2) + working(2));
    await soon(() => expect(live.status().files[0]?.pending).toBeGreaterThan(0));
    live.flush(true);
    expect(commits(chain)[0]).toMatchObject({ checkpoint: 'session_end', summary: 'question 2' });
  });
});

test('[L5] the last lines before the agents end are imported before the watcher reports them', async () => {
  const { chain, path, live } = await followed();
  writeFileSync(path, turn(1));
  live.flush(true);
  expect(commits(chain)).toMatchObject([{ checkpoint: 'session_end', summary: 'question 1' }]);
});

describe('what is followed', () => {
  test('a capture from now on imports what is added, also to files imported before', async () => {
    const chain = emptyChain(realTime);
    const dir = scratch();
    const known = join(dir, '11111111-1111-4111-8111-111111111111.jsonl');
    const other = join(dir, '22222222-2222-4222-8222-222222222222.jsonl');
    writeFileSync(known, turn(1));
    atOnce(importPaths(chain, { paths: [known] }));
    appendFileSync(known, turn(2));
    writeFileSync(other, turn(11).replaceAll('"a10"', 'null'));
    const live = await follow(chain, { places: [{ path: dir }], from: 'now', granularity: 'turn_boundary', times: quick });
    onTestFinished(() => live.close());
    await soon(() => expect(commits(chain).map((commit) => commit.summary)).toEqual(['question 2', 'question 1']));
    appendFileSync(other, turn(12));
    await soon(() => expect(commits(chain).map((commit) => commit.summary)).toContain('question 11'));
  });

  test('a capture of a directory imports the sessions of that directory only', async () => {
    const { chain, dir, path } = await followed({ cwd: '/work' });
    writeFileSync(join(dir, '33333333-3333-4333-8333-333333333333.jsonl'), turn(30).replaceAll('"a29"', 'null').replaceAll('"/work"', '"/other"'));
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
    await stays(chain, dir, () => expect(commits(chain).map((commit) => commit.summary)).not.toContain('question 30'));
  });

  test('[L6] a folder that comes later, and a file in it', async () => {
    const { chain, dir } = await followed();
    mkdirSync(join(dir, 'project', 'deeper'), { recursive: true });
    writeFileSync(join(dir, 'project', 'deeper', 'x.jsonl'), turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
  });

  test('[L6] a file that is deleted, shortened or replaced loses no commit', async () => {
    const { chain, path, live } = await followed();
    writeFileSync(path, turn(1) + turn(2));
    await soon(() => expect(textsAtTip(chain)).toHaveLength(4));
    truncateSync(path, turn(1).length);
    appendFileSync(path, prompt('u8', 'another second question', { parent: 'a1' }) + over(answer('a8', 'another answer', { parent: 'u8' })));
    await soon(() => expect(commits(chain).map((commit) => commit.summary)).toContain('another second question'));
    rmSync(path);
    await soon(() => expect(live.status().files).toEqual([]));
    writeFileSync(path, turn(1) + turn(2) + turn(3));
    await soon(() => expect(commits(chain).map((commit) => commit.summary)).toContain('question 3'));
    expect(commits(chain)).toHaveLength(4);
  });

  test.skipIf(process.getuid?.() === 0)('[L6] a file that may not be read is named', async () => {
    const { dir, live, chain, path } = await followed();
    const closed = join(dir, 'closed.jsonl');
    writeFileSync(closed, turn(1));
    chmodSync(closed, 0);
    await soon(() => expect(live.status().problems).toMatchObject([{ path: closed, reason: 'this user may not read it' }]));
    writeFileSync(path, turn(1));
    await soon(() => expect(commits(chain)).toHaveLength(1));
  });

  test('follows many files at once', { tags: 'long' }, async () => {
    const { chain, dir } = await followed();
    for (let n = 0; n < 60; n++)
      writeFileSync(
        join(dir, `${n}.jsonl`),
        (prompt(`u${n}`, `question ${n}`) + over(answer(`a${n}`, 'yes', { parent: `u${n}` }))).replaceAll('"s1"', `"s${n}"`),
      );
    await soon(() => expect(commits(chain)).toHaveLength(60));
  });
});
