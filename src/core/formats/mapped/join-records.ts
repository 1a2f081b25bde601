import type { JsonObject } from '../../base/index.js';

/** A record with the entries that a mapping made of it, and the model call that it belongs to. */
export interface MappedRecord {
  readonly id: string;
  readonly entries: readonly JsonObject[];
  readonly call?: string | undefined;
  /** The tokens of the call, if a separate record counts them. */
  readonly usage?: JsonObject | undefined;
  /** The model of the following replies. */
  readonly model?: string | undefined;
}

type Entry = { -readonly [name in keyof JsonObject]: JsonObject[name] };

/** Whether a model wrote an entry, or is counted by it. */
const isOfModel = ({ kind, role, usage }: JsonObject): boolean => (kind === 'event' ? usage !== undefined : role === 'assistant');

/**
 * Adds facts from other records to the entries: their model call with its tokens, and ids for calls and results without an id. A result without an id
 * answers the oldest open call of its tool, or the oldest open call if it names no tool. A record that counts a call also gets an entry for it,
 * because the reply may have been imported before this record was written.
 */
export function joinRecords(records: readonly MappedRecord[], session: string): readonly (readonly JsonObject[])[] {
  const counts = new Map(records.flatMap(({ call, usage }) => (call !== undefined && usage ? [[call, usage] as const] : [])));
  const open: { readonly id: string; readonly tool: unknown }[] = [];
  let current: string | undefined;
  return records.map(({ id, entries, call, usage, model }) => {
    current = model ?? current;
    const joined = entries.map((entry, number): JsonObject => {
      const made: Entry = { ...entry };
      if (current !== undefined && isOfModel(entry)) made.author ??= current;
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
