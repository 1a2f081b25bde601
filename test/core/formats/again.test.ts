import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { contextEntries, show, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { detect } from '../../../src/core/import/index.js';
import { usageCalls } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { recorded, writeDatabase } from '../../support/opencode.js';
import { emptyChain, scratch } from '../../support/project.js';
import { filesBelow, root } from '../../support/source.js';

/**
 * A prompt that only the queue of Claude Code holds comes back in the agent's own words and place (test/core/formats/claude-code/session.test.ts). A
 * sanitized file in which all texts are one text is read as a conversation that repeats itself.
 */
const isPartial = /fixtures\/(?:cases\/queue-absorbed|claude-code\/agent-sessions-sanitized|codex-all-types)/;
const isSample = (path: string): boolean => !/\.(?:md|pb)$/.test(path) && !isPartial.test(path);
const files = filesBelow('test/fixtures', isSample).filter((path) => detect([join(root, path)]).length > 0);
/** Sessions of OpenCode lie in a database, which is made of their rows. */
const databases = ['tour', 'troubles'] as const;
const exchanges = ['atif-v1', 'otlp-v1', 'inspect-eval-v1'];

function imported(name: string): WriteChain {
  const chain = emptyChain();
  const database = databases.find((one) => one === name);
  const path = database ? join(scratch(), 'opencode.db') : join(root, name);
  if (database) writeDatabase(path, recorded(database));
  importInto(chain, path);
  return chain;
}

interface Heard {
  readonly key: EntryKey;
  readonly kind: string;
  readonly text: string;
  readonly toolCallId?: string | undefined;
}

/** What a model was sent and what it answered. */
const heard = (chain: WriteChain, id: ContextId): Heard[] =>
  contextEntries(chain, { id })
    .filter(({ entry }) => !entry.marks?.includes('hidden'))
    .map(({ key, entry: { role, kind, text, toolName, toolCallId, arguments: input, isError } }) => ({
      ...{ key, role, kind, text: text ?? '' },
      ...(kind === 'tool_call' && { toolName, toolCallId, input }),
      ...(kind === 'tool_result' && { toolCallId, isError: isError ?? false }),
    }));

const withoutKeys = (entries: readonly Heard[]): unknown[] => entries.map(({ key: _, ...entry }) => entry);

/**
 * What was counted for the calls whose replies are among the entries: input, output, read from and written to the cache. Calls beside the conversation,
 * such as a compaction or what only the agent's own total holds, stay with the session in which they were made.
 */
function counted(chain: WriteChain, entries: readonly Heard[]): string[] {
  const keys = new Set<string>(entries.map(({ key }) => key));
  return usageCalls(chain, {}).calls.flatMap(({ replyKey, beside, tokens: { input, output, cacheRead, cacheWrite } }) => {
    const counts = [input, output, cacheRead, cacheWrite];
    return beside === undefined && keys.has(replyKey) && counts.some((count) => count !== null) ? [counts.join()] : [];
  });
}

/** A headless log of Claude Code counts the output of a run only at its end. That count stays with the log, like other totals of an agent. */
const isLog = /fixtures\/cases\/claude-stream-json/;
const withoutOutput = (counts: string): string => counts.replace(/^(\d*),\d*,/, '$1,,');

/** The entries and counts of a context before and after an export in a format and the import of the exported file. */
function roundTrip(chain: WriteChain, id: ContextId, format: string, name: string) {
  const path = join(scratch(), `again.${requireFormat(format).about.extension}`);
  const { losses } = exportContext(chain, { id, format, path });
  const lost = new Set<string>(losses.map(({ entry }) => entry));
  const before = heard(chain, id).filter(({ key }) => !lost.has(key));
  const again = emptyChain();
  // An entry with a named loss may come back in part.
  const after = heard(again, importInto(again, path).tips.at(-1) as ContextId).filter(({ key }) => !lost.has(key));
  const had = counted(chain, before);
  return { before, after, counts: { before: isLog.test(name) ? had.map(withoutOutput) : had, after: counted(again, after) } };
}

/** The newest contexts with entries. */
const contexts = (chain: WriteChain, limit: number): ContextId[] =>
  tips(chain, {})
    .filter(({ id }) => heard(chain, id).length > 0)
    .slice(0, limit)
    .map(({ id }) => id);

/** Gemini CLI writes its own context when it opens a session. */
const isOwnContext = ({ text }: Heard): boolean => text.startsWith('<session_context>');

/** Cases and excerpts with results of no call, or calls of no result, with which Claude Code could not continue. */
const isUnpaired = /fixtures\/(?:cases\/(?:orphan-result-after-compaction|unpaired-tools)|claude-code\/excerpt-(?:432b48|48415f|8cfa91))/;

/** Whether an entry is neither a call nor a result without its other half, nor what stands where such a result was. */
function isPaired(entries: readonly Heard[]): (entry: Heard) => boolean {
  const idsOf = (one: string) => new Set(entries.flatMap(({ kind, toolCallId }) => (kind === one ? [toolCallId] : [])));
  const [calls, results] = [idsOf('tool_call'), idsOf('tool_result')];
  return ({ kind, text, toolCallId }) => text !== '(no content)' && (!kind.startsWith('tool_') || (calls.has(toolCallId) && results.has(toolCallId)));
}

/** A session of its own agent, which the agent could resume. */
function expectOwn(chain: WriteChain, id: ContextId, name: string): void {
  const { before, after, counts } = roundTrip(chain, id, show(chain, id).format, name);
  const answered = new Set(before.flatMap(({ kind, toolCallId }) => (kind === 'tool_result' ? [toolCallId] : [])));
  // A session that an agent can resume has an answer to each of its calls.
  const own = after.filter((entry) => entry.kind !== 'tool_result' || answered.has(entry.toolCallId));
  const had = after.some(isOwnContext) ? before : before.filter((entry) => !isOwnContext(entry));
  const isKept = isUnpaired.test(name) ? isPaired(before) : () => true;
  expect(withoutKeys(own.filter(isKept)), id).toEqual(withoutKeys(had.filter(isKept)));
  // The counts of a call stay with the session in which Codex made it.
  if (name.includes('codex')) expect([[], counts.before], id).toContainEqual(counts.after);
  else expect(counts.after, id).toEqual(counts.before);
}

test.each(some([...files, ...databases], 20))('[F25, F40] %s comes back from each format but for named losses', (name) => {
  const chain = imported(name);
  for (const [at, id] of contexts(chain, 2).entries()) {
    expectOwn(chain, id, name);
    if (at > 0) continue;
    for (const format of exchanges) {
      const { before, after, counts } = roundTrip(chain, id, format, name);
      expect(withoutKeys(after), `${format} ${id}`).toEqual(withoutKeys(before));
      expect(counts.after, `${format} ${id}`).toEqual(counts.before);
    }
  }
});
