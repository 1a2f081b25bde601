import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { node, root } from '../support/machine.js';

const script = `
  const { readStandardInput } = await import(${JSON.stringify(join(root, 'src/main/launch/input.ts'))});
  console.log(JSON.stringify(await readStandardInput()));`;

/** What a process reads of these parts, which arrive one after the other. Node makes the pipes of its children non-blocking for itself. */
async function readBy(parts: readonly (string | Uint8Array)[], pauseMs: number): Promise<string> {
  const child = spawn(node, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const out: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => out.push(part));
  for (const part of parts) {
    await setTimeout(pauseMs);
    child.stdin.write(part);
  }
  await setTimeout(pauseMs);
  child.stdin.end();
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return JSON.parse(Buffer.concat(out).toString()) as string;
}

// `stemma call PROCEDURE --input -` once exited with 2 if its writer was not ready: EAGAIN.
test('[T69] reads an open pipe to its end, although its writer is late', { tags: 'long' }, async () => {
  const umlaut = Buffer.from('ä');
  expect(await readBy(['{"text":"p', umlaut.subarray(0, 1), umlaut.subarray(1), 'per"}'], 300)).toBe('{"text":"päper"}');
});

test('[T69] reads an input that is larger than a pipe, and an empty one', async () => {
  const large = 'x'.repeat(3_000_000);
  expect(await readBy([large], 0)).toBe(large);
  expect(await readBy([], 300)).toBe('');
});
