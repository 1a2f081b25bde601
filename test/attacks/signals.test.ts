// A history that keeps the engine busy: Ctrl+C and SIGTERM end every command.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { answer, prompt } from '../support/claude-lines.js';
import { built, kill, type Machine, machine, node } from '../support/machine.js';
import { ask } from '../support/raw-web.js';

const session = prompt('a', 'asked') + answer('b', 'answered', { parent: 'a' });
const largest = 4 * 1024 ** 3;
/** A process that has read so much is in the middle of the large file, and has much of it left. */
const middle = 200 * 1024 ** 2;
/** A command has three seconds to stop in order. The rest is for a busy machine. A command that only finishes its work ends without a signal, and fails the test. */
const patience = 60_000;

beforeAll(ensureBuilt);

type Finish = (work: () => Promise<void>) => void;

/** A machine for one test, because these tests run at the same time. */
function ownMachine(finish: Finish): Machine {
  const own = machine();
  finish(() => own[Symbol.asyncDispose]());
  return own;
}

/** A session that reading and hashing takes long, and that takes no space on the disk. */
function slowFile(own: Machine, ...parts: string[]): string {
  const path = own.path(...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, session);
  truncateSync(path, largest);
  return path;
}

interface Begun {
  readonly child: ChildProcess;
  /** Waits for a text in the output. */
  says(text: string): Promise<void>;
}

function begin(own: Machine, finish: Finish, ...words: string[]): Begun {
  const child = spawn(node, [built('cli', 'stemma.js'), ...words], { cwd: own.cwd, env: own.env });
  finish(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill(child);
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  return { child, says: (text) => expect.poll(() => said, { interval: 20 }).toContain(text) };
}

/** The bytes that a process has read so far, where the system tells. */
const readBy = ({ pid }: ChildProcess): number =>
  process.platform === 'linux' ? Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]) : Number.POSITIVE_INFINITY;

/** Waits until a process is in the middle of the large file. */
const isReading = (child: ChildProcess): Promise<void> => expect.poll(() => readBy(child), { interval: 20 }).toBeGreaterThan(middle);

/** How the process ended after the signal; fails if it did not end in time. */
async function endedBy(child: ChildProcess, signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, by) => resolve({ code, signal: by })),
  );
  child.kill(signal);
  const result = await Promise.race([ended, setTimeout(patience, undefined, { ref: false })]);
  if (!result) throw new Error(`it still runs ${patience} ms after ${signal}`);
  return result;
}

const expectSound = async (own: Machine, dir: string): Promise<void> => expect(await own.run('fsck', '--project', dir)).toMatchObject({ code: 0 });

/** The tests in a group run at the same time: most of each is the wait for an orderly stop. */
describe.concurrent('[T14] a command that reads a large file', () => {
  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s ends an import in the middle of it',
    { tags: 'long' },
    async (signal, { onTestFinished: finish }) => {
      const own = ownMachine(finish);
      const dir = own.path('p.stemma');
      const { child } = begin(own, finish, 'import', slowFile(own, 'history', 'slow.jsonl'), '--project', dir);
      await isReading(child);
      expect(await endedBy(child, signal)).toEqual({ code: null, signal });
      await expectSound(own, dir);
    },
  );

  test.for(['SIGINT', 'SIGTERM'] as const)('%s ends a capture in the middle of it', { tags: 'long' }, async (signal, { onTestFinished: finish }) => {
    const own = ownMachine(finish);
    const dir = own.path('p.stemma');
    const { child } = begin(own, finish, 'capture', dirname(slowFile(own, 'history', 'slow.jsonl')), '--project', dir);
    await isReading(child);
    await endedBy(child, signal);
    await expectSound(own, dir);
  });
});

// The end at once is told from the orderly one by time alone, and a busy machine may stop the test itself for as long.
test('[T14] a second Ctrl+C ends an import at once', { tags: 'long', retry: 2 }, async ({ onTestFinished: finish }) => {
  const own = ownMachine(finish);
  const { child } = begin(own, finish, 'import', slowFile(own, 'history', 'slow.jsonl'), '--project', own.path('p.stemma'));
  await isReading(child);
  child.kill('SIGINT');
  // Signals that come at the same moment count as one.
  await setTimeout(100);
  const at = performance.now();
  expect(await endedBy(child, 'SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(performance.now() - at).toBeLessThan(2_000);
});

test('[T14] SIGTERM ends the web host whose engine reads a large file', { tags: 'long' }, async ({ onTestFinished: finish }) => {
  const own = ownMachine(finish);
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  const host = await own.web();
  const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
  const paths = [slowFile(own, 'history', 'slow.jsonl')];
  // Its answer never comes to an end.
  void ask(host.port, '/api/import/run', headers, 'POST', JSON.stringify({ paths })).catch(() => undefined);
  await isReading(host.process);
  await endedBy(host.process, 'SIGTERM');
  await expectSound(own, dir);
});

test('[T14] a run whose agent a signal ends does not wait for a large history', { tags: 'long' }, async ({ onTestFinished: finish }) => {
  const own = ownMachine(finish);
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  const { child, says } = begin(own, finish, 'run', '--project', dir, '--agent', 'claude-code', '--', 'sh', '-c', 'echo begun; exec sleep 60');
  await says('begun');
  slowFile(own, '.claude', 'projects', '-work', 'slow.jsonl');
  expect(await endedBy(child, 'SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  await expectSound(own, dir);
});

test('[T14] a tool server and a proxy end at once', { tags: 'long' }, async ({ onTestFinished: finish }) => {
  const own = ownMachine(finish);
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  for (const [command, ready] of [
    ['mcp', '"result"'],
    ['proxy', 'http://'],
  ] as const) {
    const { child, says } = begin(own, finish, command, '--project', dir);
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    await says(ready);
    expect(child.exitCode, command).toBe(null);
    await endedBy(child, 'SIGTERM');
  }
});
