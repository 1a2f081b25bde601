import type { ContextId } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, contextEntries, entries, writable } from '../chain/index.js';
import type { DivergenceLimit, Entry, EntryDraft, ReplyPart, TurnRow, WhatIfPart, WhatIfResult } from '../contract/index.js';
import type { WritableEntry } from '../formats/index.js';
import { divergenceOf } from './divergence.js';
import { begunReply, originalOf, type Plan, planOf, replyIn } from './following.js';
import { type ModelProvider, providerOf } from './providers.js';
import type { Questions } from './questions.js';
import { asked, type Reply, recordedReplies, type Said } from './reply.js';
import { keepReply, reasonOf, stopping } from './rerun.js';
import { deltaEntries, ownInput } from './turns.js';

export interface WhatIf {
  /** The branch that is gone on with. */
  readonly id: ContextId;
  /** The branch whose turns are followed; else the likeliest. */
  readonly original?: ContextId | undefined;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly stopAt?: DivergenceLimit | undefined;
  readonly unanswered?: 'stop' | 'ask' | undefined;
  /** At most so many turns. */
  readonly turns?: number | undefined;
}

/** A turn to come: what is said first, and what was answered when it was said. */
interface Step {
  readonly of: TurnRow | undefined;
  readonly given: readonly WritableEntry[];
  readonly recorded: readonly Entry[];
  /** What the branch had already of this reply. */
  readonly begun: readonly EntryDraft[];
}

const longestSummary = 200;

/**
 * Says on top of a branch what the person said next in the original, turn by turn, and has each answered by a model, or as it was
 * recorded. Each turn that is whole is a commit; the run ends with the original, at the first divergence that matters, at a call that
 * stays open, or where it is stopped or fails, and says so: from its tip it can always go on.
 * @throws BAD_REQUEST for an unknown provider, or where no original goes on.
 */
export async function* whatIf(
  chain: Chain,
  input: WhatIf,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
  questions?: Questions,
): AsyncGenerator<WhatIfPart, WhatIfResult> {
  const provider = providerOf(providers, input.provider);
  const start = commitOf(chain, input.id);
  const plan = planOf(chain, start, originalOf(chain, start, input.original));
  const all: (TurnRow | undefined)[] = [...(plan.unanswered ? [plan.unanswered.turn] : []), ...plan.turns];
  const wanted = all.slice(0, input.turns ?? all.length);
  const commits: ContextId[] = [];
  const own = [...plan.own];
  const run = stopping(signal);
  const ended = (stopped: WhatIfResult['stopped']): WhatIfResult => ({
    commits,
    tip: commits.at(-1) ?? start.id,
    left: all.length - commits.length,
    stopped,
  });
  try {
    for (const [at, of] of wanted.entries()) {
      const turn = at + 1;
      const step = stepOf(chain, plan, of, at === 0 && plan.unanswered !== undefined);
      const about = { turn, of: of?.turnId ?? null };
      const stoppedBy = (why: NonNullable<WhatIfResult['stopped']>['why'], what: string): WhatIfResult => ended({ why, turn, what });
      yield { ...about, kind: 'begin', text: of?.trigger.text ?? '' };
      const base = commitOf(chain, commits.at(-1) ?? start.id);
      let reply: Reply;
      try {
        reply = yield* replied(chain, { input, plan, step, base, own, provider, questions }, about, run.signal);
      } catch (error) {
        return stoppedBy('failed', reasonOf(error));
      }
      if (reply.isStopped || run.signal.aborted) return stoppedBy('canceled', 'it was stopped; this turn left no commit');
      if (reply.entries.length === step.given.length) return stoppedBy('failed', 'nothing was answered');
      const commit = keepReply(chain, reply, {
        turn: of?.turnId ?? null,
        base,
        provider: input.provider,
        ...(of?.trigger.text && { summary: of.trigger.text.slice(0, longestSummary) }),
      });
      commits.push(commit);
      own.push(...deltaEntries(chain, commitOf(chain, commit)));
      const answered = reply.entries.slice(step.given.length);
      const divergence = of ? (divergenceOf(step.recorded, [...step.begun, ...answered]) ?? null) : null;
      yield { ...about, kind: 'end', text: '', commit, divergence };
      if (answered.at(-1)?.kind === 'tool_call') return stoppedBy('open_call', `the call of ${answered.at(-1)?.toolName} has no answer`);
      if (divergence && matters(divergence.kind, input.stopAt ?? 'calls') && turn < all.length) return stoppedBy('diverged', divergence.what);
    }
    return ended(null);
  } finally {
    run.stop();
  }
}

const matters = (kind: 'calls' | 'words', stopAt: DivergenceLimit): boolean => stopAt === 'words' || (stopAt === 'calls' && kind === 'calls');

function stepOf(chain: Chain, plan: Plan, of: TurnRow | undefined, isAnswerOnly: boolean): Step {
  const recorded = of ? replyIn(chain, plan.recorded, of) : [];
  if (!of || isAnswerOnly) return { of, given: [], recorded, begun: begunReply(plan.own) };
  const input = ownInput(deltaEntries(chain, commitOf(chain, of.turnId))).length;
  // As the runtime wrote it, images and all.
  const given = contextEntries(chain, { id: of.turnId, stop: of.turnId })
    .slice(0, input)
    .map(({ entry }) => writable(entry));
  return { of, given, recorded, begun: [] };
}

interface Asked {
  readonly input: WhatIf;
  readonly plan: Plan;
  readonly step: Step;
  readonly base: ContextRow;
  /** What the branch has of its own so far. */
  readonly own: readonly Entry[];
  readonly provider: ModelProvider | undefined;
  readonly questions: Questions | undefined;
}

async function* replied(
  chain: Chain,
  { input, plan, step, base, own, provider, questions }: Asked,
  about: Pick<WhatIfPart, 'turn' | 'of'>,
  signal: AbortSignal,
): AsyncGenerator<WhatIfPart, Reply> {
  const said = (part: Said): ReplyPart => ({ sample: 0, ...part });
  const row = step.of ? commitOf(chain, step.of.turnId) : base;
  const question = { row, base, model: input.model, edited: 'anything' as const };
  const stream = provider
    ? asked(
        chain,
        {
          ...question,
          provider,
          given: step.given,
          recording: answersFor(chain, plan, step, own),
          person: input.unanswered === 'ask' ? questions : undefined,
        },
        said,
        signal,
      )
    : recordedReplies(chain, question, step.recorded.slice(step.begun.length), said, signal, step.given);
  for (;;) {
    const next = await stream.next();
    if (next.done) return next.value;
    yield { ...about, kind: 'reply', text: '', part: next.value };
  }
}

/** What tools may be answered from, the last word first believed: what was so before this turn, on the original, then on the branch, then in this turn. */
function answersFor(chain: Chain, plan: Plan, step: Step, own: readonly Entry[]): readonly Entry[] {
  const parent = step.of && commitOf(chain, step.of.turnId).parentId;
  const before = parent ? entries(chain, { id: parent, stop: 'root' }).entries : entries(chain, { id: plan.base.id, stop: 'root' }).entries;
  return [...before, ...own, ...step.recorded];
}
