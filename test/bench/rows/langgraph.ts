import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContextId } from '../../../src/core/base/index.js';
import { assemble, findCommit, fork, walk } from '../../../src/core/chain/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { bulk, commit, discard, openEngine, scratchEngine, turnCounts } from '../engine.js';
import { turns } from '../material.js';
import { median, type Part, type Row, type Run } from '../measure.js';

/** The cost of a thread: writing all turns, reading its state, ten turns on a fork of its middle, bytes on disk. */
interface Kept {
  readonly writeMs: number;
  readonly stateMs: number;
  readonly forkMs: number;
  readonly bytes: number;
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, item) => sum + (item.isFile() ? statSync(join(item.parentPath, item.name)).size : 0),
    0,
  );

function peer(folder: string, length: number, kind: 'plain' | 'lc'): Kept {
  const at = mkdtempSync(join(folder, 'langgraph-'));
  const script = join(dirname(fileURLToPath(import.meta.url)), 'langgraph.js');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--expose-gc', script, at, String(length), kind], { encoding: 'utf8' });
  rmSync(at, { recursive: true, force: true });
  // Sync now, so that the next case does not wait for writes of this one.
  spawnSync('sync');
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Kept;
}

const timed = (work: () => unknown): number => {
  globalThis.gc?.();
  const from = performance.now();
  work();
  return performance.now() - from;
};

/** The same thread in Stemma: each turn a durable commit, the state materialized and parsed without caches. */
function ours(folder: string, length: number): Kept {
  const texts = turns(length + 10);
  const at = join(mkdtempSync(join(folder, 'ours-')), 'project');
  const engine = openEngine(at);
  const { chain } = engine;
  const ids: ContextId[] = [];
  const grow = (from: ContextId | null, own: readonly string[]): void => {
    let parent = from;
    for (const text of own) {
      parent = commit(chain, parent, text, turnCounts);
      ids.push(parent);
    }
  };
  const writeMs = timed(() => grow(null, texts.slice(0, length)));
  const tip = ids.at(-1) as ContextId;
  const stateMs = median(Array.from({ length: 5 }, () => timed(() => stateOf(engine, tip))));
  const forkMs = timed(() => grow(fork(chain, { id: ids[length >> 1] as ContextId }).id, texts.slice(length)));
  engine.close();
  const bytes = bytesBelow(engine.dir);
  rmSync(dirname(engine.dir), { recursive: true, force: true });
  return { writeMs, stateMs, forkMs, bytes };
}

/** Messages as plain objects, as an agent needs them to continue.  */
function stateOf({ chain }: ReturnType<typeof openEngine>, tip: ContextId): unknown[] {
  const { bytes } = assemble(chain, walk(chain, findCommit(chain, tip), 'root'), requireFormat('claude-code-v1'));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** Bytes of the same thread after repacking. */
function packedBytes(folder: string, length: number): number {
  const engine = scratchEngine(folder);
  bulk(engine.chain, turns(length));
  for (const _ of engine.chain.artifacts.repack());
  engine.close();
  const bytes = bytesBelow(engine.dir);
  discard(engine);
  return bytes;
}

function threads(folder: string, { quick }: Run): Row[] {
  const [short, long] = quick ? [100, 300] : [1_000, 3_000];
  const rounds = quick ? 1 : 3;
  const runs = Array.from({ length: rounds }, (_, round) => {
    const cases = {
      shortPeer: () => peer(folder, short, 'plain'),
      short: () => ours(folder, short),
      objectsPeer: () => peer(folder, short, 'lc'),
      longPeer: () => peer(folder, long, 'plain'),
      long: () => ours(folder, long),
    };
    const names = Object.keys(cases) as (keyof typeof cases)[];
    const order = names.map((_each, place) => names[(place + round) % names.length] as keyof typeof cases);
    // The peer writes 15 GB for its long thread, which takes minutes: once is enough for ratios of a hundred and more.
    const due = order.filter((name) => round === 0 || name !== 'longPeer');
    return Object.fromEntries(due.map((name) => [name, cases[name]()])) as Partial<Record<keyof typeof cases, Kept>>;
  });
  const of = (name: keyof (typeof runs)[number], what: keyof Kept): number => median(runs.flatMap((run) => run[name]?.[what] ?? []));
  const ratio = (mine: 'short' | 'long', theirs: 'shortPeer' | 'objectsPeer' | 'longPeer', what: keyof Kept): Pick<Row, 'ratio' | 'figures'> => ({
    ratio: of(mine, what) / of(theirs, what),
    figures: { ours: of(mine, what), langGraph: of(theirs, what) },
  });
  const aside = quick ? { note: `quick: ${short} turns for 1,000 and ${long} for 3,000, one round` } : {};
  const less = { better: 'less' as const, ...aside };
  const packed = packedBytes(folder, long);
  return [
    {
      id: 'T5',
      what: '1000 turns written, ours FULL over LangGraph NORMAL',
      must: 1 / 30,
      stretch: 1 / 38,
      ...less,
      ...ratio('short', 'shortPeer', 'writeMs'),
    },
    { id: 'T6', what: '3000 turns, the same', must: 1 / 100, stretch: 1 / 150, ...less, ...ratio('long', 'longPeer', 'writeMs') },
    {
      id: 'T7',
      what: 'bytes of 3000 turns over LangGraph',
      must: 1 / 1_000,
      stretch: 1 / 3_000,
      ...less,
      ...ratio('long', 'longPeer', 'bytes'),
      note: `after repack 1/${Math.round(of('longPeer', 'bytes') / packed)}${quick ? `; ${aside.note}` : ''}`,
    },
    {
      id: 'T14',
      what: 'state at 3000 as messages over getTuple, plain objects',
      must: 1.3,
      stretch: 1,
      ...less,
      ...ratio('long', 'longPeer', 'stateMs'),
    },
    {
      id: 'T15',
      what: 'state at 1000 over getTuple with message objects',
      must: 1 / 4,
      stretch: 1 / 8,
      ...less,
      ...ratio('short', 'objectsPeer', 'stateMs'),
    },
    {
      id: 'T17',
      what: 'fork and 10 durable turns over LangGraph, N=1000',
      must: 1 / 25,
      stretch: 1 / 38,
      ...less,
      ...ratio('short', 'shortPeer', 'forkMs'),
    },
    { id: 'T17 long', what: 'the same, N=3000', must: 1 / 80, stretch: 1 / 130, ...less, ...ratio('long', 'longPeer', 'forkMs') },
  ];
}

export const langGraphParts: readonly Part[] = [{ rows: ['T5', 'T6', 'T7', 'T14', 'T15', 'T17'], run: threads }];
