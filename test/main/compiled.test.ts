import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { storeCompiledCode } from '../../src/main/launch/compiled.js';
import { scratch } from '../support/project.js';

const enabled = vi.hoisted(() => vi.fn());
vi.mock('node:module', async (original) => ({ ...(await original<object>()), enableCompileCache: enabled }));
afterEach(() => vi.unstubAllEnvs());

// Node's own attempt to make a folder below /proc never ends, so it must not be asked to.
test('[T36] a data folder that cannot be made keeps no command from starting', () => {
  vi.stubEnv('STEMMA_HOME', '/proc/nobody/stemma');
  storeCompiledCode();
  expect(enabled).not.toHaveBeenCalled();
  const home = join(scratch(), 'home');
  vi.stubEnv('STEMMA_HOME', home);
  storeCompiledCode();
  expect(enabled).toHaveBeenCalledWith(join(home, 'compiled'));
  expect(existsSync(join(home, 'compiled'))).toBe(true);
});
