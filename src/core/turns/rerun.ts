import { badRequest, type ContextId } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, contextEntries, type ForkInput, fork } from '../chain/index.js';
import type { Edit, Entry, ReplyPart, RequestEdits } from '../contract/index.js';
import { recordOwnRun } from '../requests/index.js';
import { type ModelProvider, providerOf } from './providers.js';
import type { Questions } from './questions.js';
import { asked, type Reply, recordedReplies, type Said } from './reply.js';
import type { Question } from './request.js';
import { together } from './together.js';
import { deltaEntries, ownInput } from './turns.js';

export interface Rerun {
  readonly turnId: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  /** What of system prompt, tools and settings is other than it was. */
  readonly request?: RequestEdits | undefined;
  readonly samples?: number | undefined;
  /** Tool calls that the recording has no answer to: the run stops at them, or a person is asked. */
  readonly unanswered?: 'stop' | 'ask' | undefined;
}

export interface Reran {
  /** One reply each, as a branch that stands on `base`. */
  readonly commits: ContextId[];
  /** The input of the turn, with the edits: what the replies answer. */
  readonly base: ContextId;
}

/** Providers limit how many calls they take at once. */
const atOnce = 4;

/**
 * Runs a turn again: its input, edited, is asked of a provider, and each reply becomes a branch. Tool calls that the
 * turn made as well are answered from its recording; at any other a person is asked, or the run stops with the call open.
 * A sample that fails says so and leaves no branch; one that is stopped leaves none either.
 * @throws BAD_REQUEST for an unknown provider, or for edits that are asked of the recording; where every sample failed, as the first did.
 */
export async function* rerunTurn(
  chain: Chain,
  input: Rerun,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
  questions?: Questions,
): AsyncGenerator<ReplyPart, Reran> {
  const row = commitOf(chain, input.turnId, 'turnId');
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const provider = providerOf(providers, input.provider);
  const isChanged = Boolean(input.edits?.length) || input.request !== undefined;
  if (!provider && isChanged)
    throw badRequest(input.edits?.length ? 'edits' : 'request', 'the recording answers what was asked, not what was changed: choose a model to ask');
  const base = baseOf(chain, row, given, input.edits ?? []);
  const question = { row, base, model: input.model, edited: replacedBy(chain, row, input.edits ?? []), request: input.request };
  const recording = own.slice(given.length);
  const person = input.unanswered === 'ask' ? questions : undefined;
  const run = stopping(signal);
  try {
    const samples = Array.from({ length: input.samples ?? 1 }, (_, sample) => {
      const said = (part: Said): ReplyPart => ({ sample, ...part });
      return oneSample(
        chain,
        provider
          ? asked(chain, { ...question, recording, provider, person }, said, run.signal)
          : recordedReplies(chain, question, recording, said, run.signal),
        { turn: row.id, base, provider: input.provider },
        said,
      );
    });
    const made = yield* together(samples, atOnce);
    const failed = made.find((each) => each.error !== undefined);
    if (failed && made.every((each) => each.error !== undefined)) throw failed.error;
    return { commits: made.flatMap((each) => each.commit ?? []), base: base.id };
  } finally {
    run.stop();
  }
}

/** The texts that edits put in the place of others; `anything` where they do more. */
function replacedBy(chain: Chain, row: ContextRow, edits: readonly Edit[]): Question['edited'] {
  if (edits.length === 0) return [];
  const entries = new Map(contextEntries(chain, { id: row.id }).map(({ key, entry }) => [key, entry] as const));
  const replaced = edits.flatMap(({ op, key, entry }) => {
    const before = op === 'replace' && key !== undefined ? entries.get(key) : undefined;
    // Thinking is sealed: other words than its own are taken back by no provider.
    const isText = before?.kind === entry?.kind && before?.role === entry?.role && (before?.kind === 'text' || before?.kind === 'tool_result');
    return isText && before?.text && entry?.text ? [{ before: before.text, after: entry.text }] : [];
  });
  return replaced.length === edits.length ? replaced : 'anything';
}

/** A signal that ends with another, or when nobody reads the run any more. */
export function stopping(signal: AbortSignal | undefined): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  return {
    signal: controller.signal,
    stop: () => {
      signal?.removeEventListener('abort', stop);
      stop();
    },
  };
}

interface Sampled {
  readonly commit?: ContextId;
  readonly error?: unknown;
}

/** A reply to its end, and its commit. What goes wrong in it is its own. */
export async function* oneSample(
  chain: Chain,
  stream: AsyncGenerator<ReplyPart, Reply> | Generator<ReplyPart, Reply>,
  how: Kept,
  said: (part: Said) => ReplyPart,
): AsyncGenerator<ReplyPart, Sampled> {
  try {
    const reply = yield* stream;
    if (reply.isStopped || !reply.entries.length) return {};
    const commit = keepReply(chain, reply, how);
    yield said({ kind: 'commit', delta: commit });
    return { commit };
  } catch (error) {
    yield said({ kind: 'failed', delta: reasonOf(error) });
    return { error };
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface Kept extends Pick<ForkInput, 'summary' | 'template' | 'principal' | 'ticketId' | 'threadId'> {
  readonly turn: ContextId | null;
  readonly base: ContextRow;
  readonly provider: string;
}

/** A reply as a commit on the context that it answers, with what it takes to prove how it came about. */
export function keepReply(chain: Chain, reply: Reply, { turn, base, provider, ...signed }: Kept): ContextId {
  const { question, calls, entries } = reply;
  return chain.artifacts.transaction(() => {
    const { id } = fork(chain, {
      id: base.id,
      edits: entries.map((entry) => ({ op: 'append' as const, entry })),
      summary: `Run again: ${provider}${question && provider !== 'recorded' ? ` (${question.model})` : ''}`,
      ...signed,
    });
    if (question && calls.length) recordOwnRun(chain, id, { turn, provider, model: question.model, question, calls });
    return id;
  });
}

/** The input of the turn as a commit: the turn cut before its reply, with the edits; or what it stands on, where it had no input of its own. */
function baseOf(chain: Chain, row: ContextRow, given: readonly Entry[], edits: readonly Edit[]): ContextRow {
  const last = given.at(-1);
  if (!last && row.parentId === null) throw badRequest('turnId', `${row.id} begins with a reply: there is nothing that it answers`);
  const made = last ? fork(chain, { id: row.id, at: last.key, edits }) : fork(chain, { id: row.parentId, edits });
  return commitOf(chain, made.id);
}
