import { describe, expect, test } from 'vitest';
import { textAt } from '../support/source.js';

interface Locked {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(textAt('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
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
    const asked = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
