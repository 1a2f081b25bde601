import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { blake3Of, chunkSizes, chunksOf } from '../../../src/core/artifacts/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, compact, materializedBytes } from '../../../src/core/chain/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { bulk, commit, discard, openEngine, scratchEngine, turnCounts } from '../engine.js';
import { bareCommits, floorCommits } from '../floors.js';
import { turns } from '../material.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, item) => sum + (item.isFile() ? statSync(join(item.parentPath, item.name)).size : 0),
    0,
  );

function batches(folder: string): Row[] {
  const texts = turns(2_000, 31);
  const batched = timed({
    prepare: () => scratchEngine(folder),
    run: ({ chain }: Project) => {
      let parent: ContextId | null = null;
      for (let start = 0; start < texts.length; start += 8)
        chain.artifacts.transaction(() => {
          for (const text of texts.slice(start, start + 8)) parent = commit(chain, parent, text, turnCounts);
        });
    },
    clean: discard,
  });
  const ms = medians({ floor: floorCommits(folder, texts), bare: bareCommits(folder, texts, 8), batched });
  const floor = { of: 'the same rows by a bare script', ratio: ms.bare / ms.floor };
  return [
    {
      id: 'T3',
      what: 'checkpoints, 8 in a transaction, over floor D FULL',
      ratio: ms.batched / ms.floor,
      must: 0.6,
      stretch: 0.5,
      better: 'less',
      floor,
    },
  ];
}

function sizes(folder: string): Row[] {
  const texts = turns(3_000, 32);
  const plainBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const at = mkdtempSync(join(folder, 'sizes-'));
  const again = openEngine(join(at, 'packed'));
  bulk(again.chain, texts);
  for (const _ of again.chain.artifacts.repack());
  again.close();
  const packed = bytesBelow(again.dir);
  const none = openEngine(join(at, 'none'));
  none.close();
  const empty = bytesBelow(none.dir);
  const git = gitBytes(at, texts);
  rmSync(at, { recursive: true, force: true });
  const figures = { plainMB: plainBytes / 1e6, packedMB: packed / 1e6, emptyProjectMB: empty / 1e6, gitMB: (git ?? 0) / 1e6 };
  const afterRepack = { id: 'T8', what: 'bytes after repack over git gc of the same deltas', must: 0.85, stretch: 0.7, better: 'less' as const };
  return [
    git === undefined
      ? { ...afterRepack, ratio: undefined, note: 'not measured here: git is not installed' }
      : {
          ...afterRepack,
          ratio: packed / git,
          floor: { of: 'the same without the tables of an empty project', ratio: (packed - empty) / git },
          figures,
        },
  ];
}

/** The size of the same deltas as a packed git history. */
function gitBytes(folder: string, texts: readonly string[]): number | undefined {
  const cwd = join(folder, 'git');
  mkdirSync(cwd);
  const git = (args: readonly string[], input?: string) =>
    spawnSync('git', args, { cwd, input, env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' } });
  if (git(['init', '-q', cwd]).status !== 0) return undefined;
  const stream = texts.map(
    (text) =>
      `commit refs/heads/main\ncommitter bench <bench@example.invalid> 0 +0000\ndata 1\nx\nM 100644 inline delta\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  );
  git(['fast-import', '--quiet'], stream.join(''));
  git(['gc', '-q', '--prune=now']);
  return bytesBelow(join(cwd, '.git', 'objects'));
}

/** The cost of a walk to a compaction must not depend on the commits before it. */
function compacted(folder: string, { quick }: Run): Row[] {
  const after = turns(50, 33);
  const build = (depth: number) => {
    const engine = scratchEngine(folder);
    const summary = compact(engine.chain, bulk(engine.chain, turns(depth, 34)), 'all of that, in a few words');
    return { engine, tip: bulk(engine.chain, after, summary.id) };
  };
  const [shallow, deep] = [build(1_000), build(quick ? 10_000 : 100_000)];
  // Results are cached, so each round adds a commit.
  let number = 0;
  const walk = ({ engine, tip }: typeof deep) =>
    timed({
      prepare: () =>
        Array.from({ length: 20 }, () => {
          number += 1;
          return checkpoint(engine.chain, {
            parent: tip,
            type: 'delta',
            format: 'claude-code-v1',
            text: after[0] ?? '',
            template: `bench ${number}`,
            checkpoint: 'explicit',
            ...turnCounts,
          }).id;
        }),
      run: (ids: readonly ContextId[]) => {
        for (const id of ids) materializedBytes(engine.chain, { id });
      },
    });
  const ms = medians({ shallow: walk(shallow), deep: walk(deep) }, 9);
  for (const { engine } of [shallow, deep]) discard(engine);
  return [
    {
      id: 'T13',
      what: 'materialize 50 deltas after a compaction, depth 100,000 over 1,000',
      ratio: ms.deep / ms.shallow,
      must: 1.5,
      stretch: 1.1,
      better: 'less',
      figures: { shallowMs: ms.shallow / 20, deepMs: ms.deep / 20 },
    },
  ];
}

function chunking(): Row[] {
  const bytes = Buffer.from(turns(10_000, 35).join(''));
  const ours = plain(() => {
    for (const { start, end } of chunksOf(bytes)) blake3Of(bytes.subarray(start, end));
  });
  const ms = medians({ floor: plain(() => plainChunks(bytes)), ours }, 7);
  return [
    {
      id: 'T25',
      what: 'chunk + hash over plain FastCDC + blake3',
      ratio: ms.floor / ms.ours,
      must: 0.85,
      stretch: 0.95,
      better: 'more',
      figures: { floorMBs: bytes.length / 1e3 / ms.floor, oursMBs: bytes.length / 1e3 / ms.ours },
    },
  ];
}

const gear = Uint32Array.from({ length: 256 }, (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 0);

/** FastCDC as in its paper, in one loop, with BLAKE3 of each chunk. */
function plainChunks(bytes: Buffer): void {
  const { min, average, max } = chunkSizes;
  const bits = Math.log2(average);
  const [strict, easy] = [(-1 << (32 - (bits + 2))) | 0, (-1 << (32 - (bits - 2))) | 0];
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(start + max, bytes.length);
    const middle = Math.min(start + average, end);
    let at = Math.min(start + min, end);
    let hash = 0;
    while (at < end) {
      hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
      at += 1;
      if ((hash & (at <= middle ? strict : easy)) === 0) break;
    }
    blake3Of(bytes.subarray(start, at));
    start = at;
  }
}

export const storageParts: readonly Part[] = [
  { rows: ['T3'], run: batches },
  { rows: ['T8'], run: sizes },
  { rows: ['T13'], run: compacted },
  { rows: ['T25'], run: chunking },
];
