import { badRequest, type ContextId, timestampOf } from '../base/index.js';
import type { Commit, Stop } from '../contract/index.js';
import { countTokens, readerOf, type WritableEntry } from '../formats/index.js';
import { type Chain, toCommit } from './chain.js';
import { addCommit } from './checkpoint.js';
import { commitOf } from './find.js';
import { lastRecord } from './fork.js';
import { assemble, idsOf } from './materialize.js';
import { outlinesOf } from './outline.js';
import { walk } from './walk.js';

/** An entry that stays beside a summary, with what it costs. */
export type KeptEntry = WritableEntry & { readonly tokens: number };

/**
 * Puts a summary in place of all that is before it, as a commit on top of the context it stands for (C9, C14). Entries
 * that are `kept` follow the summary under their own keys, in the order in which the model is to see them.
 */
export function compact(chain: Chain, id: ContextId, summary: string, kept: readonly KeptEntry[] = []): Commit {
  if (summary.trim() === '') throw badRequest('summary', 'a compaction needs a summary that says something: it stands for everything before it');
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

/** Stores a context whole as one commit on top of it, so that later walks are short (seed, "Compaction and Chain Depth"). */
export function snapshot(chain: Chain, id: ContextId, stop: Stop = 'compaction'): Commit {
  return chain.artifacts.transaction(() => {
    const parent = commitOf(chain, id);
    const format = readerOf(parent.format);
    const way = walk(chain, parent, stop);
    const { no, ref } = chain.artifacts.put(assemble(chain, way, format).bytes, { contentType: format.contentType });
    const row = addCommit(chain, {
      ...inherited(parent),
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

/** What a commit made here takes over from the one that it stands on. */
const inherited = (parent: ReturnType<typeof commitOf>): { format: string; template: string; principal?: string; sessionId?: string } => ({
  format: parent.format,
  template: parent.template,
  ...(parent.principal !== null && { principal: parent.principal }),
  ...(parent.sessionId !== null && { sessionId: parent.sessionId }),
});
