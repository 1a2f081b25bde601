/**
 * A process that works on a project until it is ended, at whatever moment. What the store has acknowledged it says on
 * its standard output at once; the tests hold the store to that and to nothing else.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId } from '../../src/core/base/index.js';
import { checkpoint, snapshot } from '../../src/core/chain/index.js';
import { importPaths } from '../../src/core/intake/index.js';
import { atOnce, openProject, type Project, roots } from '../../src/core/project/index.js';
import { delta } from './material.js';

const [work, dir, ...rest] = process.argv.slice(2);
if (!work || !dir) throw new Error('usage: worker WORK PROJECT …');
const say = (line: string): number => writeSync(1, `${line}\n`);

/** Two hours ahead, all that nothing names is garbage. */
const later = (): number => Date.now() + 7_200_000;

/** As the router does it: what another process has evicted to a backing store meanwhile is fetched, and the call goes again. */
async function fetching<T>({ tiers }: Project, work: () => T): Promise<T> {
  for (;;)
    try {
      return work();
    } catch (error) {
      if (!(await tiers.fetchFor(error))) throw error;
    }
}

const works: Record<string, (project: Project) => Promise<void> | void> = {
  /** Commits on top of a commit, `count` times or for ever, a snapshot now and then. */
  async checkpoint(project) {
    const { chain } = project;
    const [from = '', seed = '0', count] = rest;
    let parent = from === '' ? null : (from as ContextId);
    for (let turn = 0; count === undefined || turn < Number(count); turn++) {
      const made = checkpoint(chain, {
        parent,
        type: 'delta',
        format: 'claude-code-v1',
        text: delta(Number(seed), turn),
        template: `worker ${seed}`,
        principal: seed,
        checkpoint: 'turn_boundary',
      });
      parent = made.id;
      say(`commit ${made.id} ${made.artifactRef}`);
      if (turn % 17 === 16) parent = (await fetching(project, () => snapshot(chain, made.id))).id;
    }
  },
  async import(project) {
    const result = await fetching(project, () => atOnce(importPaths(project.chain, { paths: rest })));
    for (const tip of result.tips) say(`tip ${tip}`);
  },
  /** Makes garbage and takes it away, for ever. */
  collect({ chain }) {
    for (let round = 0; ; round++) {
      for (let at = 0; at < 20; at++) chain.artifacts.put(Buffer.from(delta(round, at)), { contentType: 'text/plain', bulk: at % 2 === 0 });
      atOnce(chain.artifacts.gc({ roots }));
      say('collected');
    }
  },
  pack({ chain }) {
    for (;;) {
      atOnce(chain.artifacts.repack());
      say('packed');
    }
  },
  async replicate({ chain, tiers }) {
    const [place = ''] = rest;
    tiers.set('far', { place: { kind: 'folder', dir: place }, takes: 'all' });
    for (;;) {
      await tiers.replicate();
      atOnce(chain.artifacts.gc({ roots, budgetBytes: 0 }));
      say('replicated');
    }
  },
  /** So many small commits, one after the other. */
  small({ chain }) {
    let parent: ContextId | null = null;
    for (let turn = 0; turn < Number(rest[0]); turn++)
      parent = checkpoint(chain, {
        parent,
        type: 'delta',
        format: 'claude-code-v1',
        text: delta(0, 1),
        template: 'small',
        checkpoint: 'turn_boundary',
      }).id;
  },
  /** Opening did it. */
  open() {},
};

const run = works[work];
if (!run) throw new Error(`no such work: ${work} in ${join(dir)}`);
try {
  const project = openProject(dir, work === 'collect' ? later : Date.now);
  say('open');
  await run(project);
  project.close();
  say('done');
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  say(`refused ${code ?? 'BUG'} ${message}`);
  process.exitCode = 3;
}
