import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId, Timestamp } from '../../../src/core/base/index.js';
import { atOnce } from '../../../src/core/base/index.js';
import { addCommit, findCommit, fork, graph, resolve, type WriteChain } from '../../../src/core/chain/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { indexInPieces, query } from '../../../src/core/search/index.js';
import { builtRoot } from '../built.js';
import { openEngine } from '../engine.js';
import { turns } from '../material.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

/** A project with many commits in chains of 1,000, of few different contents. */
function manyCommits(folder: string, count: number): { readonly dir: string; readonly tip: ContextId } {
  const { chain, dir, close } = openEngine(folder);
  const contents = turns(64, 9);
  let parent: ReturnType<typeof addCommit> | null = null;
  for (let from = 0; from < count; from += 10_000)
    chain.artifacts.transaction(() => {
      for (let number = from; number < Math.min(count, from + 10_000); number++) {
        if (number % 1_000 === 0) parent = null;
        const { no, ref } = chain.artifacts.put(Buffer.from(contents[number % 64] ?? ''), { contentType: 'application/x-ndjson' });
        parent = addCommit(chain, {
          ...{ parent, type: 'delta', artifact: no, ref, format: 'claude-code-v1', template: `t${number % 7}` },
          ...{ principal: `p${number % 50}`, checkpoint: 'turn_boundary', sessionId: `s${Math.floor(number / 1_000)}` },
          ...{ messageCount: 5, tokenCount: 400, errors: 0, entries: 3, forked: false },
          createdAt: new Date(1_700_000_000_000 + number * 1_000).toISOString() as Timestamp,
        });
      }
    });
  const tip = (parent as unknown as { id: ContextId }).id;
  atOnce(indexInPieces(chain));
  close();
  return { dir, tip };
}

type Work = (chain: WriteChain, tip: ContextId, round: number) => unknown;

const works: Readonly<Record<string, Work>> = {
  graph: (chain) => graph(chain, { offset: 0, limit: 100 }),
  resolve: (chain) => resolve(chain, 'p7', new Date(1_700_000_500_000).toISOString() as Timestamp),
  search: (chain) => query(chain, { text: 'queue retries', limit: 20 }),
  fork: (chain, tip, round) => fork(chain, { id: tip, template: `fork ${round}` }),
  show: (chain, tip) => findCommit(chain, tip),
};

function large(folder: string, { quick }: Run): Row[] {
  const at = mkdtempSync(join(folder, 'large-'));
  const [few, many] = quick ? [1_000, 100_000] : [10_000, 1_000_000];
  const made = { few: manyCommits(join(at, 'few'), few), many: manyCommits(join(at, 'many'), many) };
  const open = (size: keyof typeof made): Project => openProject(made[size].dir, Date.now);
  const close = (project: Project): void => project.close();
  const cases = Object.fromEntries(
    (['few', 'many'] as const).flatMap((size) => [
      [`open ${size}`, plain(() => close(open(size)))],
      ...Object.entries(works).map(([name, work]) => [
        `${name} ${size}`,
        timed({ prepare: () => open(size), run: (project: Project) => work(project.chain, made[size].tip, Math.random()), clean: close }),
      ]),
    ]),
  );
  const ms = medians(cases, 7);
  rmSync(at, { recursive: true, force: true });
  const names = ['open', ...Object.keys(works)];
  const ratios = names.map((name) => ({ name, ratio: (ms[`${name} many`] ?? 0) / (ms[`${name} few`] ?? 1) }));
  const worst = ratios.toSorted((a, b) => b.ratio - a.ratio)[0];
  return [
    {
      id: 'T35',
      what: `${many.toLocaleString('en')} commits over ${few.toLocaleString('en')}: the slowest of ${names.length}`,
      ratio: worst?.ratio,
      must: 2,
      stretch: 1.2,
      better: 'less',
      note: ratios.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(', '),
      figures: Object.fromEntries(Object.entries(ms).map(([name, value]) => [`${name} ms`, value])),
    },
  ];
}

/** `stemma log` in a large project, whole process. */
function log(folder: string, { quick }: Run): Row[] {
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'log-'));
  const { dir } = manyCommits(join(at, 'many'), quick ? 20_000 : 200_000);
  const env = { ...process.env, STEMMA_HOME: join(at, 'home') };
  const run = (words: readonly string[]) => spawnSync(process.execPath, words, { cwd: at, env, encoding: 'utf8' });
  const stemma = join(root, 'out', 'cli', 'stemma.js');
  run([stemma, 'trust', dir]);
  const printed = run([stemma, 'log', '--project', dir]);
  if (printed.status !== 0) throw new Error(printed.stderr);
  const ms = medians({ node: plain(() => run(['-e', '0'])), log: plain(() => run([stemma, 'log', '--project', dir])) }, 11);
  rmSync(at, { recursive: true, force: true });
  return [
    {
      id: 'T36',
      what: '`stemma log` in a large project over `node -e 0`, whole process',
      ratio: ms.log / ms.node,
      must: 2.5,
      stretch: 1.6,
      better: 'less',
      figures: { nodeMs: ms.node, logMs: ms.log },
    },
  ];
}

export const largeParts: readonly Part[] = [
  { rows: ['T35'], run: large },
  { rows: ['T36'], run: log },
];
