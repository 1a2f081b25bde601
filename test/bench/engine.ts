import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ArtifactsOptions, openArtifacts } from '../../src/core/artifacts/index.js';
import { type Clock, type ContextId, systemClock } from '../../src/core/base/index.js';
import { addCommit, type Chain, checkpoint, commitOf, recent, remakeSnapshot } from '../../src/core/chain/index.js';
import { openDatabase } from '../../src/core/store/index.js';

/** A project's chain without the project around it: what the rows on commits and walks measure. */
export interface Engine {
  readonly chain: Chain;
  close(): void;
}

export function openEngine(folder: string, clock: Clock = systemClock): Engine {
  mkdirSync(folder, { recursive: true });
  const db = openDatabase(join(folder, 'stemma.db'));
  db.run("INSERT OR IGNORE INTO project (no, projectId, name, createdAt) VALUES (1, 'bench', 'bench', 0)");
  const options: ArtifactsOptions = {
    db,
    project: 1,
    folder: join(folder, 'objects'),
    clock,
    newName: randomUUID,
    remake: (no) => remakeSnapshot(chain, no),
  };
  const chain: Chain = {
    db,
    project: 1,
    artifacts: openArtifacts(options),
    clock,
    newId: randomUUID,
    outlines: recent(200_000),
    parsed: recent(32 * 1024 * 1024),
  };
  return {
    chain,
    close: () => {
      chain.artifacts.close();
      db.close();
    },
  };
}

/** One durable commit of a delta, as a hook or a runtime makes it: with the counts that it knows, or counted here. */
export const commit = (chain: Chain, parent: ContextId | null, text: string, counts?: { messageCount: number; tokenCount: number }): ContextId =>
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
        errors: 0, entries: 3,
        forked: false,
      });
    }
    if (!parent) throw new Error('a chain of nothing has no tip');
    return parent.id;
  });
}
