import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import type { Part, Row } from '../measure.js';

const megabyte = 1024 * 1024;

/** Peak memory in MB of a process that does one thing to a project. */
function peak(...words: readonly string[]): number {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'memory.js');
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout.trim()) / megabyte;
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

const emptyProject = (folder: string): string => {
  const project = openEngine(folder);
  project.close();
  return project.dir;
};

function memory(folder: string): Row[] {
  const at = mkdtempSync(join(folder, 'memory-'));
  const small = peak('import', emptyProject(join(at, 'small')), files(join(at, 'one-20'), 1, 20));
  const large = peak('import', emptyProject(join(at, 'large')), files(join(at, 'one-200'), 1, 200));
  const many = peak('import', emptyProject(join(at, 'many')), files(join(at, 'many-700'), 35, 20));
  const stored = openEngine(join(at, 'stored'));
  const tip = importAll(stored.chain, [files(join(at, 'one-100'), 1, 100)]).tips.at(-1) ?? '';
  stored.close();
  const idle = peak('idle', stored.dir);
  const materialized = peak('materialize', stored.dir, tip);
  rmSync(at, { recursive: true, force: true });
  return [
    {
      id: 'T23',
      what: 'peak memory of importing one file of 200 MB over one of 20 MB',
      ratio: large / small,
      must: 1.3,
      stretch: 1.1,
      better: 'less',
      figures: { smallMB: small, largeMB: large },
    },
    { id: 'W5', what: '700 MB of transcripts imported: peak memory in MB', ratio: many, must: 500, stretch: 300, better: 'less' },
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

export const memoryParts: readonly Part[] = [{ rows: ['T23', 'W5', 'W6'], run: memory }];
