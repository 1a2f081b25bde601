// Providers' token counts as agents record them: one count per model call, joined from the records of its reply.
import { type EntryKey, isObject, type Json, type JsonObject, parseJson, stringAt, type Timestamp } from '../../base/index.js';
import { isHidden, type Mutable, type ParsedEntry } from '../parsed.js';
import { clip, promptLine } from './headline.js';
import { commandIn } from './prompt.js';

/** The provider's token counts of one call; null if the agent did not record a count. */
export interface CallTokens {
  /** Input that was neither read from the cache nor written to it. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  /** All cache writes, one-hour writes included. */
  readonly cacheWrite: number | null;
  readonly cacheWrite1h: number | null;
  /** The whole reply, thinking included. */
  readonly output: number | null;
  /** The part of `output` that is thinking. */
  readonly reasoning: number | null;
}

/** The counts of a call as a record gives them. */
export type RecordedCounts = Partial<Readonly<Record<keyof CallTokens, Json | undefined>>>;

export const noCounts: CallTokens = { input: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null, output: null, reasoning: null };

/** The prefix of ids of calls that an agent made outside of its conversation, such as for a compaction. Their replies are not in it. */
export const besidePrefix = 'beside:';

export interface CallCount extends CallTokens {
  /** The agent's or provider's id of the reply. Copies of a reply in other files and branches have the same id. */
  readonly id: string;
  readonly key: EntryKey;
  readonly model: string | null;
  /** When the reply began and ended, and when the last entry before it was written. */
  readonly at?: Timestamp | undefined;
  readonly endedAt?: Timestamp | undefined;
  readonly askedAt?: Timestamp | undefined;
  /** The prompt since the previous reply, on one line. */
  readonly prompt?: string | undefined;
  /** The first tool that the reply calls, with its main argument. */
  readonly does?: string | undefined;
  /** Why a recorded count is ignored. */
  readonly flaw?: string | undefined;
  /** The session repeats the call of another session, which made it. */
  readonly replayed?: true | undefined;
  readonly limit?: number | undefined;
  /** The input of the last step, if the provider made the reply in several steps and counted them together. */
  readonly window?: number | undefined;
  readonly terms?: CallTerms | undefined;
  /** Not a call, but the agent's own sum of the session's calls of the model so far, with its cost. An empty model stands for all models. */
  readonly total?: AgentTotal | undefined;
}

export interface AgentTotal {
  readonly cost: number | null;
  /** The searches that the provider made; null where the agent did not write them. */
  readonly webSearch: number | null;
}

/** What a price depends on beside the model and the tokens, where it was recorded. */
export interface CallTerms {
  /** How fast the provider answered, where that has a price of its own, such as `fast`. */
  readonly speed?: string;
  readonly tier?: string;
  readonly geo?: string;
  /** The uses of tools that the provider ran, by tool. */
  readonly serverTools?: Readonly<Record<string, number>>;
  /** The call was made by an advisor that another reply asked. */
  readonly advisor?: true;
}

/** The facts of one record about a call. */
type CallRecord = Omit<CallCount, 'at' | 'endedAt' | 'askedAt' | 'prompt'>;

/** One record of a delta: part of a reply, or something before or between replies. */
export interface CallPart {
  readonly at?: Timestamp | undefined;
  readonly reply?: CallRecord | undefined;
  /** Set if the record was written after the reply had ended. */
  readonly isFinal?: boolean | undefined;
  /** With a reply, what the call was for; otherwise the prompt of the next call. */
  readonly prompt?: string | undefined;
  /** Further calls of which the same record tells. */
  readonly others?: readonly CallPart[] | undefined;
}

/**
 * Joins the records of a delta to calls. A reply can have several records. The last final one has the right output count. Without one, the count is
 * only the beginning of a stream, unless it rose from one record to the next. Records without information are skipped.
 */
export function joinCalls(parts: Iterable<CallPart | undefined>): CallCount[] {
  const calls = new Map<string, Joining>();
  let askedAt: Timestamp | undefined;
  let prompt: string | undefined;
  for (const part of parts) {
    if (!part) continue;
    if (part.others) for (const call of joinCalls(part.others)) calls.set(call.id, { call, first: call.output, isFinal: true });
    const { at, reply, prompt: text, isFinal = false } = part;
    if (!reply) {
      askedAt = at ?? askedAt;
      prompt = text ?? prompt;
      continue;
    }
    const known = calls.get(reply.id);
    if (known) {
      addPart(known, reply, at, isFinal);
      continue;
    }
    calls.set(reply.id, { call: { ...reply, at, endedAt: at, askedAt, prompt: text ?? prompt }, first: reply.output, isFinal });
    if (text === undefined) prompt = undefined;
  }
  return Array.from(calls.values(), ({ call, isFinal }) => {
    if (!isFinal) call.output = call.reasoning = null;
    return isEmpty(call) && call.total === undefined
      ? { ...call, ...noCounts, output: call.output || null, flaw: call.flaw ?? 'the record counts no input' }
      : call;
  });
}

/** Whether the counts say that the model read nothing. No call does that: the agent wrote zeros because it had no counts. */
const isEmpty = ({ input, cacheRead, cacheWrite }: CallTokens): boolean =>
  (input !== null || cacheRead !== null || cacheWrite !== null) && (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) === 0;

interface Joining {
  readonly call: Mutable<CallCount>;
  /** The output count of the first record. */
  readonly first: number | null;
  isFinal: boolean;
}

/** Adds a further record of a reply. The fields are assigned: every line of a transcript comes through here. */
function addPart(known: Joining, reply: CallRecord, at: Timestamp | undefined, isFinal: boolean): void {
  const { call } = known;
  if (isFinal || !known.isFinal) {
    call.input = reply.input;
    call.cacheRead = reply.cacheRead;
    call.cacheWrite = reply.cacheWrite;
    call.cacheWrite1h = reply.cacheWrite1h;
    call.output = reply.output;
    call.reasoning = reply.reasoning;
    call.window = reply.window;
    call.terms = reply.terms ?? call.terms;
    call.total = reply.total ?? call.total;
  }
  known.isFinal ||= isFinal || (reply.output ?? 0) > (known.first ?? 0);
  call.model ??= reply.model;
  call.endedAt = at ?? call.endedAt;
  call.does ??= reply.does;
  call.flaw ??= reply.flaw;
}

/** More tokens than any model accepts or writes. A larger count is an error of the record. */
export const maxCount = 20_000_000;

/** Whether a recorded count is possible: neither negative, fractional nor too large. */
export const isCount = (value: Json | undefined): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxCount;
const isImpossible = (value: Json | undefined): boolean => value !== undefined && value !== null && !isCount(value);

/**
 * Reads counts by name. Impossible counts become null, and `flaw` names them. If one part of an input is wrong, the other parts become null too,
 * because they would look like the whole input. Every reply comes through here, so nothing loops.
 */
export function countsIn(values: RecordedCounts): CallTokens & { readonly flaw?: string } {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = values;
  const hasInput = !(isImpossible(input) || isImpossible(cacheRead) || isImpossible(cacheWrite) || isImpossible(cacheWrite1h));
  const counts = {
    input: hasInput && isCount(input) ? input : null,
    cacheRead: hasInput && isCount(cacheRead) ? cacheRead : null,
    cacheWrite: hasInput && isCount(cacheWrite) ? cacheWrite : null,
    cacheWrite1h: hasInput && isCount(cacheWrite1h) ? cacheWrite1h : null,
    output: isCount(output) ? output : null,
    reasoning: isCount(reasoning) ? reasoning : null,
  };
  if (hasInput && !isImpossible(output) && !isImpossible(reasoning)) return counts;
  const refused = Object.entries(values).filter(([, value]) => isImpossible(value));
  return {
    ...counts,
    flaw: `the record has an impossible count: ${refused.map(([name, value]) => `${describeCount(name)} ${JSON.stringify(value)?.slice(0, 40)}`).join(', ')}`,
  };
}

const describeCount = (name: string): string => name.replace('1h', ' for an hour').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The arguments that describe a tool call best, in order of preference. */
const mainArguments = ['command', 'file_path', 'path', 'notebook_path', 'pattern', 'query', 'url', 'description', 'prompt', 'skill', 'cmd', 'input'];

/** A tool call on one line: the tool and its main argument. */
export function toolLine(name: string, given: unknown): string {
  const values = isObject(given) ? given : typeof given === 'string' ? (asObject(parseJson(given.slice(0, longest * 40))) ?? { input: given }) : {};
  const [file, ...others] = patchedFiles(given);
  if (file !== undefined) return `${name} ${file}${others.length > 0 ? ` and ${others.length} more` : ''}`.slice(0, longest).toWellFormed();
  for (const argument of mainArguments) {
    const value = values[argument];
    const text = typeof value === 'string' ? value : Array.isArray(value) && value.every((part) => typeof part === 'string') ? value.join(' ') : '';
    if (text !== '') return `${name} ${clip(text.slice(0, longest)) ?? ''}`.slice(0, longest).trim().toWellFormed();
  }
  return name.slice(0, longest).toWellFormed();
}
const longest = 120;
const asObject = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The facts in the visible entries of one record, without the counts. */
export function partOfEntries(entries: readonly ParsedEntry[]): CallPart | undefined {
  const first = entries.find((entry) => !isHidden(entry));
  if (!first || first.role === 'assistant') return undefined;
  const text = entries.find(({ role, kind, marks }) => role === 'user' && (kind === 'text' || kind === 'summary') && !marks?.includes('meta'))?.text;
  return { at: first.at, prompt: text === undefined ? undefined : askedLine(text)?.slice(0, longest).toWellFormed() };
}

/** The content of a user text on one line, without the tags that agents put around it. */
export function askedLine(text: string): string | undefined {
  if (!/^\s*</.test(text)) return clip(text.slice(0, longest * 4));
  const beginning = text.slice(0, maxFramedLength);
  return clip(commandIn(beginning) ?? '') ?? promptLine(beginning);
}
const maxFramedLength = 16_384;

/** The first tool call among entries of a reply, on one line. */
export function doesOf(entries: readonly ParsedEntry[]): string | undefined {
  const call = entries.find(({ kind }) => kind === 'tool_call');
  return call && toolLine(call.toolName ?? 'tool', call.arguments);
}

/** The files that a patch in the form of Codex names. `given` is the input of a tool. */
export function patchedFiles(given: unknown): string[] {
  const text = typeof given === 'string' ? given : isObject(given) ? (stringAt(given, 'input') ?? stringAt(given, 'patch') ?? '') : '';
  if (!text.startsWith('*** Begin Patch')) return [];
  return [...new Set(Array.from(text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm), ([, path = '']) => path.trim()))];
}
