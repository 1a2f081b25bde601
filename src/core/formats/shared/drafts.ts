import { type ByteRange, type EntryKey, isObject, type Json, type JsonObject, type Timestamp } from '../../base/index.js';
import type { Mutable, ParsedEntry, TokenUsage } from '../format.js';
import { countsIn, type RecordedCounts } from './calls.js';
import { countTokens, imageTokens } from './tokens.js';

/** An entry without its position. The reader of records adds the key, the range and, if the entry names none, the message. */
export type UnplacedEntry = Omit<ParsedEntry, 'key' | 'raw'>;
/** A draft with its number in the record, for its key, which must not depend on the file; or with the whole key that the record contains. */
export type Numbered = readonly [number: number | EntryKey, draft: UnplacedEntry];

type More = Partial<Omit<UnplacedEntry, 'role' | 'kind' | 'tokens'>>;

/** The entry of a draft in a record. The time and the message that the draft itself names take precedence. */
export function placeDraft(
  draft: Omit<UnplacedEntry, 'at'> & { readonly at?: Timestamp | undefined },
  key: string,
  { messageId, raw, at }: { readonly messageId?: string | undefined; readonly raw: ByteRange; readonly at: Timestamp | undefined },
): ParsedEntry {
  const { at: own = at, ...rest } = draft;
  // Assigned only if they are known: every entry of a record comes through here.
  const entry: Mutable<ParsedEntry> = { ...rest, key: key as EntryKey, raw };
  if (messageId !== undefined) entry.messageId ??= messageId;
  if (own !== undefined) entry.at = own;
  return entry;
}

/** A text of a person, the model or the system. */
export const said = (role: UnplacedEntry['role'], text: string, more: More = {}): UnplacedEntry => ({
  role,
  kind: 'text',
  text,
  tokens: countTokens(text),
  ...more,
});

/** A summary in place of the messages before it. */
export const summarized = (text: string, more: More = {}): UnplacedEntry => ({
  role: 'user',
  kind: 'summary',
  text,
  tokens: countTokens(text),
  ...more,
});

/** Thinking of the model: plain, signed, or readable by the provider only. */
export function thought(
  text: string,
  { signature, data, ...more }: More & { signature?: string | undefined; data?: string | undefined } = {},
): UnplacedEntry {
  const marks = more.marks ?? [];
  if (data !== undefined)
    return { role: 'assistant', kind: 'thinking', tokens: countTokens(data), ...more, marks: ['redacted', ...marks], result: { data } };
  const draft: UnplacedEntry = { role: 'assistant', kind: 'thinking', text, tokens: countTokens(text), ...more };
  return signature ? { ...draft, marks: ['signed', ...marks], result: { signature } } : draft;
}

/** A call of a tool. Arguments that are a JSON text are read as JSON. */
export function called(toolName: string, toolCallId: string | undefined, input: Json | undefined, more: More = {}): UnplacedEntry {
  const value = input ?? {};
  return {
    role: 'assistant',
    kind: 'tool_call',
    toolName,
    ...(toolCallId !== undefined && { toolCallId }),
    arguments: value,
    tokens: countTokens(toolName) + countTokens(JSON.stringify(value)),
    ...more,
  };
}

/** The result of a tool. */
export const answered = (toolCallId: string | undefined, text: string, more: More = {}): UnplacedEntry => ({
  role: 'tool',
  kind: 'tool_result',
  ...(toolCallId !== undefined && { toolCallId }),
  text,
  tokens: countTokens(text),
  ...more,
});

/** An image with its bytes, or the value that names it. */
export function pictured(
  role: UnplacedEntry['role'],
  image: { mediaType: string; base64: string } | { link: unknown },
  more: More = {},
): UnplacedEntry {
  const shared = { role, kind: 'image', tokens: imageTokens, ...more } as const;
  if ('link' in image) return { ...shared, result: image.link };
  return { ...shared, media: { mediaType: image.mediaType, bytes: Buffer.from(image.base64, 'base64') } };
}

/** A record only for the agent. The model never saw it. */
export const noted = (type: string, value: unknown, more: More = {}): UnplacedEntry => ({
  role: 'system',
  kind: 'event',
  toolName: type === '' ? 'unknown' : type,
  text: type.replaceAll(/[_.-]/g, ' '),
  result: value,
  tokens: 0,
  ...more,
  marks: ['hidden', type === '' ? 'unknown' : type, ...(more.marks ?? [])],
});

/** A call to the model that failed. Its text was never sent. */
export const failed = (text: string, more: More = {}): UnplacedEntry => ({
  role: 'assistant',
  kind: 'text',
  text,
  tokens: 0,
  isError: true,
  ...more,
  marks: ['hidden', 'api-error', ...(more.marks ?? [])],
});

/** The draft as one that was never sent to the model. */
export const unsent = (draft: UnplacedEntry, why: string): UnplacedEntry => ({ ...draft, tokens: 0, marks: ['hidden', why, ...(draft.marks ?? [])] });

/** A data URL as an image; undefined for another address. */
export function dataUrl(url: string): { mediaType: string; base64: string } | undefined {
  const inline = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(url);
  return inline ? { mediaType: inline[1] as string, base64: inline[2] as string } : undefined;
}

/** A count that a provider reported; null if it is missing or invalid. */
export const countIn = (value: unknown): number | null => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null);

/** The usage of a call of which no count was recorded. */
export const unknownUsage: TokenUsage = { input: null, output: null, cacheRead: null, cacheWrite: null };
/** The usage of entries whose call is counted by another record or is unknown. */
export const noCall: TokenUsage = { ...unknownUsage, isCopy: true };

/** The usage of a call; undefined without counts. `within`: the input includes cached tokens. Impossible counts are dropped and named. */
export function usageIn(recorded: RecordedCounts, cached: 'within' | 'beside'): TokenUsage | undefined {
  const { flaw, input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = countsIn(recorded);
  if (flaw === undefined && [input, output, cacheRead, cacheWrite].every((count) => count === null)) return undefined;
  const held = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const isTooMuch = cached === 'within' && input !== null && held > input;
  const why = flaw ?? (isTooMuch ? `cached tokens (${held}) exceed all input tokens (${input})` : undefined);
  const rest = { output, ...(reasoning !== null && { reasoning }), ...(why !== undefined && { countFlaw: why }) };
  if (isTooMuch) return { input: null, cacheRead: null, cacheWrite: null, ...rest };
  const long = cacheWrite1h !== null && { cacheWrite1h };
  return { input: input === null || cached === 'beside' ? input : input - held, cacheRead, cacheWrite, ...long, ...rest };
}

/** The output of a provider that counts thoughts separately. Invalid values stay unchanged, so that they are refused later. */
export const withThoughts = (output: Json | undefined, thoughts: Json | undefined): Json | undefined =>
  typeof output === 'number' && typeof thoughts === 'number' && thoughts >= 0 && output >= 0 ? output + thoughts : output;

/** Puts a call's usage on the first draft of its answer. An answer without content gets a hidden draft, because the call was counted. */
export function withUsage(drafts: readonly Numbered[], usage: TokenUsage | undefined): readonly Numbered[] {
  const first = drafts.findIndex(([, draft]) => draft.role === 'assistant' && draft.kind !== 'event');
  if (!usage) return drafts;
  if (first < 0) return usage.isCopy ? drafts : [...drafts, [drafts.length, unsent(said('assistant', '', { usage }), 'empty')]];
  return drafts.map(([number, draft], at): Numbered => [number, at === first ? { ...draft, usage } : draft]);
}

/** The objects of a list; empty if the value is not a list. */
export const objectsIn = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The own member of an object. */
export const readMember = (value: unknown, key: string): Json | undefined => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);

/** The names by which subagents find the calls that started them. */
export const startsOf = (record: JsonObject): readonly string[] =>
  Array.isArray(record.started) ? record.started.filter((name) => typeof name === 'string') : [];
