import { badRequest, type ContextId, canonicalJson, inWords, type Json } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, fork } from '../chain/index.js';
import type { Edit, Entry, EntryDraft, ReplyPart } from '../contract/index.js';
import { type ModelProvider, type ReplyPiece, recordedPieces, recordedProvider } from './providers.js';
import { type Question, requestOf } from './request.js';
import { deltaEntries, ownInput } from './turns.js';

export interface Rerun {
  readonly turnId: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly samples?: number | undefined;
}

export interface Reran {
  /** One reply each, as a branch that stands on `base`. */
  readonly commits: ContextId[];
  /** The input of the turn, with the edits: what the replies answer. */
  readonly base: ContextId;
}

/** A model that calls tools without end is stopped. */
const mostCalls = 50;

/**
 * Runs a turn again: its input, edited, is asked of a provider, and each reply becomes a branch. Tool calls that the
 * turn made as well are answered from its recording; at any other the run stops with the call open, for a person to answer.
 * @throws BAD_REQUEST for an unknown provider, or for edits that are asked of the recording.
 */
export async function* rerunTurn(
  chain: Chain,
  input: Rerun,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, Reran> {
  const row = commitOf(chain, input.turnId, 'turnId');
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const provider = providers.find((each) => each.id === input.provider);
  const isRecorded = input.provider === recordedProvider.id;
  if (!provider && !isRecorded)
    throw badRequest(
      'provider',
      `${inWords(input.provider)} is no provider here; there are ${[recordedProvider.id, ...providers.map((each) => each.id)].join(', ')}`,
    );
  if (isRecorded && input.edits?.length)
    throw badRequest('edits', 'the recording answers what was asked, not what was changed: choose a model to ask');
  const base = baseOf(chain, row, given, input.edits ?? []);
  const recording = own.slice(given.length);
  const commits: ContextId[] = [];
  for (let sample = 0; sample < (input.samples ?? 1); sample++) {
    const said = (part: Omit<ReplyPart, 'sample'>): ReplyPart => ({ sample, ...part });
    const replies: EntryDraft[] = [];
    if (provider)
      yield* asked(
        chain,
        { row, base, recording, provider, wire: provider.wire, model: input.model, isEdited: Boolean(input.edits?.length) },
        replies,
        said,
        signal,
      );
    else
      for (const entry of recording) {
        if (signal?.aborted) break;
        if (entry.kind === 'tool_result')
          yield said({ kind: 'tool_result', delta: entry.text ?? '', ...(entry.toolName !== undefined && { toolName: entry.toolName }) });
        for (const piece of recordedPieces(entry)) yield said(shown(piece));
        replies.push(draftOf(entry));
      }
    if (replies.length) commits.push(answerOn(chain, base, replies, `${input.provider}${input.model ? ` (${input.model})` : ''}`));
  }
  return { commits, base: base.id };
}

/** The input of the turn as a commit: the turn cut before its reply, with the edits; or what it stands on, where it had no input of its own. */
function baseOf(chain: Chain, row: ContextRow, given: readonly Entry[], edits: readonly Edit[]): ContextRow {
  const last = given.at(-1);
  if (!last && row.parentId === null) throw badRequest('turnId', `${row.id} begins with a reply: there is nothing that it answers`);
  const made = last ? fork(chain, { id: row.id, at: last.key, edits }) : fork(chain, { id: row.parentId, edits });
  return commitOf(chain, made.id);
}

interface Asking extends Question {
  readonly recording: readonly Entry[];
  readonly provider: ModelProvider;
}

async function* asked(
  chain: Chain,
  question: Asking,
  replies: EntryDraft[],
  said: (part: Omit<ReplyPart, 'sample'>) => ReplyPart,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReplyPart> {
  const answers = answersIn(question.recording);
  for (let call = 0; call < mostCalls; call++) {
    const calls: EntryDraft[] = [];
    for await (const piece of question.provider.stream(requestOf(chain, question, replies), signal)) {
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
function shown(piece: Exclude<ReplyPiece, { kind: 'signature' }>): Omit<ReplyPart, 'sample'> {
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

const answerOn = (chain: Chain, base: ContextRow, replies: readonly EntryDraft[], who: string): ContextId =>
  fork(chain, { id: base.id, edits: replies.map((entry) => ({ op: 'append' as const, entry })), summary: `Run again: ${who}` }).id;
