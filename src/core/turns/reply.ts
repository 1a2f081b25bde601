import { canonicalJson, defined, type Json } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Entry, EntryDraft, ReplyPart } from '../contract/index.js';
import type { WritableEntry } from '../formats/index.js';
import { type OwnCall, ownBody, printOf, unknownUsage } from '../requests/index.js';
import { type ModelProvider, type ModelRequest, mergedCost, mergedTokens, type ReplyPiece, recordedPieces } from './providers.js';
import type { Questions } from './questions.js';
import { type ModelQuestion, questionOf, questionTo } from './request.js';

/** A piece of a reply for display, without its sample number. */
export type Said = Omit<ReplyPart, 'sample'>;

/** A reply, complete or stopped: its entries and the model calls that produced it. */
export interface TurnReply {
  readonly entries: readonly EntryDraft[];
  readonly question: ReturnType<typeof questionOf> | undefined;
  readonly calls: readonly OwnCall[];
  /** True if the reply was stopped before it was complete. */
  readonly isStopped: boolean;
}

export interface Asking extends Omit<ModelQuestion, 'wire'> {
  /** Recorded tool results, the only results that calls get without a person. */
  readonly recording: readonly Entry[];
  readonly provider: ModelProvider;
  /** Answers calls that have no recorded result. Without it, the run stops at such a call. */
  readonly person?: Questions | undefined;
  /** True to return after the first model call and leave its tool calls open. */
  readonly once?: boolean | undefined;
  /** Prompt entries to add before the reply, in the same commit. */
  readonly given?: readonly WritableEntry[] | undefined;
}

const maxCalls = 50;

/** Replays a recorded reply piece by piece. It also returns the request that would have been sent. */
export function* recordedReplies<Part>(
  chain: ReadChain,
  question: Omit<ModelQuestion, 'wire'>,
  recording: readonly Entry[],
  said: (part: Said) => Part,
  signal: AbortSignal | undefined,
  given: readonly WritableEntry[] = [],
): Generator<Part, TurnReply> {
  const entries: EntryDraft[] = [...given];
  const asked = questionOf(chain, question);
  const at = chain.clock();
  for (const entry of recording) {
    if (signal?.aborted) return { entries, question: asked, calls: [], isStopped: true };
    yield* shownEntry(entry, said);
    entries.push(draftOf(entry));
  }
  const print = printOf(asked.wire, ownBody(chain, asked, given));
  const call = { ...print, replies: given.length, at, ms: 0, tokens: unknownUsage, cost: null, stop: null };
  return { entries, question: asked, calls: entries.length > given.length ? [call] : [], isStopped: false };
}

/** An entry of a recording as parts of a reply. */
export function* shownEntry<Part>(entry: Entry, said: (part: Said) => Part): Generator<Part> {
  if (entry.kind === 'tool_result') yield said({ kind: 'tool_result', delta: entry.text ?? '', ...defined({ toolName: entry.toolName }) });
  for (const piece of recordedPieces(entry)) yield* shown(piece, said);
}

/** Calls a provider until its reply is complete. Tool calls get recorded results, else those of a person; without either, the run stops there. */
export async function* asked<Part>(
  chain: ReadChain,
  asking: Asking,
  said: (part: Said) => Part,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part, TurnReply> {
  const { provider } = asking;
  const question = await questionTo(chain, provider, asking);
  const answers = answersIn(asking.recording);
  const entries: EntryDraft[] = [...(asking.given ?? [])];
  const calls: OwnCall[] = [];
  const ended = (isStopped: boolean): TurnReply => ({ entries, question, calls, isStopped });
  for (let number = 0; number < maxCalls; number++) {
    const { call, toolCalls } = yield* callModel(chain, provider, question, entries, said, signal);
    if (signal?.aborted) return ended(true);
    calls.push(call);
    yield said({ kind: 'usage', delta: '', tokens: call.tokens, ...(call.cost !== null && { cost: call.cost }) });
    if (!toolCalls.length || asking.once) return ended(false);
    for (const toolCall of toolCalls) {
      const recorded = answers.get(callName(toolCall));
      const answer = recorded
        ? { text: recorded.text ?? '', isError: recorded.isError ?? false }
        : yield* askedOfPerson(toolCall, asking.person, said, signal);
      if (signal?.aborted) return ended(true);
      const named = toolCall.toolName !== undefined && { toolName: toolCall.toolName };
      if (!answer) {
        const reason = asking.person ? 'The run stopped at this call.' : 'The recording has no result for this call. The run stopped.';
        yield said({ kind: 'notice', delta: `${reason} The call stays open.`, ...named });
        return ended(false);
      }
      entries.push(resultOf(toolCall, answer));
      yield said({ kind: 'tool_result', delta: answer.text, from: recorded ? 'recording' : 'person', ...named });
    }
  }
  yield said({ kind: 'notice', delta: `The run stopped after ${maxCalls} model calls in a row.` });
  return ended(false);
}

/** Calls the model once, and adds its reply to the entries. Returns the call and the tool calls of the reply. */
async function* callModel<Part>(
  chain: ReadChain,
  provider: ModelProvider,
  question: ReturnType<typeof questionOf>,
  entries: EntryDraft[],
  said: (part: Said) => Part,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part, { readonly call: OwnCall; readonly toolCalls: readonly EntryDraft[] }> {
  const body = ownBody(chain, question, entries);
  const replies = entries.length;
  const counted = yield* heard(chain, provider, { model: question.model, body, headers: question.headers }, entries, said, signal);
  const toolCalls = entries.slice(replies).filter(({ kind }) => kind === 'tool_call');
  return { call: { ...printOf(question.wire, body), replies, ...counted }, toolCalls };
}

/** Streams a model's reply and adds it to the entries. Returns its time and what the provider said about it. */
export async function* heard<Part>(
  chain: ReadChain,
  provider: ModelProvider,
  request: ModelRequest,
  entries: EntryDraft[],
  said: (part: Said) => Part,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part, Pick<OwnCall, 'at' | 'ms' | 'tokens' | 'cost' | 'stop'>> {
  const at = chain.clock();
  let tokens = unknownUsage;
  let cost: number | null = null;
  let stop: string | null = null;
  for await (const piece of provider.stream(request, signal)) {
    take(entries, piece);
    if (piece.kind === 'usage') {
      tokens = mergedTokens(tokens, piece.tokens);
      cost = mergedCost(cost, piece.cost);
    }
    if (piece.kind === 'end') stop = piece.reason;
    yield* shown(piece, said);
  }
  return { at, ms: Math.max(0, chain.clock() - at), tokens, cost, stop };
}

const resultOf = ({ toolCallId }: EntryDraft, { text, isError }: { readonly text: string; readonly isError: boolean }): EntryDraft => ({
  role: 'tool',
  kind: 'tool_result',
  text,
  toolCallId,
  ...(isError && { isError: true }),
});

async function* askedOfPerson<Part>(
  call: EntryDraft,
  person: Questions | undefined,
  said: (part: Said) => Part,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part, Awaited<ReturnType<Questions['ask']>['answer']>> {
  if (!person) return undefined;
  const { questionId, answer } = person.ask(signal);
  yield said({ kind: 'question', delta: JSON.stringify(call.arguments ?? {}), questionId, ...defined({ toolName: call.toolName }) });
  return await answer;
}

/** Adds a piece to the entries. Text is appended to the last entry of its kind. */
function take(entries: EntryDraft[], piece: ReplyPiece): void {
  const last = entries.at(-1);
  const { kind } = piece;
  if (kind === 'signature') seal(entries, piece);
  if (kind === 'tool_call') {
    const { toolName, toolCallId, arguments: given } = piece;
    entries.push({ role: 'assistant', kind, toolName, toolCallId, arguments: given });
  }
  if (kind !== 'text' && kind !== 'thinking') return;
  if (last?.role === 'assistant' && last.kind === kind && last.result === undefined)
    entries[entries.length - 1] = { ...last, text: (last.text ?? '') + piece.delta };
  else entries.push({ role: 'assistant', kind, text: piece.delta });
}

/** Adds a signature to the last entry. Thinking that a provider does not show has no text, only its signature. */
function seal(entries: EntryDraft[], { name = 'signature', signature }: Extract<ReplyPiece, { kind: 'signature' }>): void {
  if (signature === '') return;
  const last = entries.at(-1);
  const result = { [name]: signature };
  const isOfLast = last?.role === 'assistant' && last.result === undefined && (last.kind === 'thinking' || name === 'thoughtSignature');
  if (isOfLast && name !== 'data') entries[entries.length - 1] = { ...last, result };
  else if (name !== 'thoughtSignature') entries.push({ role: 'assistant', kind: 'thinking', result });
}

/** Converts a piece for display. Signatures are not shown, and counts are shown at the end. */
function* shown<Part>(piece: ReplyPiece, said: (part: Said) => Part): Generator<Part> {
  const { kind } = piece;
  if (kind === 'text' || kind === 'thinking') yield said({ kind, delta: piece.delta });
  if (kind === 'tool_call') yield said({ kind, delta: JSON.stringify(piece.arguments ?? {}), toolName: piece.toolName });
  if (kind === 'waiting') yield said({ kind, delta: piece.reason, ms: piece.ms });
}

/** A key that is equal for calls of the same tool with the same arguments. */
export const callName = (call: Pick<EntryDraft, 'toolName' | 'arguments'>): string =>
  `${call.toolName ?? ''} ${canonicalJson((call.arguments ?? {}) as Json)}`;

/** The tool results among entries, by the ids of their calls. */
export const resultsIn = (entries: readonly Entry[]): ReadonlyMap<string, Entry> =>
  new Map(entries.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId !== undefined ? [[entry.toolCallId, entry] as const] : [])));

function answersIn(recording: readonly Entry[]): ReadonlyMap<string, Entry> {
  const results = resultsIn(recording);
  return new Map(
    recording.flatMap((entry) => {
      const result = entry.kind === 'tool_call' ? results.get(entry.toolCallId ?? '') : undefined;
      return result ? [[callName(entry), result] as const] : [];
    }),
  );
}

const draftOf = ({ role, kind, text, toolName, toolCallId, arguments: given, result, isError }: Entry): EntryDraft => ({
  role,
  kind,
  ...defined({ text, toolName, toolCallId, arguments: given, result, isError }),
});
