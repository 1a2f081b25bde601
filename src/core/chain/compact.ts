import { badRequest, type ContextId, timestampOf } from '../base/index.js';
import type { Commit, Stop } from '../contract/index.js';
import { countTokens, readerOf, type WritableEntry } from '../formats/index.js';
import { assemble, idsOf } from './assemble.js';
import { personOf, toCommit, type WriteChain } from './chain.js';
import { addCommit } from './checkpoint.js';
import { commitOf } from './find.js';
import { outlinesOf } from './outline.js';
import { lastRecord } from './records.js';
import { walk } from './walk.js';

/** An entry kept next to a summary, with its token count. */
export type KeptEntry = WritableEntry & { readonly tokens: number };

/**
 * Adds a compaction commit on top of a context: its summary replaces everything before it (C9, C14). The `kept` entries
 * follow the summary under their own keys, in the order in which the model sees them.
 * @throws BAD_REQUEST for an empty summary; NOT_FOUND for an unknown commit.
 */
export function compact(chain: WriteChain, id: ContextId, summary: string, kept: readonly KeptEntry[] = [], principal?: string): Commit {
  if (summary.trim() === '')
    throw badRequest('summary', 'The summary is empty. A compaction needs a summary, because it replaces everything before it.');
  return chain.artifacts.transaction(() => {
    const parent = commitOf(chain, id);
    const format = readerOf(parent.format);
    const createdAt = timestampOf(Math.max(chain.clock(), parent.createdAt));
    const bytes = format.write([{ role: 'user', kind: 'summary', text: summary }, ...kept.map(({ tokens: _, ...entry }) => entry)], {
      newId: idsOf(`${parent.id}\0${createdAt}\0${summary}`),
      now: createdAt,
      ...(parent.sessionId !== null && { sessionId: parent.sessionId }),
      parentRecord: lastRecord(chain, parent),
    });
    const { no, ref } = chain.artifacts.put(bytes, { contentType: format.contentType });
    const row = addCommit(chain, {
      ...inherited(parent),
      principal: principal ?? personOf(chain),
      machine: chain.machine,
      parent,
      type: 'compaction',
      checkpoint: 'compaction',
      artifact: no,
      ref,
      summary: summary.slice(0, 400),
      messageCount: 0,
      tokenCount: kept.reduce((sum, entry) => sum + entry.tokens, countTokens(summary)),
      errors: 0,
      entries: 1 + kept.length,
      forked: true,
      createdAt,
    });
    return toCommit(row);
  });
}

/** Adds a snapshot commit that holds the whole context, so that later walks are short. */
export function snapshot(chain: WriteChain, id: ContextId, stop: Stop = 'compaction', principal?: string): Commit {
  return chain.artifacts.transaction(() => {
    const parent = commitOf(chain, id);
    const format = readerOf(parent.format);
    const way = walk(chain, parent, stop);
    const { no, ref } = chain.artifacts.put(assemble(chain, way, format).bytes, { contentType: format.contentType });
    const row = addCommit(chain, {
      ...inherited(parent),
      principal: principal ?? personOf(chain),
      machine: chain.machine,
      parent,
      type: 'snapshot',
      checkpoint: 'explicit',
      artifact: no,
      ref,
      summary: `Snapshot of ${parent.id}`,
      messageCount: way.contributing.reduce((sum, step) => sum + step.messageCount, 0),
      tokenCount: way.contributing.reduce((sum, step) => sum + step.tokenCount, 0),
      errors: 0,
      entries: outlinesOf(chain, way.contributing).reduce((sum, outline) => sum + outline.entries.length, 0),
      forked: true,
    });
    return toCommit(row);
  });
}

/** Metadata that a compaction or snapshot copies from its parent. It belongs to its author, not to the parent's (C25). */
const inherited = (parent: ReturnType<typeof commitOf>): { format: string; template: string; sessionId?: string } => ({
  format: parent.format,
  template: parent.template,
  ...(parent.sessionId !== null && { sessionId: parent.sessionId }),
});
