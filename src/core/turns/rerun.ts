import { badRequest, type ContextId } from '../base/index.js';
import { type ContextRow, contextEntries, deltaEntries, type ForkInput, findCommit, fork, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Edit, Entry, InputOf, ReplyPart } from '../contract/index.js';
import type { WritableEntry } from '../formats/index.js';
import { recordOwnRun } from '../requests/index.js';
import { type ModelProvider, providerOf } from './providers.js';
import type { Questions } from './questions.js';
import { asked, recordedReplies, type Said, shownEntry, type TurnReply } from './reply.js';
import type { ModelQuestion } from './request.js';
import { ownInput } from './turns.js';

interface Rerun extends InputOf<'turn.rerun'> {
  /** Called in the transaction that commits a reply. */
  readonly made?: ((sample: number, commit: ContextId) => void) | undefined;
}

/** Maximum number of parallel calls, because providers limit them. */
const atOnce = 4;

/**
 * Runs a turn again: sends its edited input to a provider, and each reply becomes a branch. Tool calls that the turn also made get their recorded
 * results. For other calls, a person is asked, or the run stops and leaves the call open. A failed or stopped sample makes no branch. Without `keep`,
 * the recorded reply is shown and nothing is stored. Returns one branch per reply on `base`, which is the edited input, or the turn itself if nothing is
 * stored.
 * @throws BAD_REQUEST for an unknown provider, or for edits with the provider `recorded`; the first sample's error if all fail.
 */
export async function* rerunTurn(
  chain: WriteChain,
  input: Rerun,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
  questions?: Questions,
): AsyncGenerator<ReplyPart, { readonly commits: ContextId[]; readonly base: ContextId }> {
  const row = findCommit(chain, input.turnId, 'turnId');
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const provider = providerOf(providers, input.provider);
  const isChanged = Boolean(input.edits?.length) || input.request !== undefined;
  if (!provider && isChanged) throw badRequest(input.edits?.length ? 'edits' : 'request', 'A changed turn has no recorded reply. Choose a model.');
  const recording = own.slice(given.length);
  if (input.keep === false) {
    if (provider) throw badRequest('keep', 'The reply of a model is always kept. `keep: false` goes with the provider `recorded`.');
    for (const entry of recording) {
      if (signal?.aborted) break;
      yield* shownEntry(entry, (part) => ({ sample: 0, ...part }));
    }
    return { commits: [], base: row.id };
  }
  const base = baseOf(chain, row, given, input);
  const question = { row, base, model: input.model, edited: replacedBy(chain, row, input.edits ?? []), request: input.request };
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
        { turn: row.id, base, provider: input.provider, principal: input.principal, made: (commit) => input.made?.(sample, commit) },
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

/** The texts that edits replace; `anything` if they do more. */
function replacedBy(chain: ReadChain, row: ContextRow, edits: readonly Edit[]): ModelQuestion['edited'] {
  if (edits.length === 0) return [];
  const entries = new Map(contextEntries(chain, { id: row.id }).map(({ key, entry }) => [key, entry] as const));
  const replaced = edits.flatMap(({ op, key, entry }) => {
    const before = op === 'replace' && key !== undefined ? entries.get(key) : undefined;
    // Thinking is signed, so providers refuse changed thinking.
    const isText = before?.kind === entry?.kind && before?.role === entry?.role && (before?.kind === 'text' || before?.kind === 'tool_result');
    return isText && before?.text && entry?.text ? [{ before: before.text, after: entry.text }] : [];
  });
  return replaced.length === edits.length ? replaced : 'anything';
}

/** A signal that aborts with another signal, or when `stop` is called. Its reason is its own, because it can be stored. */
export function stopping(signal: AbortSignal | undefined): { readonly signal: AbortSignal; readonly stop: () => void } {
  const own = new AbortController();
  signal?.addEventListener('abort', () => own.abort(), { signal: own.signal });
  if (signal?.aborted) own.abort();
  return { signal: own.signal, stop: () => own.abort() };
}

/** Runs one sample to its end and commits its reply. An error ends this sample only. */
async function* oneSample(
  chain: WriteChain,
  stream: AsyncGenerator<ReplyPart, TurnReply> | Generator<ReplyPart, TurnReply>,
  how: Kept,
  said: (part: Said) => ReplyPart,
): AsyncGenerator<ReplyPart, { readonly commit?: ContextId; readonly error?: unknown }> {
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

/** The message of an error. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface Kept extends Pick<ForkInput, 'summary' | 'template' | 'principal' | 'ticketId' | 'threadId'> {
  readonly turn: ContextId | null;
  readonly base: ContextRow;
  readonly provider: string;
  readonly made?: ((commit: ContextId) => void) | undefined;
}

/** Commits a reply on its context, and stores the calls that produced it, so that they can be verified. */
export function keepReply(chain: WriteChain, reply: TurnReply, { turn, base, provider, made, ...signed }: Kept): ContextId {
  const { question, calls, entries } = reply;
  return chain.artifacts.transaction(() => {
    const { id } = fork(chain, {
      id: base.id,
      edits: inMessages(entries, chain.newId).map((entry) => ({ op: 'append' as const, entry })),
      summary: `Run again: ${provider}${question && provider !== 'recorded' ? ` (${question.model})` : ''}`,
      ...signed,
    });
    if (question && calls.length) recordOwnRun(chain, id, { turn, provider, model: question.model, question, calls });
    made?.(id);
    return id;
  });
}

/** The entries of a reply, those of one answer with the id of one message: a text and its calls are one message of the assistant. */
function inMessages(entries: readonly WritableEntry[], newId: () => string): WritableEntry[] {
  let messageId: string | undefined;
  return entries.map((entry) => {
    messageId = entry.role === 'assistant' ? (messageId ?? `msg_${newId().replaceAll('-', '').slice(0, 24)}`) : undefined;
    return messageId === undefined ? entry : { ...entry, messageId };
  });
}

/** The input of the turn as a commit: the turn cut before its reply, with the edits; the parent if the turn has no input of its own. */
function baseOf(chain: WriteChain, row: ContextRow, given: readonly Entry[], { edits = [], principal }: Rerun): ContextRow {
  const last = given.at(-1);
  if (!last && row.parentId === null) throw badRequest('turnId', `${row.id} starts with a reply and has no input to run again.`);
  // Without edits, the input is the same turn: it keeps its title.
  const summary = edits.length || row.summary === null ? undefined : row.summary;
  const made = last ? fork(chain, { id: row.id, at: last.key, edits, summary, principal }) : fork(chain, { id: row.parentId, edits, principal });
  return findCommit(chain, made.id);
}

/** Runs streams in parallel, at most `atOnce`, and yields items as they arrive. Returns the result of each stream. */
async function* together<T, R>(streams: readonly AsyncGenerator<T, R>[], atOnce: number): AsyncGenerator<T, R[]> {
  const results: R[] = [];
  const pending = new Map<number, Promise<readonly [at: number, step: IteratorResult<T, R>]>>();
  let next = 0;
  const advance = (at: number): void => {
    const step = streams[at]?.next();
    if (step)
      pending.set(
        at,
        step.then((done) => [at, done]),
      );
  };
  try {
    while (next < atOnce) advance(next++);
    while (pending.size > 0) {
      const [at, { done, value }] = await Promise.race(pending.values());
      pending.delete(at);
      if (done) {
        results[at] = value;
        advance(next++);
      } else {
        advance(at);
        yield value;
      }
    }
    return results;
  } finally {
    // The reader has stopped, so the other streams are asked to end.
    for (const at of pending.keys()) void streams[at]?.return(undefined as R).catch(() => {});
  }
}
