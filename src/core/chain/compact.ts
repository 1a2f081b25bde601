import { type ArtifactNo, badRequest, type ContextId, toTimestamp } from '../base/index.js';
import type { Commit, Stop } from '../contract/index.js';
import { countTokens, type Format, findFormat, findReader, type OutlineCounts, outlined, type WritableEntry } from '../formats/index.js';
import { assemble, seededIds } from './assemble.js';
import { type ContextRow, personOf, type Step, toCommit, type WriteChain } from './chain.js';
import { addCommit, commitCounts } from './checkpoint.js';
import { findCommit } from './find.js';
import { saveOutline } from './outline.js';
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
    const parent = findCommit(chain, id);
    const format = findReader(parent.format);
    const createdAt = toTimestamp(Math.max(chain.clock(), parent.createdAt));
    const bytes = format.write([{ role: 'user', kind: 'summary', text: summary }, ...kept.map(({ tokens: _, ...entry }) => entry)], {
      keepsOpen: true,
      newId: seededIds(`${parent.id}\0${createdAt}\0${summary}`),
      now: createdAt,
      ...(parent.sessionId !== null && { sessionId: parent.sessionId }),
      parentRecord: lastRecord(chain, parent),
    });
    const { no, ref } = chain.artifacts.put(bytes, { contentType: format.contentType });
    const row = addCommit(chain, {
      ...inherited(chain, parent, principal),
      type: 'compaction',
      checkpoint: 'compaction',
      artifact: no,
      ref,
      summary: summary.slice(0, 400),
      messageCount: 0,
      tokenCount: kept.reduce((sum, entry) => sum + entry.tokens, countTokens(summary)),
      errors: 0,
      entries: 1 + kept.length,
      createdAt,
    });
    return toCommit(row);
  });
}

/** Adds a snapshot commit that holds the whole context, so that later walks are short. */
export function snapshot(chain: WriteChain, id: ContextId, stop: Stop = 'compaction', principal?: string): Commit {
  return chain.artifacts.transaction(() => {
    const parent = findCommit(chain, id);
    const format = findReader(parent.format);
    const way = walk(chain, parent, stop);
    const { bytes } = assemble(chain, way, format, { keepsOpen: true });
    const { no, ref } = chain.artifacts.put(bytes, { contentType: format.contentType });
    const row = addCommit(chain, {
      ...inherited(chain, parent, principal),
      type: 'snapshot',
      checkpoint: 'explicit',
      artifact: no,
      ref,
      summary: `Snapshot of ${parent.id}`,
      ...commitCounts('snapshot', countSnapshot(chain, no, format, bytes, way.contributing)),
    });
    return toCommit(row);
  });
}

/**
 * The counts of a snapshot: what its content holds. Over a compaction, that includes the summary, which the commits do not count as a message. Content
 * of an unknown format is not read.
 */
function countSnapshot(chain: WriteChain, artifact: ArtifactNo, format: Format, bytes: Uint8Array, steps: readonly Step[]): OutlineCounts {
  if (!findFormat(format.id)) {
    const sum = (of: (step: Step) => number): number => steps.reduce((total, step) => total + of(step), 0);
    return { messages: sum((step) => step.messageCount), tokens: sum((step) => step.tokenCount), errors: 0, entries: 0 };
  }
  const { data, counts } = outlined(format.parse(bytes));
  saveOutline(chain, { artifact, format: format.id }, data);
  return counts;
}

/** The metadata of a compaction or snapshot: that of its parent. But it belongs to its author, not to the parent's (C25). */
const inherited = (chain: WriteChain, parent: ContextRow, principal = personOf(chain)) => ({
  parent,
  format: parent.format,
  template: parent.template,
  sessionId: parent.sessionId ?? undefined,
  principal,
  machine: chain.machine,
  forked: true,
});
