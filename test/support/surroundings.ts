import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Variables that lead to the histories, projects, keys and programs of the developer. */
const personal =
  /^(STEMMA_(HOME|PROJECT|TOKEN|PATHS|DEBUG)|XDG_(DATA|CONFIG|STATE|CACHE)_HOME|(LOCAL)?APPDATA|(ANTHROPIC|AWS|AZURE|CLAUDE|CLINE|CODEX|COPILOT|GEMINI|GOOGLE|GOOSE|OPENAI|OPENCLAW|OPENROUTER|PI|QWEN)_\w+|TERMINAL|EDITOR|FORCE_COLOR)$/;

/**
 * Separates the tests from the developer: an empty home folder, and no variable of the person. Call it before any worker starts.
 */
export function separateFromPerson(): void {
  for (const name of Object.keys(process.env)) if (personal.test(name)) delete process.env[name];
  const home = join(import.meta.dirname, '..', '..', 'out', 'test-home');
  mkdirSync(home, { recursive: true });
  process.env.HOME = home;
}

const memory = '/dev/shm';
const enough = 4 * 1024 ** 3;

/**
 * Puts the temporary files of tests into memory, if there is room: tests make thousands of syncs, and each takes milliseconds on a disk.
 * Durability is tested in test/faults and test/bench, which stay on the disk. Call it before any worker starts.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return;
  const { bavail, bsize } = statfsSync(memory);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memory);
  // Some tests run programs from their temporary folder.
  if (bavail * bsize >= enough && !mount?.includes('noexec')) process.env.TMPDIR = memory;
}

/** Lets the processes of tests find the packages of test/peers/package.json, as a person's `NODE_PATH` would. Call it before any worker starts. */
export function findPeers(): void {
  process.env.NODE_PATH = join(import.meta.dirname, '..', 'peers', 'node_modules');
}

/**
 * Keeps the compiled code of the processes and threads that tests start. They start hundreds of times, mostly with a home folder of their own,
 * and compiling is a quarter of a start. Call it before any worker starts.
 */
export function keepCompiledCode(): void {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', '..', 'out', 'test-compiled');
}
