import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, type ContextId, systemClock } from '../../src/core/base/index.js';
import { addCommit, checkpoint, findCommit, type WriteChain } from '../../src/core/chain/index.js';
import { importPaths } from '../../src/core/import/index.js';
import { createProject, filesAhead, type Project } from '../../src/core/project/index.js';

/** A project in its own folder. */
export const openEngine = (folder: string, clock: Clock = systemClock): Project => createProject({ dir: folder }, clock);

/** A temporary project. */
export const scratchEngine = (folder: string): Project => openEngine(join(mkdtempSync(join(folder, 'engine-')), 'project'));

export function discard(project: Project): void {
  project.close();
  rmSync(project.dir, { recursive: true, force: true });
}

/** The script of the threads that read ahead, built beside the programs of the bench. Code that they share lies elsewhere. */
const threads = join(dirname(process.argv[1] ?? ''), 'work.js');

/** Imports files as the product does, and returns the result. */
export function importAll(chain: WriteChain, paths: string[]) {
  const steps = importPaths(chain, { paths }, (orders) => filesAhead(threads, orders));
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Message and token counts of a turn, as its runtime would report them. */
export const turnCounts = { messageCount: 4, tokenCount: 420 };

/** One durable commit of a delta, with given counts or counted by Stemma. */
export const commit = (chain: WriteChain, parent: ContextId | null, text: string, counts?: typeof turnCounts): ContextId =>
  checkpoint(chain, {
    parent,
    type: 'delta',
    format: 'claude-code-v1',
    text,
    template: 'claude-code',
    principal: 'bench',
    machine: 'here',
    sessionId: 'bench',
    checkpoint: 'turn_boundary',
    ...counts,
  }).id;

/** Many commits in one transaction, to prepare a chain quickly. */
export function bulk(chain: WriteChain, texts: readonly string[], from: ContextId | null = null): ContextId {
  return chain.artifacts.transaction(() => {
    let parent = from === null ? null : findCommit(chain, from);
    for (const text of texts) {
      const { no, ref } = chain.artifacts.put(Buffer.from(text), { contentType: 'application/x-ndjson' });
      parent = addCommit(chain, {
        parent,
        type: 'delta',
        artifact: no,
        ref,
        format: 'claude-code-v1',
        template: 'claude-code',
        principal: 'bench',
        checkpoint: 'turn_boundary',
        messageCount: 5,
        tokenCount: 400,
        errors: 0,
        entries: 3,
        forked: false,
      });
    }
    if (!parent) throw new Error('an empty chain has no tip');
    return parent.id;
  });
}
