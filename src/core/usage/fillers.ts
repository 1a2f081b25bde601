import { sha256Of } from '../artifacts/index.js';
import { type ContextId, defined, type EntryKey, parseJson } from '../base/index.js';
import { commitOf, contextEntriesInTurn, entries, type ReadChain, walk } from '../chain/index.js';
import type { OutlineRow, UsageFiller } from '../contract/index.js';
import { askedLine, type ParsedEntry, patchedFiles, toolLine } from '../formats/index.js';
import { requireContents } from './backfill.js';
import { offeredIn, serverOf } from './offered.js';
import { pathIn } from './paths.js';
import { callsIn } from './rows.js';
import { entriesOf, lastCallOf, partKindOf } from './window.js';

/** Texts shorter than this may repeat by chance. */
const minDuplicateLength = 200;

/**
 * Lists the content that fills the window of a context, sorted by tokens times the calls that contained it. @throws NOT_FOUND for an unknown commit.
 */
export function usageFillers(chain: ReadChain, id: ContextId): UsageFiller[] {
  requireContents(chain, id);
  const tip = commitOf(chain, id);
  const rows = entriesOf(chain, tip.id);
  const places = new Map(rows.map(({ key }, place) => [key, place] as const));
  const replies = callsIn(
    chain,
    walk(chain, tip).contributing.map(({ seq }) => seq),
  )
    .flatMap(({ key }) => places.get(key) ?? [])
    .sort((a, b) => a - b);
  const calls = callNotes();
  const first = new Map<string, EntryKey>();
  const prompts = systemPrompts(chain, tip.id, rows);
  const entryFillers: UsageFiller[] = [];
  for (const { key, entry } of contextEntriesInTurn(chain, { id: tip.id })) {
    const place = entryFillers.length;
    calls.add(entry);
    const { text = '' } = entry;
    const { path, tool, input } = calls.of(entry);
    const digest = text.length < minDuplicateLength ? undefined : sha256Of(Buffer.from(text)).toString('base64');
    const earlier = digest === undefined ? undefined : first.get(digest);
    if (digest !== undefined && earlier === undefined) first.set(digest, key);
    const tokens = rows[place]?.tokens ?? entry.tokens;
    const stayed = replies.length - firstAfter(replies, prompts.get(place)?.first ?? place);
    const head = input || askedOf(entry) || rows[place]?.head;
    const group = groupOf(entry, tool);
    entryFillers.push({
      key,
      ...defined({ tool, path }),
      kind: partKindOf(entry),
      ...(head !== undefined && { head }),
      tokens,
      calls: stayed,
      tokenCalls: tokens * stayed,
      ...defined({ duplicateOf: earlier, group }),
    });
  }
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

/** Collects the facts about tool calls that their results need. Add each entry in order. */
function callNotes() {
  const used = new Set<string>();
  const byCall = new Map<string, { readonly path?: string; readonly tool?: string; readonly input?: string }>();
  /** Files that Claude Code attached, by message. */
  const attached = new Map<string, string>();
  return {
    /** Tools that were called. */
    used: used as ReadonlySet<string>,
    add: (entry: ParsedEntry): void => {
      const { kind, toolCallId, toolName, messageId } = entry;
      if (kind === 'tool_call') {
        if (toolName !== undefined) used.add(toolName);
        const path = pathIn(entry.arguments) ?? onlyPatched(entry);
        if (toolCallId !== undefined)
          byCall.set(toolCallId, {
            ...byCall.get(toolCallId),
            ...(path !== undefined && { path }),
            ...(toolName !== undefined && { tool: toolName, input: toolLine(toolName, entry.arguments).slice(toolName.length).trim() }),
          });
      }
      const path = toolName === 'file' && messageId !== undefined ? attachedPath(entry.text ?? '') : undefined;
      if (path !== undefined && messageId !== undefined) attached.set(messageId, path);
    },
    /** The file, the tool and the input that an entry is about. */
    of: ({ toolCallId, toolName, messageId }: ParsedEntry) => {
      const call = toolCallId === undefined ? undefined : byCall.get(toolCallId);
      const path = toolCallId === undefined && toolName === 'file' ? attached.get(messageId ?? '') : call?.path;
      return { path, tool: toolName ?? call?.tool, input: call?.input };
    },
  };
}

/**
 * The number of leading characters that distinguish system prompts. Prompts of the same agent differ only later: in a date, or in a list of files.
 */
const promptBeginning = 80;

/**
 * System prompts by position. If an agent records its prompt at each turn, only the last record fills the window, and it counts as sent since the
 * first.
 */
function systemPrompts(
  chain: ReadChain,
  id: ContextId,
  rows: readonly OutlineRow[],
): ReadonlyMap<number, { readonly first: number; readonly isLast: boolean }> {
  const prompts = new Map<number, { readonly first: number; readonly isLast: boolean }>();
  const latest = new Map<string, number>();
  for (const [place, { role, kind }] of rows.entries()) {
    if (role !== 'system' || kind !== 'text') continue;
    const [entry] = entries(chain, { id, offset: place, limit: 1 }).entries;
    const { text = '' } = entry ?? {};
    const beginning = text.slice(0, promptBeginning);
    const before = latest.get(beginning);
    const first = (before === undefined ? undefined : prompts.get(before)?.first) ?? place;
    if (before !== undefined) prompts.set(before, { first, isLast: false });
    prompts.set(place, { first, isLast: true });
    latest.set(beginning, place);
  }
  return prompts;
}

/**
 * The file that Claude Code attaches itself, for instance after a compaction. Before the content, it writes the call that would have read the file.
 */
function attachedPath(text: string): string | undefined {
  const given = /Called the Read tool with the following input: (\{.*\})/.exec(text)?.[1];
  return given === undefined ? undefined : pathIn(parseJson(given));
}

/** The text of a person's message, without the tags around it. */
const askedOf = ({ role, kind, text = '' }: ParsedEntry): string | undefined => (role === 'user' && kind === 'text' ? askedLine(text) : undefined);

/** The file that a patch changes, if it changes no other. */
function onlyPatched({ arguments: given }: ParsedEntry): string | undefined {
  const files = patchedFiles(given);
  return files.length === 1 ? files[0] : undefined;
}

/** The group of an entry: an MCP server with its calls and results, or the reminders that the agent added itself. */
function groupOf({ role, kind, marks }: ParsedEntry, tool: string | undefined): string | undefined {
  const server = serverOf(tool);
  if (server !== undefined) return `MCP server ${server}`;
  return kind === 'text' && role !== 'assistant' && marks?.includes('meta') ? 'Reminders of the agent' : undefined;
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
