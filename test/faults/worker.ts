/**
 * A process that works on a project until it is killed. It prints every acknowledged write at once, and the tests check
 * exactly these.
 */
import { writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContextId } from '../../src/core/base/index.js';
import { checkpoint, snapshot } from '../../src/core/chain/index.js';
import { importPaths } from '../../src/core/import/index.js';
import { atOnce, createProject, filesAhead, openProject, type Project, roots } from '../../src/core/project/index.js';
import { delta, machineOf } from './material.js';
import { writeSampleStory } from './story.js';

const [work, dir, ...rest] = process.argv.slice(2);
if (!work || !dir) throw new Error('usage: worker WORK PROJECT …');
const say = (line: string): number => writeSync(1, `${line}\n`);

/** A clock two hours ahead, so that unreferenced objects can be collected. */
const later = (): number => Date.now() + 7_200_000;

/** Fetches what another process has evicted to a replica meanwhile, and repeats the call, as the router does. */
async function fetching<T>({ replicas }: Project, work: () => T): Promise<T> {
  for (;;)
    try {
      return work();
    } catch (error) {
      if (!(await replicas.fetchFor(error))) throw error;
    }
}

const works: Record<string, (project: Project) => Promise<void> | void> = {
  /** Commits on top of a commit, `count` times or forever, sometimes a snapshot. */
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
  /** Imports with threads that read ahead. */
  importAhead({ chain }) {
    const threads = join(dirname(dirname(fileURLToPath(import.meta.url))), 'faults-threads', 'script.js');
    const result = atOnce(importPaths(chain, { paths: rest }, (orders) => filesAhead(threads, orders)));
    say(`imported ${result.sessions}`);
  },
  /** Makes and collects garbage forever. */
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
  async replicate({ chain, replicas }) {
    const [place = ''] = rest;
    await replicas.set('far', { place: { kind: 'folder', dir: place }, takes: 'all' });
    for (;;) {
      await replicas.replicate();
      atOnce(chain.artifacts.gc({ roots, budgetBytes: 0, replicas: replicas.names() }));
      say('replicated');
    }
  },
  /** A number of small commits. */
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
  /** A little of all that writes, in a project that is made, closed and opened again. */
  async everything(project) {
    const [place = ''] = rest;
    const { chain, replicas } = project;
    let parent: ContextId | null = null;
    const commit = ({ chain }: Project, count: number): void => {
      for (let turn = 0; turn < count; turn++) {
        const text = delta(7, turn + 8);
        parent = checkpoint(chain, { parent, type: 'delta', format: 'claude-code-v1', text, template: 'w', checkpoint: 'turn_boundary' }).id;
        say(`commit ${parent}`);
      }
    };
    commit(project, 5);
    for (const tip of atOnce(importPaths(chain, { paths: [join('resources', 'sample')] })).tips) say(`tip ${tip}`);
    atOnce(chain.artifacts.repack());
    await replicas.set('far', { place: { kind: 'folder', dir: place }, takes: 'all' });
    await replicas.replicate();
    atOnce(chain.artifacts.gc({ roots, budgetBytes: 0, replicas: replicas.names() }));
    commit(project, 3);
    project.close();
    const again = openProject(dir, Date.now, machineOf(dir));
    commit(again, 3);
    again.close();
  },
  /** Carries out the open work. Its clock runs ahead, so that the jobs of a process that was killed are given back. */
  runner: (project) => writeSampleStory(project, say),
  /** Opening the project migrates it. */
  open() {},
};

const run = works[work];
if (!run) throw new Error(`unknown work: ${work} in ${join(dir)}`);
try {
  if (work === 'everything') createProject({ dir }, Date.now).close();
  const project = openProject(dir, work === 'collect' ? later : work === 'runner' ? () => Date.now() + Number(rest[0]) : Date.now, machineOf(dir));
  say('open');
  await run(project);
  project.close();
  say('done');
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  say(`refused ${code ?? 'BUG'} ${message}`);
  process.exitCode = 3;
}
