import { kinds } from './kinds.js';
import { flag, list, matching, text } from './scalars.js';
import * as z from './z.js';

const maxPathLength = 1_000;
const path = matching(/^\$/, 'a path begins with $', maxPathLength).describe(
  'A JSONPath (RFC 9535), such as `$.message.content[*]`. `$` is the current value.',
);
const test = text(maxPathLength).describe("A JSONPath filter without its brackets, such as `@.type == 'text'`. `@` is the current value.");

/** How to find a value in a record. */
const selector = z.union([
  z
    .string()
    .max(maxPathLength)
    .describe('A path into the current value, `^` and a path into the whole record, or any other text, which is the value itself.'),
  z
    .strictObject({
      path: z.string().max(maxPathLength).describe('A path into the current value, or `^` and a path into the record.'),
      json: flag('True if the value is text that contains JSON.'),
      texts: flag('Takes texts only: the value itself, or the texts in a list.'),
      map: z.record(z.string().max(200), z.string().max(200)).optional().describe('Texts to replace, such as `{"human": "user"}`.'),
      else: z.string().max(200).optional().describe('The value to use if the path selects nothing, or if `map` does not list the selected value.'),
    })
    .describe('A path, and how to change the selected value.'),
]);
export type Selector = z.output<typeof selector>;

/** The token counts of one model call. */
const usage = z.strictObject({
  input: selector.optional().describe('Input tokens.'),
  output: selector.optional().describe('Output tokens.'),
  cacheRead: selector.optional().describe('Input tokens that were read from the cache.'),
  cacheWrite: selector.optional().describe('Input tokens that were written to the cache.'),
  includesCache: flag('True if `input` includes the tokens of the cache.'),
});

/** A rule that makes entries from a record. */
const rule = z.strictObject({
  when: test.optional(),
  each: path.optional().describe('Makes an entry from each value that the path selects. The other paths start at that value.'),
  kind: z.enum(kinds).describe('The kind of the entry.'),
  role: selector.optional().describe('Who speaks: system, user, assistant or tool. The default depends on the kind.'),
  text: selector.optional().describe('The text. Several values are joined by newlines; a value that is not text is written as JSON.'),
  toolName: selector.optional().describe('The name of the tool.'),
  toolCallId: selector.optional().describe('The id that joins a call and its result.'),
  arguments: selector.optional().describe('The input of a tool call.'),
  isError: test.optional().describe('When a result is an error.'),
  isAdded: test.optional().describe('When the tool added the text itself: the text was sent to the model but does not begin a turn.'),
  author: selector.optional().describe('The model or the person.'),
  agent: selector.optional().describe('The agent that wrote the entry, in a history of several agents. This is not the model.'),
  at: selector.optional().describe('The time of the entry. The default is that of its record.'),
  signature: selector.optional().describe("The provider's signature of a thinking block."),
  image: selector.optional().describe('An image: a data URL, or any address.'),
  usage: usage
    .optional()
    .describe('The tokens of the call, as the provider counted them. On an event: the tokens of a call outside the conversation.'),
});
export type MappingRule = z.output<typeof rule>;

const group = z
  .strictObject({ when: test.optional(), each: path, of: list(rule, 50).min(1).describe('The rules for each value.') })
  .describe('Rules for the parts of a record, which keep their order.');
export type MappingGroup = z.output<typeof group>;

/** A mapping: how to read the histories of a tool that Stemma does not know. See docs/mappings.md. */
export const mapping = z.strictObject({
  stemmaMapping: z.literal(1).describe('The version of the mapping format.'),
  name: matching(/^[a-z0-9][a-z0-9-]{0,60}$/, 'a name has lower-case letters, digits and hyphens').describe(
    'A short name of the tool. The commits get it as their template.',
  ),
  testedOn: z.string().max(400).optional().describe('What the mapping was tested on. Without it, the mapping counts as experimental.'),
  experimental: flag('True if the mapping was never tested on a file that the tool itself wrote.'),
  recognize: path.optional().describe('A file belongs to this mapping if the path selects something in it. The lines of JSONL are a list.'),
  sessions: path.optional().describe('The sessions in the file. The default is `$`: the whole file is one session.'),
  records: path.optional().describe('The records of a session in their order. The default is `$[*]`.'),
  session: z
    .strictObject({
      id: selector.optional().describe('The id of the session.'),
      title: selector.optional().describe('The title of the session.'),
      cwd: selector.optional().describe('The working directory of the session.'),
      machine: selector.optional().describe('The machine on which the session ran.'),
    })
    .optional()
    .describe('Facts about a session. The default id is the name of the file or the number of the session.'),
  record: z
    .strictObject({
      id: selector.optional().describe('A unique id that stays the same when the file grows. The default is the position of the record.'),
      parent: selector.optional().describe('The id of the record that this record follows. The default is the previous record.'),
      at: selector.optional().describe('The time: ISO 8601, or a number since 1970.'),
      call: selector.optional().describe('The id of the model call that the record belongs to. Records with the same id form one reply.'),
      usage: usage.optional().describe('The tokens of that call, if a separate record counts them.'),
      model: selector.optional().describe('The model of the replies from this record on, if a separate record names it.'),
    })
    .optional()
    .describe('Facts about a record.'),
  entries: list(z.union([rule, group]), 100)
    .min(1)
    .describe('What a record becomes. Every rule that applies makes entries, in this order.'),
});
export type Mapping = z.output<typeof mapping>;
