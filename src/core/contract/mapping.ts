import { z } from 'zod';
import { kinds } from './kinds.js';

const maxPathLength = 1_000;
const path = z
  .string()
  .max(maxPathLength)
  .regex(/^\$/, 'a path begins with $')
  .describe('A JSONPath (RFC 9535), such as `$.message.content[*]`. `$` is the value at hand.');
const test = z
  .string()
  .min(1)
  .max(maxPathLength)
  .describe("A filter of JSONPath without its brackets, such as `@.type == 'text'`. `@` is the value at hand.");

/** Where a value comes from. */
const selector = z.union([
  z.string().max(maxPathLength).describe('A path of the value at hand, `^` and a path of the whole record, or any other text as it stands.'),
  z
    .strictObject({
      path: z.string().max(maxPathLength).describe('A path of the value at hand, or `^` and a path of the record.'),
      json: z.boolean().optional().describe('The value is a text that contains JSON.'),
      texts: z.boolean().optional().describe('Takes texts only: the value itself, or the texts in a list.'),
      map: z.record(z.string().max(200), z.string().max(200)).optional().describe('Texts to replace, such as `{"human": "user"}`.'),
      else: z.string().max(200).optional().describe('The value where the path selects nothing, or where `map` does not list it.'),
    })
    .describe('A path, and how its value is changed.'),
]);
export type Selector = z.output<typeof selector>;

/** Counts of one model call. */
const usage = z.strictObject({
  input: selector.optional().describe('Input tokens.'),
  output: selector.optional().describe('Output tokens.'),
  cacheRead: selector.optional().describe('Input tokens that came from a cache.'),
  cacheWrite: selector.optional().describe('Input tokens that were written to a cache.'),
  includesCache: z.boolean().optional().describe('`input` also counts what the cache held.'),
});

/** How one entry is made. */
const rule = z.strictObject({
  when: test.optional(),
  each: path.optional().describe('Makes an entry of each value that the path selects. The other paths begin at that value.'),
  kind: z.enum(kinds).describe('The kind of the entry.'),
  role: selector.optional().describe('Who speaks: system, user, assistant or tool. The default depends on the kind.'),
  text: selector.optional().describe('The text. Several values are joined by line ends; a value that is no text is written as JSON.'),
  toolName: selector.optional().describe('The name of the tool.'),
  toolCallId: selector.optional().describe('The id that joins a call and its result.'),
  arguments: selector.optional().describe('The input of a tool call.'),
  isError: test.optional().describe('When a result is an error.'),
  isAdded: test.optional().describe('When the tool itself added the text: the model was sent it, but it begins no turn.'),
  author: selector.optional().describe('The model or the person.'),
  agent: selector.optional().describe('The agent that wrote it, in a history of several agents: no model.'),
  at: selector.optional().describe('The time of the entry. The default is that of its record.'),
  signature: selector.optional().describe("The provider's signature of a thinking."),
  image: selector.optional().describe('An image: a data URL, or any address.'),
  usage: usage.optional().describe('Tokens of the call that the provider counted. On an event: those of a call beside the conversation.'),
});
export type MappingRule = z.output<typeof rule>;

const group = z
  .strictObject({ when: test.optional(), each: path, of: z.array(rule).min(1).max(50).describe('The rules for each value.') })
  .describe('Rules for the parts of a record, which keep their order.');
export type MappingGroup = z.output<typeof group>;

/** How the histories of a tool are read that Stemma does not know. docs/mappings.md explains it. */
export const mapping = z.strictObject({
  stemmaMapping: z.literal(1).describe('The version of this form.'),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,60}$/, 'a name has lower-case letters, digits and hyphens')
    .describe('A short name of the tool. It is the template of its commits.'),
  testedOn: z.string().max(400).optional().describe('What the mapping was tested on. Without it, the mapping counts as experimental.'),
  experimental: z.boolean().optional().describe('The mapping met no file that the tool itself wrote.'),
  recognize: path.optional().describe('A file belongs to this mapping if the path selects something in it. The lines of JSONL are a list.'),
  sessions: path.optional().describe('The sessions in the file. The default is `$`: the file is one.'),
  records: path.optional().describe('The records of a session in their order. The default is `$[*]`.'),
  session: z
    .strictObject({
      id: selector.optional().describe('The id of the session.'),
      title: selector.optional().describe('Its title.'),
      cwd: selector.optional().describe('The folder in which it worked.'),
      machine: selector.optional().describe('The host on which it worked.'),
    })
    .optional()
    .describe('Facts about a session. Without an id, the name of the file or the number of the session serves.'),
  record: z
    .strictObject({
      id: selector.optional().describe('A unique id, the same in every state of the file. The default is the position.'),
      parent: selector.optional().describe('The id of the record that this one follows. The default is the one before it.'),
      at: selector.optional().describe('The time: ISO 8601, or a number since 1970.'),
      call: selector.optional().describe('The id of the model call that the record belongs to. Records with one id are one reply.'),
      usage: usage.optional().describe('Tokens of that call, where a record of its own counts them.'),
      model: selector.optional().describe('The model of the replies from this record on, where a record of its own names it.'),
    })
    .optional()
    .describe('Facts about a record.'),
  entries: z
    .array(z.union([rule, group]))
    .min(1)
    .max(100)
    .describe('What a record becomes. Every rule that applies makes entries, in this order.'),
});
export type Mapping = z.output<typeof mapping>;
