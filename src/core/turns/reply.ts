import { canonicalJson, type Json } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Entry, EntryDraft, ReplyPart } from '../contract/index.js';
import { type ModelProvider, type ReplyPiece, recordedPieces } from './providers.js';
import { type Question, requestOf } from './request.js';

/** A piece of a reply as a person sees it arrive, before it is known which sample it is of. */
export type Said = Omit<ReplyPart, 'sample'>;

export interface Asking extends Omit<Question, 'wire'> {
  /** What tools answered before: the only answers that calls get here. */
  readonly recording: readonly Entry[];
  readonly provider: ModelProvider;
}

/** A model that calls tools without end is stopped. */
const mostCalls = 50;

/** Says again what was recorded, piece by piece. */
export function* recordedReplies(
  recording: readonly Entry[],
  replies: EntryDraft[],
  said: (part: Said) => ReplyPart,
  signal: AbortSignal | undefined,
): Generator<ReplyPart> {
  for (const entry of recording) {
    if (signal?.aborted) return;
    if (entry.kind === 'tool_result')
      yield said({ kind: 'tool_result', delta: entry.text ?? '', ...(entry.toolName !== undefined && { toolName: entry.toolName }) });
    for (const piece of recordedPieces(entry)) yield said(shown(piece));
    replies.push(draftOf(entry));
  }
}

/**
 * Asks a provider until it has answered: tool calls are answered from the recording, at any other the run stops with
 * the call open. What it said is in `replies`, also when it breaks off.
 */
export async function* asked(
  chain: Chain,
  question: Asking,
  replies: EntryDraft[],
  said: (part: Said) => ReplyPart,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReplyPart> {
  const answers = answersIn(question.recording);
  for (let call = 0; call < mostCalls; call++) {
    const calls: EntryDraft[] = [];
    for await (const piece of question.provider.stream(requestOf(chain, { ...question, wire: question.provider.wire }, replies), signal)) {
      take(replies, piece);
      if (piece.kind === 'tool_call') calls.push(replies.at(-1) as EntryDraft);
      if (piece.kind !== 'signature') yield said(shown(piece));
    }
    if (!calls.length || signal?.aborted) return;
    for (const each of calls) {
      const answer = answers.get(callName(each));
      if (!answer) {
        yield said({
          kind: 'notice',
          delta: 'The recording has no answer to this call: the run stops here, with the call open.',
          ...(each.toolName !== undefined && { toolName: each.toolName }),
        });
        return;
      }
      replies.push({
        role: 'tool',
        kind: 'tool_result',
        text: answer.text ?? '',
        toolCallId: each.toolCallId,
        ...(answer.isError && { isError: true }),
      });
      yield said({ kind: 'tool_result', delta: answer.text ?? '', ...(each.toolName !== undefined && { toolName: each.toolName }) });
    }
  }
  yield said({ kind: 'notice', delta: `The model called tools ${mostCalls} times in a row and was stopped.` });
}

/** Adds a piece of a reply to the entries so far: text goes on in the entry that it began. */
function take(replies: EntryDraft[], piece: ReplyPiece): void {
  const last = replies.at(-1);
  switch (piece.kind) {
    case 'text':
    case 'thinking':
      if (last?.role === 'assistant' && last.kind === piece.kind) replies[replies.length - 1] = { ...last, text: (last.text ?? '') + piece.delta };
      else replies.push({ role: 'assistant', kind: piece.kind, text: piece.delta });
      return;
    case 'signature':
      if (last?.kind === 'thinking') replies[replies.length - 1] = { ...last, result: { signature: piece.signature } };
      return;
    case 'tool_call':
      replies.push({ role: 'assistant', kind: 'tool_call', toolName: piece.toolName, toolCallId: piece.toolCallId, arguments: piece.arguments });
  }
}

/** What a person sees of a piece; a signature is for the provider alone. */
function shown(piece: Exclude<ReplyPiece, { kind: 'signature' }>): Said {
  if (piece.kind === 'tool_call') return { kind: 'tool_call', delta: JSON.stringify(piece.arguments ?? {}), toolName: piece.toolName };
  return { kind: piece.kind, delta: piece.delta };
}

/** The same tool with the same arguments is the same question. */
const callName = (call: Pick<EntryDraft, 'toolName' | 'arguments'>): string =>
  `${call.toolName ?? ''} ${canonicalJson((call.arguments ?? {}) as Json)}`;

/** What the turn's tools answered, by what they were asked. */
function answersIn(recording: readonly Entry[]): ReadonlyMap<string, Entry> {
  const results = new Map(
    recording.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId !== undefined ? [[entry.toolCallId, entry] as const] : [])),
  );
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
  ...(text !== undefined && { text }),
  ...(toolName !== undefined && { toolName }),
  ...(toolCallId !== undefined && { toolCallId }),
  ...(given !== undefined && { arguments: given }),
  ...(result !== undefined && { result }),
  ...(isError !== undefined && { isError }),
});
