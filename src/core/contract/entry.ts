import { kinds, roles, toolClasses } from './kinds.js';
import { artifactRef, contextId, count, entryKey, flag, most, timestamp } from './scalars.js';
import * as z from './z.js';

/** An entry that is not part of a chain yet. */
export const entryDraft = z.object({
  role: z.enum(roles).describe('Who speaks.'),
  kind: z.enum(kinds).describe('The kind of entry.'),
  text: z.string().optional().describe('The text of a message, of thinking or of a summary.'),
  toolName: z.string().optional().describe('The name of the tool that is called.'),
  toolCallId: z.string().optional().describe('The id that joins a call and its result.'),
  arguments: z.unknown().optional().describe('The arguments of a tool call, usually a JSON object.'),
  result: z.unknown().optional().describe('The result of a tool call: text or JSON.'),
  isError: flag('True if the tool failed.'),
});
export type EntryDraft = z.output<typeof entryDraft>;

/** The fields that a stored entry has beyond its draft. Stemma determines them itself and ignores them in an input. */
const readFields = ['key', 'toolClass', 'media', 'at', 'author', 'tokens', 'source', 'marks'] as const;

/** One unit of a conversation, independent of the agent that wrote it. */
export const entry = entryDraft.extend({
  key: entryKey,
  toolClass: z.enum(toolClasses).optional().describe('What the called tool does, if the format knows the tool.'),
  media: z.object({ artifactRef, mediaType: z.string() }).optional(),
  at: timestamp.optional(),
  author: z.string().optional(),
  tokens: count,
  source: z.object({
    commit: contextId,
    index: count,
    raw: z.object({ start: count, end: count }).optional(),
  }),
  /** Facts that the agent recorded: added by the agent and not typed, never sent to the model, signed thinking, and others. */
  marks: z.array(z.string()).optional(),
});
export type Entry = z.output<typeof entry>;

/** A text of a draft with a limit. A stored entry has none, because a transcript is shown as it is. */
const limited = (text: z.ZodOptional<z.ZodString>, length: number) =>
  text
    .unwrap()
    .max(length)
    .optional()
    .describe(text.description ?? '');

/** An entry to write. An entry that was read can be written back, and any other unknown field is refused. */
export const entryInput = z
  .strictObject({
    ...entryDraft.shape,
    text: limited(entryDraft.shape.text, most.text),
    toolName: limited(entryDraft.shape.toolName, most.line),
    toolCallId: limited(entryDraft.shape.toolCallId, most.line),
    ...(Object.fromEntries(readFields.map((field) => [field, z.unknown().optional().describe('Ignored: Stemma determines it itself.')])) as Record<
      (typeof readFields)[number],
      z.ZodOptional<z.ZodUnknown>
    >),
  })
  .transform((given) => Object.fromEntries(Object.entries(given).filter(([field]) => field in entryDraft.shape)) as EntryDraft);
