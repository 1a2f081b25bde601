import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContextId } from '../../../src/core/base/index.js';
import { fork } from '../../../src/core/chain/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { bulk, commit, discard, scratchEngine, turnCounts } from '../engine.js';
import { bareCommits, floorCommits } from '../floors.js';
import { turns } from '../material.js';
import { median, medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

function commitAll(engine: Project, texts: readonly string[], given?: typeof turnCounts): ContextId {
  let parent: ContextId | null = null;
  for (const text of texts) parent = commit(engine.chain, parent, text, given);
  return parent as ContextId;
}

function checkpoints(folder: string): Row[] {
  const texts = turns(2_000);
  const ours = (given?: typeof turnCounts) =>
    timed({
      prepare: () => scratchEngine(folder),
      run: (engine: Project) => commitAll(engine, texts, given),
      clean: discard,
    });
  const ms = medians({ floor: floorCommits(folder, texts), bare: bareCommits(folder, texts), given: ours(turnCounts), counted: ours() });
  const perCommit = (total: number): number => Math.round((total / texts.length) * 1_000);
  const figures = {
    floorUs: perCommit(ms.floor),
    bareUs: perCommit(ms.bare),
    oursUs: perCommit(ms.given),
    countedUs: perCommit(ms.counted),
  };
  const floor = { of: 'the same rows by a bare script', ratio: ms.bare / ms.floor };
  return [
    { id: 'T1', what: 'durable checkpoint over floor D FULL', ratio: ms.given / ms.floor, must: 1.6, stretch: 1.35, better: 'less', floor, figures },
  ];
}

function syncs(folder: string, { quick }: Run): Row[] {
  const count = quick ? 200 : 1_000;
  const row = { id: 'T2', what: `syncs per checkpoint (${count} checkpoints)`, must: 1.01, stretch: 1, better: 'less' as const };
  const [withAll, with0] = [countSyncs(folder, count), countSyncs(folder, 0)];
  if (typeof withAll === 'string' || typeof with0 === 'string') return [{ ...row, ratio: undefined, note: `not measured here: ${withAll}` }];
  return [{ ...row, ratio: (withAll - with0) / count, note: `${withAll} syncs, of them ${with0} to make, open and close the project` }];
}

/** The number of syncs of a process that creates a project and commits, or why it cannot be counted. */
function countSyncs(folder: string, commits: number): number | string {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'syncs.js');
  const at = mkdtempSync(join(folder, 'syncs-'));
  const words = ['-f', '-c', '-e', 'trace=fsync,fdatasync', process.execPath, script, join(at, 'project'), String(commits)];
  const { error, status, stderr } = spawnSync('strace', words, { encoding: 'utf8' });
  rmSync(at, { recursive: true, force: true });
  if (error) return `strace does not run (${error.message})`;
  if (status !== 0) return `strace said ${stderr.slice(-200)}`;
  return [...stderr.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?f(?:data)?sync$/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
}

function growth(folder: string, { quick }: Run): Row[] {
  const texts = turns(3_000);
  const eighth = texts.length / 8;
  const ratios = Array.from({ length: quick ? 1 : 5 }, () => {
    const engine = scratchEngine(folder);
    let parent: ContextId | null = null;
    const times = texts.map((text) => {
      const from = performance.now();
      parent = commit(engine.chain, parent, text, turnCounts);
      return performance.now() - from;
    });
    discard(engine);
    const sum = (part: readonly number[]): number => part.reduce((total, each) => total + each, 0);
    return sum(times.slice(-eighth)) / sum(times.slice(0, eighth));
  });
  return [{ id: 'T4', what: 'per-commit cost, last eighth over first, N=3000', ratio: median(ratios), must: 1.2, stretch: 1, better: 'less' }];
}

function forks(folder: string, { quick }: Run): Row[] {
  const texts = turns(200, 3);
  const engines = { small: scratchEngine(folder), large: scratchEngine(folder) };
  const tips = { small: bulk(engines.small.chain, turns(100, 4)), large: bulk(engines.large.chain, turns(quick ? 10_000 : 100_000, 5)) };
  const firstKey = (size: 'small' | 'large'): string => {
    const { chain } = engines[size];
    const row = chain.db.one<{ artifact: number }>('SELECT artifact FROM commits WHERE id = ?', tips[size]);
    const line = JSON.parse(
      Buffer.from(chain.artifacts.read(row?.artifact as never))
        .toString()
        .split('\n')[0] ?? '',
    ) as { uuid: string };
    return `${line.uuid}.0`;
  };
  const keys = { small: firstKey('small'), large: firstKey('large') };
  let number = 0;
  // Each fork has its own template, because an equal fork would return the same commit.
  const cut = (size: 'small' | 'large') =>
    plain(() => {
      for (let times = 0; times < 200; times++) fork(engines[size].chain, { id: tips[size], at: keys[size] as never, template: `fork ${number++}` });
    });
  const ms = medians(
    {
      checkpoint: plain(() => {
        for (let times = 0; times < 200; times++) commit(engines.small.chain, tips.small, texts[times] ?? '', turnCounts);
      }),
      whole: plain(() => {
        for (let times = 0; times < 200; times++) fork(engines.small.chain, { id: tips.small });
      }),
      cut: cut('small'),
      cutLarge: cut('large'),
      wholeLarge: plain(() => {
        for (let times = 0; times < 200; times++) fork(engines.large.chain, { id: tips.large });
      }),
    },
    5,
  );
  Object.values(engines).forEach(discard);
  const us = (total: number): number => Math.round((total / 200) * 1_000);
  const figures = { checkpointUs: us(ms.checkpoint), wholeUs: us(ms.whole), cutUs: us(ms.cut), cutLargeUs: us(ms.cutLarge) };
  return [
    { id: 'T16', what: 'fork of a commit over one checkpoint', ratio: ms.whole / ms.checkpoint, must: 1, stretch: 1, better: 'less', figures },
    {
      id: 'T16 depth',
      what: 'fork in the middle of a delta, at N=100,000 over at N=100',
      ratio: ms.cutLarge / ms.cut,
      must: 1.2,
      stretch: 1,
      better: 'less',
    },
  ];
}

export const commitParts: readonly Part[] = [
  { rows: ['T1'], run: checkpoints },
  { rows: ['T2'], run: syncs },
  { rows: ['T4'], run: growth },
  { rows: ['T16'], run: forks },
];
