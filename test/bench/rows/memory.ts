import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtRoot } from '../built.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import type { Part, Row, Run } from '../measure.js';

const megabyte = 1024 * 1024;

/** Peak memory in MB of a process that does one thing to a project. */
function peak(...words: readonly string[]): number {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'memory.js');
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout.trim()) / megabyte;
}

/** Prints the peak memory of a process in kB at its end. Its `maxRSS` would include its parent's memory at the fork. */
const report = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write('peak=' + /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] + ';'));`;

/** Peak memory in MB of `stemma import` into a new project, all threads included. */
export function peakOfImport(root: string, at: string, path: string): number {
  mkdirSync(at);
  const stemma = join(root, 'out', 'cli', 'stemma.js');
  const env = { ...process.env, STEMMA_HOME: join(at, 'home') };
  const run = (...words: readonly string[]) => {
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: at, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stderr;
  };
  const project = join(at, 'p.stemma');
  run(stemma, 'init', project);
  const said = run('--import', `data:text/javascript,${encodeURIComponent(report)}`, stemma, 'import', '--project', project, path);
  // Threads end before the process, which prints last.
  return Number([...said.matchAll(/peak=(\d+);/g)].at(-1)?.[1]) / 1_024;
}

/** Session files of a size in MB, in their own folder. */
function files(folder: string, count: number, megabytes: number): string {
  mkdirSync(folder);
  for (let number = 0; number < count; number++) {
    const name = `${String(number).padStart(8, '0')}-0000-4000-8000-${String(megabytes).padStart(12, '0')}.jsonl`;
    writeFileSync(join(folder, name), sessionFile(megabytes * megabyte, 40 + number));
  }
  return folder;
}

function memory(folder: string, { quick }: Run): Row[] {
  const at = mkdtempSync(join(folder, 'memory-'));
  const root = builtRoot(folder);
  const small = peakOfImport(root, join(at, 'small'), files(join(at, 'one-20'), 1, 20));
  const large = peakOfImport(root, join(at, 'large'), files(join(at, 'one-200'), 1, quick ? 60 : 200));
  const stored = openEngine(join(at, 'stored'));
  const tip = importAll(stored.chain, [files(join(at, 'one-100'), 1, quick ? 30 : 100)]).tips.at(-1) ?? '';
  stored.close();
  const idle = peak('idle', stored.dir);
  const materialized = peak('materialize', stored.dir, tip);
  rmSync(at, { recursive: true, force: true });
  return [
    {
      id: 'T23',
      what: 'peak memory of importing one file of 200 MB over one of 20 MB',
      ...(quick && { note: 'quick: 60 MB over 20 MB' }),
      ratio: large / small,
      must: 1.3,
      stretch: 1.1,
      better: 'less',
      figures: { smallMB: small, largeMB: large },
    },
    {
      id: 'W6',
      what: 'materializing 100 MB: memory above idle, in MB',
      ratio: materialized - idle,
      must: 150,
      stretch: 60,
      better: 'less',
      figures: { idleMB: idle, peakMB: materialized },
    },
  ];
}

export const memoryParts: readonly Part[] = [{ rows: ['T23', 'W6'], run: memory }];
