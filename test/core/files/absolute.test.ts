import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { absolutePath } from '../../../src/core/files/index.js';

test('[W45] ~ at the start of a path is the home folder, and nowhere else', () => {
  expect(absolutePath('~')).toBe(homedir());
  expect(absolutePath('~/a/b.jsonl')).toBe(join(homedir(), 'a', 'b.jsonl'));
  for (const path of ['~other/a', './~/a', '/x/~', 'a~']) expect(absolutePath(path)).toBe(resolve(path));
});
