import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId, Timestamp } from '../../../src/core/base/index.js';
import { findCommit, fork, graph, resolve, type WriteChain } from '../../../src/core/chain/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { query } from '../../../src/core/search/index.js';
import { builtRoot } from '../built.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';
import { commitCounts, made } from './scale.js';

type Work = (chain: WriteChain, tip: ContextId, round: number) => unknown;

const works: Readonly<Record<string, Work>> = {
  graph: (chain) => graph(chain, { offset: 0, limit: 100 }),
  resolve: (chain) => resolve(chain, 'p7', new Date(1_700_000_500_000).toISOString() as Timestamp),
  search: (chain) => query(chain, { text: 'queue retries', limit: 20 }),
  fork: (chain, tip, round) => fork(chain, { id: tip, template: `fork ${round}` }),
  show: (chain, tip) => findCommit(chain, tip),
};

/** The newest commit of a project, which is closed. */
function tipOf({ chain, close }: Project): ContextId {
  const newest = chain.db.one<{ id: ContextId }>('SELECT id FROM commits WHERE forked = 0 ORDER BY seq DESC LIMIT 1');
  close();
  if (!newest) throw new Error('the project has no commit');
  return newest.id;
}

function large(folder: string, { quick }: Run): Row[] {
  const [few, many] = commitCounts(quick);
  const at = { few: made(folder, 'commits', few), many: made(folder, 'commits', many) };
  const open = (size: keyof typeof at): Project => openProject(join(at[size], 'project'), Date.now);
  const tips = { few: tipOf(open('few')), many: tipOf(open('many')) };
  const close = (project: Project): void => project.close();
  const cases = Object.fromEntries(
    (['few', 'many'] as const).flatMap((size) => [
      [`open ${size}`, plain(() => close(open(size)))],
      ...Object.entries(works).map(([name, work]) => [
        `${name} ${size}`,
        timed({ prepare: () => open(size), run: (project: Project) => work(project.chain, tips[size], Math.random()), clean: close }),
      ]),
    ]),
  );
  const ms = medians(cases, 7);
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
  const many = made(folder, 'commits', quick ? 10_000 : 200_000);
  const dir = join(many, 'project');
  // Derived data of another machine is not believed.
  const env = { ...process.env, STEMMA_HOME: join(many, 'data') };
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
