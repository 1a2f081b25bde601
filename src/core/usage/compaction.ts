import { badRequest, defined, type EntryKey, toTimestamp } from '../base/index.js';
import { type ContextRow, contextEntries, findChildren, findCommit, lostParent, type ReadChain } from '../chain/index.js';
import { type InputOf, lostKinds, type UsageCompaction } from '../contract/index.js';
import { type ParsedEntry, toolClassOf } from '../formats/index.js';
import { requireContents } from './backfill.js';
import { compactedAt } from './commits.js';
import { findLost, type Mentionable } from './lost.js';
import { mentionsIn } from './mentions.js';

/** The longest text of a list row, in characters. */
const maxTextLength = 300;
const maxMissing = 12;
/** The default number of listed losses. The totals count all losses. */
const defaultLimit = 200;

/**
 * Returns the counted sizes before and after a compaction, and the files, decisions, errors and results that its summary does not mention. @throws
 * NOT_FOUND for an unknown commit; BAD_REQUEST for a commit that is not a compaction; CORRUPT if its parent is lost.
 */
export function usageCompaction(chain: ReadChain, { id, limit = defaultLimit }: InputOf<'usage.compaction'>): UsageCompaction {
  requireContents(chain, id);
  const row = findCommit(chain, id);
  if (row.type !== 'compaction')
    throw badRequest('id', `${row.id} is a ${row.type}, not a compaction. \`stemma compaction SESSION\` lists the compactions of a session.`);
  const parent = row.parentId;
  if (parent === null && row.parent !== null) throw lostParent(row);
  const before = parent === null ? [] : contextEntries(chain, { id: parent });
  const after = contextEntries(chain, { id: row.id });
  const restored = restoredAfter(chain, row);
  const summaries = after.filter(({ entry }) => entry.kind === 'summary');
  const { kept, found } = compare(row, before, [...after.map(({ entry }) => entry), ...restored]);
  const lost = found.filter(({ isMentioned }) => !isMentioned);
  const counted = compactedAt(chain, row.seq);
  const sumTokens = (entries: readonly { readonly entry: ParsedEntry }[]): number => entries.reduce((sum, { entry }) => sum + entry.tokens, 0);
  const commitsOf = new Map(before.map(({ key, commit }) => [key, commit] as const));
  return {
    commit: row.id,
    parent,
    at: toTimestamp(row.createdAt),
    before: { counted: counted.before ?? null, estimated: sumTokens(before), entries: before.length },
    after: { counted: counted.after ?? null, estimated: sumTokens(after), entries: after.length },
    summary: summaries[0]?.entry.text?.slice(0, maxTextLength) ?? row.summary,
    summaryKey: summaries[0]?.key ?? null,
    summaryTokens: sumTokens(summaries),
    kept,
    totals: lostKinds.map((kind) => ({
      kind,
      found: found.filter((each) => each.kind === kind).length,
      lost: lost.filter((each) => each.kind === kind).length,
    })),
    lost: ordered(lost)
      .slice(0, limit)
      .map(({ kind, text, key, tokens, path, tool, uses, missing }) => ({
        kind,
        text: oneLine(text),
        key,
        commit: commitsOf.get(key) ?? row.id,
        tokens,
        uses,
        ...defined({ path, tool }),
        missing: missing.slice(0, maxMissing),
      })),
  };
}

type Placed = ReturnType<typeof contextEntries>;

/**
 * The entries that the agent itself added after the summary and before the first reply, such as files that it read again. A person's next prompt is
 * not part of the summary.
 */
function restoredAfter(chain: ReadChain, row: ContextRow): ParsedEntry[] {
  const [child] = findChildren(chain, row);
  if (child?.type !== 'delta') return [];
  const entries = contextEntries(chain, { id: child.id, stop: child.id }).map(({ entry }) => entry);
  const reply = entries.findIndex(({ role }) => role === 'assistant');
  return entries.slice(0, reply < 0 ? entries.length : reply).filter(({ marks }) => marks?.includes('meta'));
}

function compare(row: ContextRow, before: Placed, after: readonly ParsedEntry[]): { kept: number; found: Mentionable[] } {
  const keys = new Set<EntryKey>(after.map(({ key }) => key));
  const kept = before.filter(({ key }) => keys.has(key)).length;
  const text = after.map(({ text = '', arguments: given }) => (given === undefined ? text : `${text}\n${JSON.stringify(given)}`)).join('\n');
  const found = findLost(
    { entries: before.map(({ entry }) => entry), toolClassOf: (tool) => toolClassOf(row.format, tool), isKept: (key) => keys.has(key) },
    mentionsIn(text),
  );
  return { kept, found };
}

/** Sorted by kind, and within a kind by use, most used first. */
const ordered = (lost: readonly Mentionable[]): Mentionable[] =>
  lost.toSorted((a, b) => lostKinds.indexOf(a.kind) - lostKinds.indexOf(b.kind) || b.uses - a.uses || b.tokens - a.tokens);

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxTextLength ? line : `${line.slice(0, maxTextLength - 1).toWellFormed()}…`;
}
