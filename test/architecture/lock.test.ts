import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completeLock, type Lock } from '../support/lock.js';
import { root, textAt } from '../support/source.js';

interface Locked {
  readonly version?: string;
  readonly gypfile?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(textAt('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
const peers = JSON.parse(textAt('test/peers/package.json')) as Readonly<Record<string, Readonly<Record<string, string>>>>;
const manifest = JSON.parse(textAt('package.json')) as Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The package that `from` gets for a name: the nearest one at or above it, as Node resolves it. */
function lockedFor(from: string, name: string): Locked | undefined {
  const below = packages[`${from && `${from}/`}node_modules/${name}`];
  if (below || from === '') return below;
  const above = from.lastIndexOf('/node_modules/');
  return lockedFor(above < 0 ? '' : from.slice(0, above), name);
}

describe('the lock', () => {
  // If a registry lacks the package of a platform, npm writes a lock without it, and `npm ci` refuses that lock everywhere.
  test('contains the native packages of every platform', () => {
    const exact = /^\d+\.\d+\.\d+$/;
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.entries(optionalDependencies)
        .filter(([name, wanted]) => {
          const found = lockedFor(from, name);
          return !found || (exact.test(wanted) && found.version !== wanted);
        })
        .map(([name, wanted]) => `${from}: ${name}@${wanted}`),
    );
    expect(missing).toEqual([]);
  });

  test('every package has one exact version', () => {
    const asked = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies, ...peers.dependencies });
    expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) && !version.startsWith('file:'))).toEqual([]);
  });

  test.each(['package-lock.json', 'test/peers/package-lock.json'])('%s is completed: `npm run lock` changes nothing', (name) => {
    const lock = JSON.parse(textAt(name)) as Lock;
    completeLock(lock);
    expect(`${JSON.stringify(lock, null, 2)}\n`).toBe(textAt(name));
  });

  test('no package that Stemma needs runs a script or compiles at installation', () => {
    const installed = Object.entries(packages).filter(([path]) => path.includes('node_modules/'));
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
    const compiled = installed.filter(([path, { gypfile }]) => gypfile !== false && existsSync(join(root, path, 'binding.gyp')));
    expect(compiled.map(([path]) => path)).toEqual([]);
  });

  test('the command line depends on four packages, and the bundle has the rest', () => {
    expect(Object.keys(manifest.dependencies ?? {})).toEqual(['@napi-rs/blake-hash', 'better-sqlite3', 'chokidar', 'open']);
    expect(manifest).not.toHaveProperty('optionalDependencies');
  });
});
