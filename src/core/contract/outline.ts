import type { ContextId, EntryKey } from '../base/index.js';
import { kinds, roles } from './kinds.js';
import { contextId, count, entryKey } from './scalars.js';
import * as z from './z.js';

/** An entry without its content, for the token bar and the list. */
export const outlineRow = z.object({
  key: entryKey,
  role: z.enum(roles),
  kind: z.enum(kinds),
  tokens: count,
  commit: contextId,
  /** The beginning of the text: prompts for the outline, tool names for calls. */
  head: z.string().optional(),
  /** Present on calls and results, so that the list can show both as one block before it reads their content. */
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  /** Recorded by the agent but never sent to the model. Only present if requested. */
  hidden: z.boolean().optional(),
  /** True for the prompt of a commit: the first user text that the agent did not add itself. */
  prompt: z.literal(true).optional(),
});
export type OutlineRow = z.output<typeof outlineRow>;

/**
 * The rows of a packed outline, as JSON. Consecutive entries of one commit share its id; `role` and `kind` are positions in `roles` and `kinds`. Rows
 * are arrays because rows as objects take most of the time that the outline of 250,000 entries needs.
 */
type PackedOutline = [commit: ContextId, entries: PackedRow[]][];
type PackedRow = [key: EntryKey, role: number, kind: number, tokens: number, flags: number, head?: string | null, toolCallId?: string];

const flagNames = ['isError', 'hidden', 'prompt'] as const;

/** Packs the rows of an outline into one text. */
export function packOutline(rows: readonly OutlineRow[]): string {
  const packed: PackedOutline = [];
  for (const { commit, key, role, kind, tokens, head, toolCallId, ...flags } of rows) {
    const bits = flagNames.reduce((sum, name, place) => (flags[name] ? sum + (1 << place) : sum), 0);
    const row: PackedRow = [key, roles.indexOf(role), kinds.indexOf(kind), tokens, bits];
    if (head !== undefined || toolCallId !== undefined) row.push(head ?? null);
    if (toolCallId !== undefined) row.push(toolCallId);
    const last = packed.at(-1);
    if (last?.[0] === commit) last[1].push(row);
    else packed.push([commit, [row]]);
  }
  return JSON.stringify(packed);
}

/** The rows of a packed outline. */
export const unpackOutline = (packed: string): OutlineRow[] =>
  (JSON.parse(packed) as PackedOutline).flatMap(([commit, entries]) =>
    entries.map(([key, role, kind, tokens, flags, head, toolCallId]): OutlineRow => {
      const row: OutlineRow = { key, role: roles[role] ?? 'system', kind: kinds[kind] ?? 'event', tokens, commit };
      if (head != null) row.head = head;
      if (toolCallId !== undefined) row.toolCallId = toolCallId;
      if (flags & 1) row.isError = true;
      if (flags & 2) row.hidden = true;
      if (flags & 4) row.prompt = true;
      return row;
    }),
  );
