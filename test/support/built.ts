import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from './machine.js';

const lock = join(root, 'out', '.building');

/**
 * Builds the app into `out/` unless the build is newer than every source, for tests that start the real processes. Test files run
 * in parallel, so one builds and the others wait.
 */
export const ensureBuilt = (): Promise<void> => (built ??= buildIfStale());

/** The test files of a worker share this module, and no source changes while tests run: one check is enough for all of them. */
let built: Promise<void> | undefined;

async function buildIfStale(): Promise<void> {
  mkdirSync(join(root, 'out'), { recursive: true });
  while (!takeLock()) await pause(200);
  try {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'src', 'main', 'start', 'index.ts'), '--build-if-stale'], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the build failed: ${stderr}`);
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The built files that a built file loads at its start, itself included. */
export function loadedWith(path: string, loaded: Set<string> = new Set()): ReadonlySet<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/\b(?:import|export)(?:[^"`;]*from)?"(\.[^"]+)"/g))
    loadedWith(join(dirname(path), name), loaded);
  return loaded;
}

/** False while another living process has the lock. */
function takeLock(): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(ownerOf(lock))) rmSync(lock, { force: true });
    return false;
  }
}

function ownerOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8')) || process.pid;
  } catch {
    return process.pid;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
