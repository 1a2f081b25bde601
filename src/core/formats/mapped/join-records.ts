import type { JsonObject } from '../../base/index.js';

/** A record with the entries that a mapping made of it, and the model call that it belongs to. */
export interface MappedRecord {
  readonly id: string;
  readonly entries: readonly JsonObject[];
  readonly call?: string | undefined;
  /** Tokens of the call, where a record of its own counts them. */
  readonly usage?: JsonObject | undefined;
  /** The model of the replies from here on. */
  readonly model?: string | undefined;
}

type Entry = { -readonly [name in keyof JsonObject]: JsonObject[name] };

/**
 * Gives the entries what other records say: the call that they belong to, its tokens, and ids to calls and results without one. A result
 * without an id answers the oldest open call of its tool, or the oldest open call where it names no tool. A record that counts a call also
 * has an entry for it: the reply may have been imported before its record was written.
 */
export function joinRecords(records: readonly MappedRecord[], session: string): readonly (readonly JsonObject[])[] {
  const counts = new Map(records.flatMap(({ call, usage }) => (call !== undefined && usage ? [[call, usage] as const] : [])));
  const open: { readonly id: string; readonly tool: unknown }[] = [];
  let current: string | undefined;
  return records.map(({ id, entries, call, usage, model }) => {
    current = model ?? current;
    const joined = entries.map((entry, number): JsonObject => {
      const made: Entry = { ...entry };
      if (current !== undefined && entry.role === 'assistant' && entry.kind !== 'event') made.author ??= current;
      if (call !== undefined && entry.role === 'assistant') {
        made.messageId = `${session}:${call}`;
        const usage = counts.get(call);
        if (usage && entry.kind !== 'event') {
          made.usage ??= usage;
          counts.delete(call);
        }
      }
      if (entry.toolCallId !== undefined) return made;
      if (entry.kind === 'tool_call') {
        made.toolCallId = `${session}:${id}.${number}`;
        open.push({ id: made.toolCallId, tool: entry.toolName });
      } else if (entry.kind === 'tool_result') {
        const found = open.findIndex(({ tool }) => entry.toolName === undefined || tool === entry.toolName);
        const [answered] = open.splice(found < 0 ? open.length : found, 1);
        if (answered) made.toolCallId = answered.id;
      }
      return made;
    });
    if (call === undefined || !usage || entries.some(({ role, kind }) => role === 'assistant' && kind !== 'event')) return joined;
    const messageId = `${session}:${call}`;
    return [...joined, { role: 'system', kind: 'event', toolName: 'usage', marks: ['hidden', 'counts'], messageId, usage }];
  });
}
