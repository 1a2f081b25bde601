import type { ContextId, EntryKey } from '../base/index.js';
import { findCommit, type ReadChain, walk } from '../chain/index.js';
import type { UsageFiller } from '../contract/index.js';
import { requireContents } from './backfill.js';
import { type FillerFact, factsAlong } from './filler-facts.js';
import { offeredIn, serverOf } from './offered.js';
import { replyKeysIn } from './rows.js';
import { lastCallOf } from './window.js';

/**
 * Lists the content that fills the window of a context, sorted by tokens times the calls that contained it. @throws NOT_FOUND for an unknown commit.
 */
export function usageFillers(chain: ReadChain, id: ContextId): UsageFiller[] {
  requireContents(chain, id);
  const tip = findCommit(chain, id);
  const steps = walk(chain, tip).contributing;
  const facts = factsAlong(chain, tip, steps);
  const replies = repliesIn(
    facts,
    replyKeysIn(
      chain,
      steps.map(({ seq }) => seq),
    ),
  );
  const calls = callNotes();
  const first = new Map<string, EntryKey>();
  const prompts = systemPrompts(facts);
  const entryFillers = facts.map((fact, place): UsageFiller => {
    calls.add(fact);
    const { key, kind, digest, tokens } = fact;
    const { path, tool, input } = calls.of(fact);
    const earlier = digest === undefined ? undefined : first.get(digest);
    if (digest !== undefined && earlier === undefined) first.set(digest, key);
    const stayed = replies.length - firstAfter(replies, prompts.get(place)?.first ?? place);
    const head = input || fact.head;
    const group = groupOf(fact, tool);
    // Assigned one by one: spreading parts of a hundred thousand fillers takes most of the time.
    const filler: UsageFiller = { key, kind, tokens, calls: stayed, tokenCalls: tokens * stayed };
    if (tool !== undefined) filler.tool = tool;
    if (path !== undefined) filler.path = path;
    if (head !== undefined) filler.head = head;
    if (earlier !== undefined) filler.duplicateOf = earlier;
    if (group !== undefined) filler.group = group;
    return filler;
  });
  const fillers = entryFillers.filter((_, place) => prompts.get(place)?.isLast !== false);
  const last = lastCallOf(chain, tip);
  for (const { kind, tool, tokens } of last ? offeredIn(chain, last) : []) {
    const server = serverOf(tool);
    const isUnused = tool !== undefined && !calls.used.has(tool);
    fillers.push({
      ...(tool !== undefined && { tool }),
      kind,
      tokens,
      calls: replies.length,
      tokenCalls: tokens * replies.length,
      ...(tool !== undefined && { group: server === undefined ? (isUnused ? 'Tools never used' : 'Tools that were used') : `MCP server ${server}` }),
      ...(isUnused && { unused: true }),
    });
  }
  return fillers.filter(({ tokens }) => tokens > 0).sort((a, b) => b.tokenCalls - a.tokenCalls || b.tokens - a.tokens);
}

/** The positions of the first entries of replies, in order. Of entries with the same key, the last counts. */
function repliesIn(facts: readonly FillerFact[], replies: readonly EntryKey[]): number[] {
  const keys = new Set(replies);
  const places = new Map<EntryKey, number>();
  for (const [place, { key }] of facts.entries()) if (keys.has(key)) places.set(key, place);
  return replies.flatMap((key) => places.get(key) ?? []).sort((a, b) => a - b);
}

/** Collects the facts about tool calls that their results need. Add each entry in order. */
function callNotes() {
  const used = new Set<string>();
  const byCall = new Map<string, { path?: string; tool?: string; input?: string }>();
  /** Files that Claude Code attached, by message. */
  const attached = new Map<string, string>();
  return {
    /** Tools that were called. */
    used: used as ReadonlySet<string>,
    add: ({ tool, call, does, message, attached: path }: FillerFact): void => {
      if (does && tool !== undefined) used.add(tool);
      if (does && call !== undefined) {
        const noted = byCall.get(call) ?? {};
        if (does.path !== undefined) noted.path = does.path;
        if (tool !== undefined) noted.tool = tool;
        if (does.input !== undefined) noted.input = does.input;
        byCall.set(call, noted);
      }
      if (path !== undefined && message !== undefined) attached.set(message, path);
    },
    /** The file, the tool and the input that an entry is about. */
    of: ({ call: id, tool, message }: FillerFact) => {
      const call = id === undefined ? undefined : byCall.get(id);
      const path = id === undefined && message !== undefined ? attached.get(message) : call?.path;
      return { path, tool: tool ?? call?.tool, input: call?.input };
    },
  };
}

/**
 * System prompts by position. If an agent records its prompt at each turn, only the last record fills the window, and it counts as sent since the
 * first.
 */
function systemPrompts(facts: readonly FillerFact[]): ReadonlyMap<number, { readonly first: number; readonly isLast: boolean }> {
  const prompts = new Map<number, { readonly first: number; readonly isLast: boolean }>();
  const latest = new Map<string, number>();
  for (const [place, { prompt: beginning }] of facts.entries()) {
    if (beginning === undefined) continue;
    const before = latest.get(beginning);
    const first = (before === undefined ? undefined : prompts.get(before)?.first) ?? place;
    if (before !== undefined) prompts.set(before, { first, isLast: false });
    prompts.set(place, { first, isLast: true });
    latest.set(beginning, place);
  }
  return prompts;
}

/** The group of an entry: an MCP server with its calls and results, or the reminders that the agent added itself. */
function groupOf({ reminds }: FillerFact, tool: string | undefined): string | undefined {
  const server = serverOf(tool);
  if (server !== undefined) return `MCP server ${server}`;
  return reminds ? 'Reminders of the agent' : undefined;
}

/** The number of replies that begin at or before a position. Their calls did not contain the entry at this position. */
function firstAfter(replies: readonly number[], place: number): number {
  let low = 0;
  let high = replies.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((replies[middle] as number) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}
