import type { ContextId, Json } from '../base/index.js';
import { type ContextRow, contextEntries, deltaEntries, entries, findCommit, type ReadChain, type WriteChain, writable } from '../chain/index.js';
import type { Divergence, DivergenceLimit, Entry, EntryDraft, InputOf, TurnRow, WhatIfPart, WhatIfResult } from '../contract/index.js';
import { changedFields } from '../diff/index.js';
import type { WritableEntry } from '../formats/index.js';
import { begunReply, type FollowingPlan, originalOf, planOf, replyIn } from './following.js';
import { type ModelProvider, providerOf } from './providers.js';
import type { Questions } from './questions.js';
import { asked, callName, recordedReplies, type Said, type TurnReply } from './reply.js';
import { keepReply, reasonOf, stopping } from './rerun.js';
import { ownInput } from './turns.js';

/** A turn to run: the prompt, and the recorded reply. */
interface Step {
  readonly of: TurnRow | undefined;
  readonly given: readonly WritableEntry[];
  readonly recorded: readonly Entry[];
  /** The part of the reply that the branch already has. */
  readonly begun: readonly EntryDraft[];
}

const maxSummaryLength = 200;

/**
 * Continues a branch with the next prompts of the original, turn by turn. A model or the recording replies to each.
 * Each complete turn is a commit. The run ends with the original, at the first relevant divergence, at an open call, when it
 * is stopped, or when it fails; the result says which. It can be continued from its tip.
 * @throws BAD_REQUEST for an unknown provider, or without a branch to follow.
 */
export async function* whatIf(
  chain: WriteChain,
  input: InputOf<'turn.whatIf'>,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
  questions?: Questions,
): AsyncGenerator<WhatIfPart, WhatIfResult> {
  const provider = providerOf(providers, input.provider);
  const start = findCommit(chain, input.id);
  const plan = planOf(chain, start, originalOf(chain, start, input.original));
  const all: (TurnRow | undefined)[] = [...(plan.unanswered ? [plan.unanswered.turn] : []), ...plan.turns];
  const wanted = all.slice(0, input.turns ?? all.length);
  const commits: ContextId[] = [];
  const own = [...plan.own];
  const run = stopping(signal);
  const person = input.unanswered === 'ask' ? questions : undefined;
  const replyTo = (step: Step, base: ContextRow, said: (part: Said) => WhatIfPart) => {
    const question = { row: step.of ? findCommit(chain, step.of.turnId) : base, base, model: input.model, edited: 'anything' as const };
    return provider
      ? asked(chain, { ...question, provider, given: step.given, recording: answersFor(chain, plan, step, own), person }, said, run.signal)
      : recordedReplies(chain, question, step.recorded.slice(step.begun.length), said, run.signal, step.given);
  };
  const ended = (stopped: WhatIfResult['stopped']): WhatIfResult => {
    const tip = commits.at(-1) ?? start.id;
    return { commits, tip, left: all.length - commits.length, stopped };
  };
  try {
    for (const [at, of] of wanted.entries()) {
      const turn = at + 1;
      const step = planStep(chain, plan, of, at === 0 && plan.unanswered !== undefined);
      const about = { turn, of: of?.turnId ?? null };
      const stoppedBy = (why: NonNullable<WhatIfResult['stopped']>['why'], what: string): WhatIfResult => ended({ why, turn, what });
      yield { ...about, kind: 'begin', text: of?.trigger.text ?? '' };
      const base = findCommit(chain, commits.at(-1) ?? start.id);
      let reply: TurnReply;
      try {
        reply = yield* replyTo(step, base, (part) => ({ ...about, kind: 'reply', text: '', part: { sample: 0, ...part } }));
      } catch (error) {
        return stoppedBy('failed', reasonOf(error));
      }
      if (reply.isStopped || run.signal.aborted) return stoppedBy('canceled', 'The run was stopped. This turn has no commit.');
      if (reply.entries.length === step.given.length) return stoppedBy('failed', 'The reply was empty.');
      const commit = keepReply(chain, reply, {
        turn: of?.turnId ?? null,
        base,
        provider: input.provider,
        principal: input.principal,
        ...(of?.trigger.text && { summary: of.trigger.text.slice(0, maxSummaryLength) }),
      });
      commits.push(commit);
      own.push(...deltaEntries(chain, findCommit(chain, commit)));
      const answered = reply.entries.slice(step.given.length);
      const divergence = of ? (divergenceOf(step.recorded, [...step.begun, ...answered]) ?? null) : null;
      yield { ...about, kind: 'end', text: '', commit, divergence };
      if (answered.at(-1)?.kind === 'tool_call') return stoppedBy('open_call', `The call of ${answered.at(-1)?.toolName} has no result.`);
      if (divergence && matters(divergence.kind, input.stopAt ?? 'calls') && turn < all.length) return stoppedBy('diverged', divergence.what);
    }
    return ended(null);
  } finally {
    run.stop();
  }
}

const matters = (kind: 'calls' | 'words', stopAt: DivergenceLimit): boolean => stopAt === 'words' || (stopAt === 'calls' && kind === 'calls');

function planStep(chain: ReadChain, plan: FollowingPlan, of: TurnRow | undefined, isAnswerOnly: boolean): Step {
  const recorded = of ? replyIn(chain, plan.recorded, of) : [];
  if (!of || isAnswerOnly) return { of, given: [], recorded, begun: begunReply(plan.own) };
  const input = ownInput(deltaEntries(chain, findCommit(chain, of.turnId))).length;
  // The complete recorded entries, images included.
  const given = contextEntries(chain, { id: of.turnId, stop: of.turnId })
    .slice(0, input)
    .map(({ entry }) => writable(entry));
  return { of, given, recorded, begun: [] };
}

/** Entries whose tool results may be reused: the original before this turn, the branch, this turn. Later entries take precedence. */
function answersFor(chain: ReadChain, plan: FollowingPlan, step: Step, own: readonly Entry[]): readonly Entry[] {
  const parent = step.of && findCommit(chain, step.of.turnId).parentId;
  const before = entries(chain, { id: parent ?? plan.base.id, stop: 'root' }).entries;
  return [...before, ...own, ...step.recorded];
}

/** How a reply differs from the recorded one, if it does. Different calls matter most, because their effects last; different words matter less. */
function divergenceOf(recorded: readonly EntryDraft[], now: readonly EntryDraft[]): Divergence | undefined {
  const [before, after] = [callsIn(recorded), callsIn(now)];
  const at = [...Array(Math.max(before.length, after.length)).keys()].find((n) => nameCall(before[n]) !== nameCall(after[n]));
  if (at !== undefined) return { kind: 'calls', what: otherCall(before[at], after[at], at) };
  return wordsIn(recorded) === wordsIn(now) ? undefined : { kind: 'words', what: 'the same calls, with different words' };
}

const callsIn = (entries: readonly EntryDraft[]): EntryDraft[] => entries.filter((entry) => entry.kind === 'tool_call');
const nameCall = (call: EntryDraft | undefined): string | undefined => call && callName(call);

const wordsIn = (entries: readonly EntryDraft[]): string =>
  entries
    .flatMap((entry) => (entry.role === 'assistant' && entry.kind === 'text' ? [(entry.text ?? '').trim()] : []))
    .filter(Boolean)
    .join('\n');

function otherCall(before: EntryDraft | undefined, after: EntryDraft | undefined, at: number): string {
  const place = `call ${at + 1}`;
  if (!after) return `${place} (${before?.toolName}) is missing`;
  if (!before) return `${place} (${after.toolName}) is not in the recording`;
  if (before.toolName !== after.toolName) return `${place} is ${after.toolName} instead of ${before.toolName}`;
  const paths = changedFields((before.arguments ?? {}) as Json, (after.arguments ?? {}) as Json).map((field) => field.path || 'all');
  return `${place} (${after.toolName}) has different arguments: ${paths.slice(0, 4).join(', ')}${paths.length > 4 ? ' and more' : ''}`;
}
