import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { root } from '../support/source.js';

const started = vi.hoisted((): string[] => []);
vi.mock('node:child_process', async (load) => {
  const all = await load<Record<string, unknown>>();
  const watched = Object.keys(all).filter((name) => /^(?:exec|execFile|fork|spawn)(?:Sync)?$/.test(name));
  const refuse = (name: string) => (program: unknown) => {
    started.push(`${name} ${String(program)}`);
    throw new Error('A configuration file starts a program.');
  };
  return { ...all, ...Object.fromEntries(watched.map((name) => [name, refuse(name)])) };
});

const before = { ...process.env };
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

const files = readdirSync(root).filter((name) => name.endsWith('.config.ts'));

test.each(files)('loading %s starts no program, also where nothing is installed', async (file) => {
  process.env.PATH = '/nowhere';
  process.env.PLAYWRIGHT_BROWSERS_PATH = '/nowhere';
  delete process.env.STEMMA_CHROMIUM;
  const path = join(root, file);
  await import(/* @vite-ignore */ path);
  expect(started).toEqual([]);
});
