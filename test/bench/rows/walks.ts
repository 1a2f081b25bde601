import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blake3Of } from '../../../src/core/artifacts/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { assemble, findCommit, materialize, materializedBytes, walk } from '../../../src/core/chain/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { bulk, openEngine } from '../engine.js';
import { openFloor } from '../floors.js';
import { turns } from '../material.js';
import { medians, type Part, plain, type Row, type Run } from '../measure.js';

/** Materializes the whole chain without a cache. Every delta is verified against its hash. */
function assembled(engine: Project, tip: ContextId): Uint8Array {
  const way = walk(engine.chain, findCommit(engine.chain, tip), 'root');
  return assemble(engine.chain, way, requireFormat('claude-code-v1')).bytes;
}

function walks(folder: string, { quick }: Run): Row[] {
  const size = quick ? 2_000 : 10_000;
  const texts = turns(size, 6);
  const all = `materialize ${size.toLocaleString('en')}`;
  const at = mkdtempSync(join(folder, 'walks-'));
  const engine = openEngine(join(at, 'engine'));
  const tip = bulk(engine.chain, texts);
  const floor = openFloor(at);
  const floorTip = floor.fill(texts);
  const repository = gitRepository(at, texts);
  const whole = Buffer.from(texts.join(''));
  const file = join(at, 'whole');
  writeFileSync(file, whole);

  for (const [name, bytes] of Object.entries({ ours: assembled(engine, tip), floor: floor.walk(floorTip), git: repository?.() ?? whole }))
    if (!whole.equals(bytes)) throw new Error(`${name} returns other bytes than stored`);
  materialize(engine.chain, { id: tip, stop: 'root' });

  const ms = medians(
    {
      floor: plain(() => floor.walk(floorTip)),
      ours: plain(() => assembled(engine, tip)),
      cached: plain(() => materializedBytes(engine.chain, { id: tip, stop: 'root' })),
      readAndHash: plain(() => blake3Of(readFileSync(file))),
      git: plain(() => repository?.()),
    },
    7,
  );
  engine.close();
  floor.close();
  rmSync(at, { recursive: true, force: true });
  const figures = { floorMs: ms.floor, oursMs: ms.ours, cachedMs: ms.cached, readAndHashMs: ms.readAndHash, gitMs: ms.git };
  const git = { id: 'T12', what: `${all} over git rev-list + cat-file --batch`, must: 1 / 5, stretch: 1 / 9, better: 'less' as const };
  return [
    {
      id: 'T9',
      what: `${all}, no cache, over the walk of floor D`,
      ratio: ms.ours / ms.floor,
      must: 1.3,
      stretch: 0.6,
      better: 'less',
      note: 'with every hash checked: there is no unchecked read',
      figures,
    },
    { id: 'T10', what: 'the same, every delta’s hash checked', ratio: ms.ours / ms.floor, must: 2, stretch: 1.3, better: 'less' },
    {
      id: 'T11',
      what: 'materialize again over read + blake3 of the whole',
      ratio: ms.cached / ms.readAndHash,
      must: 1.5,
      stretch: 1.1,
      better: 'less',
    },
    repository
      ? { ...git, ratio: ms.ours / ms.git, floor: { of: 'the recursive query of floor D', ratio: ms.floor / ms.git } }
      : { ...git, ratio: undefined, note: 'not measured here: git is not installed' },
  ];
}

/** The same deltas as a packed git history. Returns a function that reads them all in order. */
function gitRepository(folder: string, texts: readonly string[]): (() => Buffer) | undefined {
  const cwd = join(folder, 'git');
  mkdirSync(cwd);
  const git = (args: readonly string[], input?: string): Buffer =>
    spawnSync('git', args, { cwd, input, maxBuffer: 1 << 30, env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' } }).stdout;
  if (spawnSync('git', ['init', '-q', cwd]).status !== 0) return undefined;
  const stream = texts.map((text) => {
    const bytes = Buffer.byteLength(text);
    return `commit refs/heads/main\ncommitter bench <bench@example.invalid> 0 +0000\ndata 1\nx\nM 100644 inline delta\ndata ${bytes}\n${text}\n`;
  });
  git(['fast-import', '--quiet'], stream.join(''));
  return () => {
    const commits = git(['rev-list', '--reverse', 'refs/heads/main']).toString().trim().split('\n');
    const batch = git(['cat-file', '--batch'], commits.map((commit) => `${commit}:delta\n`).join(''));
    const parts: Buffer[] = [];
    for (let place = 0; place < batch.length; ) {
      const end = batch.indexOf(10, place);
      const bytes = Number(batch.toString('latin1', place, end).split(' ')[2]);
      parts.push(batch.subarray(end + 1, end + 1 + bytes));
      place = end + 2 + bytes;
    }
    return Buffer.concat(parts);
  };
}

export const walkParts: readonly Part[] = [{ rows: ['T9', 'T10', 'T11', 'T12'], run: walks }];
