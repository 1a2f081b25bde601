// A history that keeps the engine busy: Ctrl+C and SIGTERM end every command.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { answer, prompt } from '../support/claude-lines.js';
import { built, kill, type Machine, machine, node } from '../support/machine.js';
import { ask } from '../support/raw-web.js';

const session = prompt('a', 'asked') + answer('b', 'answered', { parent: 'a' });
const largest = 4 * 1024 ** 3;
/** A command has three seconds to stop in order. The rest is for a busy machine. */
const patience = 8_000;

let own: Machine;
const children: ChildProcess[] = [];
beforeAll(ensureBuilt);
beforeEach(() => {
  own = machine();
});
afterEach(async () => {
  await Promise.all(
    children
      .splice(0)
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map(kill),
  );
  await own[Symbol.asyncDispose]();
});

/** A session that reading and hashing takes long, and that takes no space on the disk. */
function slowFile(...parts: string[]): string {
  const path = own.path(...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, session);
  truncateSync(path, largest);
  return path;
}

function begin(...words: string[]): { readonly child: ChildProcess; said(): string } {
  const child = spawn(node, [built('cli', 'stemma.js'), ...words], { cwd: own.cwd, env: own.env });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  return { child, said: () => said };
}

/** How the process ended after the signal; fails if it did not end in time. */
async function endedBy(child: ChildProcess, signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, by) => resolve({ code, signal: by })),
  );
  child.kill(signal);
  const result = await Promise.race([ended, setTimeout(patience, undefined, { ref: false })]);
  if (!result) throw new Error(`it goes on ${patience} ms after ${signal}`);
  return result;
}

async function expectSound(dir: string): Promise<void> {
  expect(await own.run('fsck', '--project', dir)).toMatchObject({ code: 0 });
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('[T14] %s ends an import in the middle of a large file', async (signal) => {
  const dir = own.path('p.stemma');
  const { child, said } = begin('import', slowFile('history', 'slow.jsonl'), '--project', dir);
  while (!said().includes(dir)) await setTimeout(20);
  await setTimeout(500);
  expect(await endedBy(child, signal)).toEqual({ code: null, signal });
  await expectSound(dir);
});

test('[T14] a second Ctrl+C ends an import at once', async () => {
  const dir = own.path('p.stemma');
  const { child, said } = begin('import', slowFile('history', 'slow.jsonl'), '--project', dir);
  while (!said().includes(dir)) await setTimeout(20);
  await setTimeout(500);
  child.kill('SIGINT');
  await setTimeout(100);
  const at = performance.now();
  expect(await endedBy(child, 'SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(performance.now() - at).toBeLessThan(2_000);
});

test.each(['SIGINT', 'SIGTERM'] as const)('[T14] %s ends a capture that reads a large file', async (signal) => {
  const dir = own.path('p.stemma');
  const { child, said } = begin('capture', dirname(slowFile('history', 'slow.jsonl')), '--project', dir);
  while (!said().includes('Ctrl+C')) await setTimeout(20);
  await setTimeout(500);
  await endedBy(child, signal);
  await expectSound(dir);
});

test('[T14] SIGTERM ends the web host whose engine reads a large file', async () => {
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  const host = await own.web();
  const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
  // Its answer never comes to an end.
  void ask(host.port, '/api/import/run', headers, 'POST', JSON.stringify({ paths: [slowFile('history', 'slow.jsonl')] })).catch(() => undefined);
  await setTimeout(1_000);
  await endedBy(host.process, 'SIGTERM');
  await expectSound(dir);
});

test('[T14] a run whose agent a signal ends does not wait for a large history', async () => {
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  const { child, said } = begin('run', '--project', dir, '--agent', 'claude-code', '--', 'sh', '-c', 'echo begun; exec sleep 60');
  while (!said().includes('begun')) await setTimeout(20);
  slowFile('.claude', 'projects', '-work', 'slow.jsonl');
  expect(await endedBy(child, 'SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  await expectSound(dir);
});

test('[T14] a tool server and a proxy end at once', async () => {
  const dir = own.path('p.stemma');
  await own.run('init', dir);
  for (const words of [
    ['mcp', '--project', dir],
    ['proxy', '--project', dir],
  ]) {
    const { child } = begin(...words);
    await setTimeout(1_500);
    expect(child.exitCode, words[0]).toBe(null);
    await endedBy(child, 'SIGTERM');
  }
});
