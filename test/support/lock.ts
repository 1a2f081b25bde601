/**
 * `npm run lock`, after every change of a dependency: completes both locks with what npm leaves out of them, so that `npm ci` compiles nothing and
 * runs no script of a package.
 *
 * - npm forgets `gypfile: false` (npm/cli#9837) and then compiles a package that has its machine code with it.
 * - The packages of stemma-node are Node itself. An engine keeps them away from machines whose own Node is new enough.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Entry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  gypfile?: boolean;
  hasInstallScript?: boolean;
  engines?: Record<string, string>;
}

/** A lock of npm, as far as it is completed here. */
export interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
}

/** Packages with machine code for every platform in themselves or in optional packages, which npm would compile. */
const prebuilt = ['better-sqlite3', 'cbor-extract'];

/** The versions of Node that cannot run Stemma from its sources: they do not read TypeScript. */
export const tooOld = '<22.18.0 || >=23.0.0 <23.6.0';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const locks = ['package-lock.json', 'test/peers/package-lock.json'];

/** Completes a lock in place. */
export function completeLock({ packages }: Lock): void {
  for (const [path, entry] of Object.entries(packages)) {
    if (!prebuilt.some((name) => path.endsWith(`node_modules/${name}`))) continue;
    entry.gypfile = false;
    delete entry.hasInstallScript;
  }
  for (const name of Object.keys(packages['src/main/start/node']?.optionalDependencies ?? {})) {
    const entry = packages[`node_modules/${name}`];
    if (entry) entry.engines = { node: tooOld };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of locks) {
    const lock = JSON.parse(readFileSync(join(root, name), 'utf8')) as Lock;
    completeLock(lock);
    writeFileSync(join(root, name), `${JSON.stringify(lock, null, 2)}\n`);
  }
}
