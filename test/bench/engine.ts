import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, type ContextId, systemClock } from '../../src/core/base/index.js';
import { addCommit, type Chain, checkpoint, commitOf } from '../../src/core/chain/index.js';
import { importPaths, openPlanner } from '../../src/core/intake/index.js';
import { createProject, type Project } from '../../src/core/project/index.js';

/** A project in a folder of its own. */
export const openEngine = (folder: string, clock: Clock = systemClock): Project => createProject({ dir: folder }, clock);

/** A project that is thrown away with its folder. */
export const scratchEngine = (folder: string): Project => openEngine(join(mkdtempSync(join(folder, 'engine-')), 'project'));

export function discard(project: Project): void {
  project.close();
  rmSync(project.dir, { recursive: true, force: true });
}

/** As in the product, files are planned by threads beside the one that stores: the build puts their script beside this one. */
const planner = openPlanner(join(dirname(process.argv[1] ?? ''), 'planner.js'), systemClock);

/** Imports files to the end, and says what came of it. */
export function importAll(chain: Chain, paths: readonly string[]) {
  const steps = importPaths(chain, { paths }, planner);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** What a turn of the material says of itself, as the runtime that wrote it knows: its messages, and tokens by its own count. */
export const turnCounts = { messageCount: 4, tokenCount: 420 };

/** One durable commit of a delta, as a hook or a runtime makes it: with the counts that it knows, or counted here. */
export const commit = (chain: Chain, parent: ContextId | null, text: string, counts?: typeof turnCounts): ContextId =>
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

/** Many commits in one transaction, for a chain that only has to be there. */
export function bulk(chain: Chain, texts: readonly string[], from: ContextId | null = null): ContextId {
  return chain.artifacts.transaction(() => {
    let parent = from === null ? null : commitOf(chain, from);
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
    if (!parent) throw new Error('a chain of nothing has no tip');
    return parent.id;
  });
}
