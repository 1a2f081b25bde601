import { type AnySchema, oc, type Route } from '@orpc/contract';
import {
  type ArtifactRef,
  artifactRefPattern,
  type ContextId,
  contextIdPattern,
  type EntryKey,
  isTimestamp,
  parseInstant,
  type Timestamp,
  toTimestamp,
} from '../base/index.js';
import { runtimes, tiers } from './kinds.js';
import * as z from './z.js';

/**
 * The most characters of a text and the most items of a list in an input; a field that is meant to be smaller names its own limit. A line is a name, an
 * id, a path or a filter; a text is what people and models write, up to what one message of a carrier holds; a content may be any file that fits into
 * one value of JavaScript. Outputs repeat what is stored and have no limits of their own.
 */
export const most = { line: 4_096, text: 64 * 1024 * 1024, content: 512 * 1024 * 1024 - 24, list: 100_000 } as const;

/**
 * Declares a procedure: its description, which the OpenAPI document and `stemma call PROCEDURE --help` show, or its whole route, then its input, and with
 * `returns` its output. Fields alone stand for an object; an input object refuses all other fields. A field gets its description by `describe`.
 */
export const procedure = <Input extends z.ZodType | z.ZodRawShape = Record<never, never>>(route: string | Route, input?: Input) => {
  const begun = oc
    .route(typeof route === 'string' ? { description: route } : route)
    .input((isSchema(input) ? input : z.strictObject(input ?? {})) as SchemaOf<Input, z.core.$strict>);
  return {
    returns: <Output extends AnySchema | z.ZodRawShape>(output: Output) =>
      begun.output((isSchema(output) ? output : z.object(output)) as SchemaOf<Output, z.core.$strip>),
  };
};

type SchemaOf<Given, Rest extends z.core.$ZodObjectConfig> = Given extends AnySchema
  ? Given
  : Given extends z.ZodRawShape
    ? z.ZodObject<Given, Rest>
    : never;
const isSchema = (given: AnySchema | z.ZodRawShape | undefined): given is AnySchema => given !== undefined && '~standard' in given;

/** A text of at most so many characters that matches a pattern. `rule` says what would be right. */
export const matching = (pattern: RegExp, rule: Parameters<z.ZodString['regex']>[1], longest: number = most.line) =>
  z.string().max(longest).regex(pattern, rule);
/** A list of at most so many items. */
export const list = <Item extends z.ZodType>(item: Item, longest: number = most.list) => z.array(item).max(longest);
/** A switch that an input may leave out. */
export const flag = (description: string) => z.boolean().optional().describe(description);
/** A whole number from 1. */
export const upTo = (largest: number) => z.number().int().min(1).max(largest);

/** A text that breaks a rule fits no part of a union either, whose own message then says what does. */
const abort = true;

/**
 * Scalars. An input accepts every valid form of a value; an output always has the same form. Their types are named without `transform`, with which a
 * list of 20,000 ids takes four times as long.
 */
export const contextId = z
  .string()
  .max(68)
  .regex(contextIdPattern, { message: 'a context id is ctx- and 8 or more hex digits', abort })
  .describe('The id of a commit: `ctx-` and hex digits.') as unknown as z.ZodType<ContextId, string>;
/** A commit id or the beginning of a commit id, so that a person or script can name a commit briefly. */
export const contextPrefix = z
  .string()
  .max(68)
  .regex(/^ctx-[0-9a-f]{0,64}$/, { message: 'a context id is ctx- and hex digits', abort })
  .describe('A commit, by its id or the beginning of its id.') as unknown as z.ZodType<ContextId, string>;
/** A ref in full or in its short form. */
export const artifactName = z
  .string()
  .max(71)
  .regex(/^(blake3:[0-9a-f]{64}|art-[0-9a-f]{12,64})$/, 'a ref is blake3: and 64 hex digits, or art- and the first 12')
  .describe('The ref of an artifact, in full (`blake3:…`) or in its short form (`art-…`).');
export const artifactRef = z
  .string()
  .regex(artifactRefPattern, { abort })
  .describe('The ref of an artifact: `blake3:` and 64 hex digits.') as unknown as z.ZodType<ArtifactRef, string>;
export const entryKey = z.string().min(1, { abort }).max(400, { abort }).describe('The key of an entry.') as unknown as z.ZodType<EntryKey, string>;

export const timestamp = z
  .string()
  .max(64)
  .transform((text, context) => {
    if (isTimestamp(text)) return text;
    const ms = parseInstant(text);
    if (ms !== undefined) return toTimestamp(ms);
    context.addIssue({ code: 'custom', message: 'an instant is ISO 8601, such as 2026-01-31T12:00:00.000Z' });
    return z.NEVER;
  })
  .describe('A time in ISO 8601, such as 2026-01-31T12:00:00.000Z.') as z.ZodType<Timestamp, string>;

/** Refuses a range of times that ends before it begins. A range without a length is empty. */
export const inOrder = <Range extends z.ZodType<{ from?: Timestamp | undefined; to?: Timestamp | undefined }>>(range: Range): Range =>
  range.superRefine((given, context) => {
    const { from, to } = given as { readonly from?: Timestamp; readonly to?: Timestamp };
    if (from !== undefined && to !== undefined && to < from)
      context.addIssue({ code: 'custom', path: ['to'], message: `to is ${to}, which is before from, ${from}: give a later time` });
  });

export const line = z.string().max(most.line);
export const name = z.string().min(1).max(400);
/** A text that shows something, of at most so many characters. No pattern: not every reader of a schema knows these classes. */
export const text = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((given) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(given), 'it needs a visible character');
export const base64 = z
  .string()
  .max(most.content)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64 text')
  .describe('Bytes as base64.');
export const count = z.number().int().min(0);
/** The longest time that an input can ask for: a hundred years. What begins now then ends in a year of four digits. */
export const longestSeconds = 3_155_760_000;

/** Who sent a thing through the hub of a team, where another machine recorded it. It starts nothing here until a person allows it. */
export const received = z.object({
  /** The sender, as the hub names them. Null if the hub did not say. */
  name: z.string().nullable(),
  /** True if it came through a share link. */
  isLink: z.boolean(),
  /** The project on the hub. */
  hub: z.string(),
  at: timestamp,
  /** When a person of this machine allowed it; null while it waits. */
  allowedAt: timestamp.nullable(),
});
export type Received = z.output<typeof received>;

export const formatName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'a format is a lower-case name such as claude-code-v1')
  .describe('The name of a format, such as `claude-code-v1`.');

/** The agents whose histories Stemma looks for on this machine: `runtimes`, and agents that it cannot resume. */
export const sourceAgents = [
  ...runtimes,
  'cline',
  'roo',
  'kilo',
  'openclaw',
  'cursor',
  'vscode',
  'droid',
  'goose',
  'openhands',
  'kimi',
  'antigravity',
  'amp',
  'continue',
  'kiro',
  'zed',
  'crush',
  'aider',
] as const;
export type SourceAgent = (typeof sourceAgents)[number];

export const webAddress = z
  .url({ protocol: /^https?$/, error: 'an address begins with http:// or https://, such as http://127.0.0.1:1234/v1' })
  .max(most.line)
  .describe('An http or https address.');

/** Set if a stored row that a value shows does not match its checksum. `project.check` reports the row. */
export const damaged = z.literal(true).optional();

/** An assembled context: where its content is stored, and what it has. */
export const assembled = {
  artifactRef,
  format: formatName,
  contentType: z.string(),
  tier: z.enum(tiers),
  messageCount: count,
  tokenCount: count,
  cached: z.boolean(),
  commits: z.array(contextId),
};
