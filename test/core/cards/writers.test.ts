import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createBox, getBox } from '../../../src/core/cards/index.js';
import { bundle } from '../../support/bundle.js';
import { emptyProject } from '../../support/project.js';

const count = 24;

test('[B14] two processes append to one box without loss, each in order', { tags: 'long' }, async () => {
  const script = await bundle('test/core/cards/writer.ts', 'writer-test');
  const project = emptyProject(Date.now);
  createBox(project.chain, [], 'shared');
  const writers = ['x', 'y'].map((name) => {
    const child = spawn(process.execPath, [script, project.dir, name, String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return { child, ready: once(child.stdout, 'data'), ended: once(child, 'exit') };
  });
  // A writer that does not start ends before it is ready.
  await Promise.all(writers.map(({ ready, ended }) => Promise.race([ready, ended])));
  for (const { child } of writers) child.stdin.write('go\n');
  for (const { ended } of writers) expect(await ended).toEqual([0, null]);
  const { cardIds } = getBox(project.chain, 'shared');
  for (const name of ['x', 'y'])
    expect(cardIds.filter((id) => id.startsWith(name))).toEqual(Array.from({ length: count }, (_, at) => `${name}${at}`));
  expect(cardIds).toHaveLength(2 * count);
});
