import { type ContextId, canonicalJson, type Json, type JsonObject } from '../base/index.js';
import {
  appendedEntries,
  type ContextRow,
  commitAt,
  deltaEntries,
  entries,
  type ForkInput,
  findChildren,
  findCommit,
  fork,
  type ReadChain,
  type WriteChain,
} from '../chain/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { Entry, ReplyPart, Wire } from '../contract/index.js';
import type { WritableEntry } from '../formats/index.js';
import { type LayerText, type OwnQuestion, ownBody, writtenBody } from '../requests/index.js';
import { type ContextCall, composeContext, nearestCall, systemTexts } from './composed.js';
import { type ModelProvider, providerOf } from './providers.js';
import { asked, recordedReplies, type Said, type TurnReply } from './reply.js';
import { type ModelQuestion, questionOf as requestQuestion } from './request.js';
import { keepReply } from './rerun.js';

export interface Answering {
  /** The context to answer. It ends with a question. */
  readonly id: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly samples?: number | undefined;
  /** The system messages of the call, if the caller has composed them already. */
  readonly system?: readonly LayerText[] | undefined;
  /** How the call is composed. The default is a question about the context. */
  readonly call?: ContextCall | undefined;
  /** Metadata of the reply's commit that differs from the context. */
  readonly as?: Pick<ForkInput, 'template' | 'principal' | 'ticketId' | 'threadId'> | undefined;
}

export interface Answered {
  /** One commit per reply, on top of the context. Empty if there was no reply. */
  readonly commits: ContextId[];
  /** The commit that contains the recorded reply; null if a model replied. */
  readonly from: ContextId | null;
}

const nothingRecorded =
  'The recording has no answer: this project has no other branch that asks the same from the same context. Choose a model, or leave the question open.';

/**
 * Runs a turn from a context: a provider replies, and each reply becomes a commit on top of it. The composer makes the call. A tool call gets the
 * result of the same call earlier in the context; at any other call, the run stops and leaves the call open. The provider `recorded` returns the
 * reply of another branch that asks the same question, or a notice that no other branch has a reply.
 * @throws BAD_REQUEST for an unknown provider; NOT_FOUND for an unknown context.
 */
export async function* answerContext(
  chain: WriteChain,
  input: Answering,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, Answered> {
  const base = findCommit(chain, input.id);
  const provider = providerOf(providers, input.provider);
  const found = provider ? undefined : recordedReply(chain, base);
  if (!provider && !found) {
    yield { sample: 0, kind: 'notice', delta: nothingRecorded };
    return { commits: [], from: null };
  }
  const commits: ContextId[] = [];
  for (let sample = 0; sample < (input.samples ?? 1); sample++) {
    const said = (part: Said): ReplyPart => ({ sample, ...part });
    const system = input.system ?? systemTexts(composeContext(chain, base, input.call ?? { kind: 'question' }));
    const question = questionOf(chain, base, input.model, system);
    const reply = yield* provider
      ? asked(chain, { ...question, provider }, said, signal)
      : recordedReplies(chain, question, found?.entries ?? [], said, signal);
    if (reply.entries.length && !reply.isStopped) commits.push(replyOn(chain, base, reply, input));
  }
  return { commits, from: found?.commit.id ?? null };
}

export interface Asked extends Omit<Answering, 'id' | 'as'> {
  /** The context to continue; null starts a conversation. */
  readonly id: ContextId | null;
  readonly text: string;
  readonly principal?: string | undefined;
}

/** Adds a prompt on a new branch of a context and answers it. The branch belongs to the asker. */
export async function* askContext(
  chain: WriteChain,
  { text, principal, ...input }: Asked,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, Answered & { readonly base: ContextId }> {
  providerOf(providers, input.provider);
  const of = input.id === null ? undefined : findCommit(chain, input.id);
  const question = fork(chain, {
    id: of?.id ?? null,
    edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text } }],
    summary: text.slice(0, maxSummaryLength),
    principal,
  });
  const answered = yield* answerContext(chain, { ...input, id: question.id, as: { principal } }, providers, signal);
  return { ...answered, base: question.id };
}

export interface AnswerStep {
  /** The context to continue. It ends with a message or the result of a tool. */
  readonly id: ContextId;
  readonly provider: ModelProvider;
  readonly model?: string | undefined;
  /** The tools to offer, in the form of the Messages API. */
  readonly tools: readonly Record<string, unknown>[];
  /** Settings, such as `temperature`, in place of those of the nearest recorded call. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** True if the call takes nothing from a recorded call: its profile alone decides. */
  readonly isOwn?: boolean | undefined;
  readonly composed: ComposedCall;
  readonly as: Answering['as'];
  /** Called in the transaction that commits the reply. */
  readonly made: (commit: ContextId) => void;
}

/** One model call on a context. Its reply is a commit on top, with open tool calls. Returns it; undefined if the reply is empty or was stopped. */
export async function* stepContext(chain: WriteChain, step: AnswerStep, signal?: AbortSignal): AsyncGenerator<ReplyPart, ContextId | undefined> {
  const base = findCommit(chain, step.id);
  const question = { ...stepQuestion(chain, base, step), recording: [], provider: step.provider, once: true };
  const reply = yield* asked(chain, question, (part) => ({ sample: 0, ...part }), signal);
  if (reply.isStopped || reply.entries.length === 0) return undefined;
  return chain.artifacts.transaction(() => {
    const commit = replyOn(chain, base, reply, { id: base.id, provider: step.provider.id, as: step.as });
    step.made(commit);
    return commit;
  });
}

type StepCall = Pick<AnswerStep, 'model' | 'tools' | 'parameters' | 'isOwn' | 'composed'>;

function stepQuestion(chain: ReadChain, base: ContextRow | undefined, { model, tools, parameters, isOwn, composed }: StepCall): ModelQuestion {
  return {
    row: isOwn || !base ? undefined : nearestCall(chain, base),
    base: base ?? nowhere,
    model,
    edited: 'anything',
    composed: systemTexts(composed),
    request: { tools: [...tools] },
    parameters,
  };
}

/** What a call is previewed with: the wire format and the model of its provider. */
export interface PreviewOf {
  readonly wire: Wire;
  readonly model?: string | undefined;
}

/** The body of the next call of a conversation, as `stepContext` sends it, with these entries after the context. */
export function stepBody(
  chain: ReadChain,
  base: ContextRow | undefined,
  step: StepCall & PreviewOf,
  entries: readonly WritableEntry[] = [],
): JsonObject {
  const question = requestQuestion(chain, { ...stepQuestion(chain, base, step), wire: step.wire });
  return base ? ownBody(chain, question, [], entries) : writtenBody(question, entries);
}

/** In place of a commit that does not exist yet. Only names of new messages are made from it, and no provider gets these. */
const nowhere: OwnQuestion['base'] = { id: 'ctx-00000000' as ContextId, createdAt: 0 };

/** The body of the call that a question about a context makes, as `askContext` sends it. */
export function askedBody(
  chain: ReadChain,
  base: ContextRow,
  { wire, model, system, text }: PreviewOf & { readonly system: readonly LayerText[]; readonly text: string | undefined },
): JsonObject {
  const { recording: _, ...question } = questionOf(chain, base, model, system);
  const prompt = appendedEntries(chain, base, text === undefined ? [] : [{ role: 'user', kind: 'text', text }]);
  return ownBody(chain, requestQuestion(chain, { ...question, wire }), [], prompt);
}

function questionOf(chain: ReadChain, base: ContextRow, model: string | undefined, composed: readonly LayerText[]) {
  return {
    row: nearestCall(chain, base),
    base,
    model,
    edited: 'anything' as const,
    composed,
    recording: entries(chain, { id: base.id, stop: 'root' }).entries,
  };
}

const maxSummaryLength = 200;

function replyOn(chain: WriteChain, base: ContextRow, reply: TurnReply, input: Answering): ContextId {
  const words = reply.entries.findLast((entry) => entry.kind === 'text')?.text ?? '';
  return keepReply(chain, reply, {
    turn: null,
    base,
    provider: input.provider,
    summary: words.trim().slice(0, maxSummaryLength) || `Answered: ${input.provider}`,
    ...input.as,
  });
}

/** A recorded reply, and the commit in which it starts. */
interface RecordedReply {
  readonly commit: ContextRow;
  readonly entries: Entry[];
}

/** The maximum distance in commits to a branch point that is searched for the same question. */
const farthest = 64;

/** The reply of another branch with the same context and the same last prompt, if one has it. Entries that an agent added are ignored. */
function recordedReply(chain: ReadChain, base: ContextRow): RecordedReply | undefined {
  let asked: Entry[] = [];
  for (let at: ContextRow = base, steps = 0; steps < farthest; steps++) {
    asked = [...typed(chain, at), ...asked];
    if (at.type !== 'delta' || at.parent === null) return undefined;
    const parent = commitAt(chain, at.parent);
    for (const other of findChildren(chain, parent)) {
      const found = other.seq === at.seq ? undefined : replyBelow(chain, other, asked);
      if (found) return found;
    }
    at = parent;
  }
  return undefined;
}

/** Finds the reply to `asked` in a commit or its descendants, if their entries start with `asked`. */
function replyBelow(chain: ReadChain, row: ContextRow, asked: readonly Entry[]): RecordedReply | undefined {
  if (row.type !== 'delta') return undefined;
  const own = typed(chain, row);
  const shared = Math.min(own.length, asked.length);
  if (!own.slice(0, shared).every((entry, n) => isSame(entry, asked[n]))) return undefined;
  if (own.length < asked.length) return firstOf(findChildren(chain, row), (child) => replyBelow(chain, child, asked.slice(own.length)));
  const begun = replyAt(chain, row, own.slice(asked.length));
  if (begun || own.length > asked.length) return begun;
  return firstOf(findChildren(chain, row), (child) => replyAt(chain, child));
}

function replyAt(chain: ReadChain, row: ContextRow, own = row.type === 'delta' ? typed(chain, row) : []): RecordedReply | undefined {
  const entries = replyIn(own);
  if (!entries.length) return undefined;
  return { commit: row, entries: [...entries, ...(entries.length === own.length ? continued(chain, row) : [])] };
}

/** The rest of a reply that spans several commits, up to the next prompt. */
const continued = (chain: ReadChain, row: ContextRow): Entry[] =>
  firstOf(findChildren(chain, row), (child) => (child.template === row.template ? replyAt(chain, child)?.entries : undefined)) ?? [];

/** Assistant entries and tool results up to the next prompt. */
function replyIn(entries: readonly Entry[]): Entry[] {
  const end = entries.findIndex((entry) => entry.role === 'user' || entry.kind === 'summary');
  const reply = entries.slice(0, end < 0 ? entries.length : end);
  return reply.some((entry) => entry.role === 'assistant') ? reply : [];
}

/** The entries of a commit, without entries that its agent added. */
const typed = (chain: ReadChain, row: ContextRow): Entry[] => deltaEntries(chain, row).filter((entry) => !entry.marks?.includes('meta'));

const isSame = (a: Entry, b: Entry | undefined): boolean => b !== undefined && comparedWords(a) === comparedWords(b);

const comparedWords = ({ role, kind, text, toolName, arguments: given }: Entry): string =>
  canonicalJson([role, kind, text?.trim() ?? '', toolName ?? '', (given ?? null) as Json]);

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
