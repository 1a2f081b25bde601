import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ensureBuilt, loadedWith } from '../support/built.js';
import { built } from '../support/machine.js';
import { scratch } from '../support/project.js';

beforeAll(ensureBuilt);

/** Runs `stemma --version` with this data folder. */
function versionWith(dataDir: string): { readonly status: number | null; readonly stdout: string } {
  const { NODE_COMPILE_CACHE, ...env } = process.env;
  return spawnSync(process.execPath, [built('cli', 'stemma.js'), '--version'], {
    env: { ...env, STEMMA_HOME: dataDir },
    encoding: 'utf8',
    timeout: 60_000,
  });
}

// Node's own attempt to make a folder below /proc never ends, so it must not be asked to.
test('[T36] a data folder that cannot be made keeps no command from starting', () => {
  expect(versionWith('/proc/nobody/stemma')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
  const home = join(scratch(), 'home');
  expect(versionWith(home)).toMatchObject({ status: 0 });
  expect(existsSync(join(home, 'compiled'))).toBe(true);
});

test('threads that read files ahead load no contract and no router', () => {
  const work = built('engine', 'work.js');
  const [, chunk = ''] = /import\(`([^`]+)`\)\)\.readForWriter/.exec(readFileSync(work, 'utf8')) ?? [];
  const names = [...loadedWith(join(dirname(work), chunk))].map((path) => basename(path));
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => /^(?:contract|router)\d*\.js$/.test(name))).toEqual([]);
});
