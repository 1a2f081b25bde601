import { badRequest, type ContextId, toTimestamp } from '../base/index.js';
import { type ContextRow, commonAncestor, deltaEntries, findCommit, isAncestor, lineage, type ReadChain, tips } from '../chain/index.js';
import type { Entry, Following, TurnRow } from '../contract/index.js';
import { listCommitTurns, ownInput } from './turns.js';

/** A branch, the original that it follows, and the turns still to come. */
export interface FollowingPlan {
  readonly tip: ContextRow;
  readonly original: ContextRow;
  readonly base: ContextRow;
  /** Entries of the branch after the base. */
  readonly own: readonly Entry[];
  /** Set if the branch ends with an unanswered prompt: the original's turn that the prompt replaces, if any. */
  readonly unanswered: { readonly turn: TurnRow | undefined } | undefined;
  /** The original's turns that the branch has not reached. */
  readonly turns: readonly TurnRow[];
  /** All turns of the original after the base, continuations included. */
  readonly recorded: readonly TurnRow[];
}

/**
 * Finds how far a branch has followed an original. Each prompt of the branch after the common commit counts as the next prompt of the original,
 * regardless of its text. @throws BAD_REQUEST if the two have no common commit; NOT_FOUND for an unknown commit.
 */
export function planOf(chain: ReadChain, tip: ContextRow, original: ContextRow): FollowingPlan {
  const base = commonAncestor(chain, tip, original);
  if (!base) throw badRequest('original', `${tip.id} and ${original.id} have no common commit, so there is nothing to follow.`);
  const isAfter = new Set(lineage(chain, original).flatMap((step) => (step.depth > base.depth ? [step.id] : [])));
  const recorded = listCommitTurns(chain, original).filter((turn) => isAfter.has(turn.turnId));
  const prompts = recorded.filter((turn) => turn.trigger.kind === 'prompt');
  const deltas = lineage(chain, tip).flatMap((step) =>
    step.depth > base.depth && step.type === 'delta' ? [deltaEntries(chain, findCommit(chain, step.id))] : [],
  );
  const own = deltas.flat();
  const begun = deltas.reduce((sum, delta) => sum + promptsIn(delta), 0);
  const last = own.at(-1) ?? deltaEntries(chain, tip).at(-1);
  const isOpen = last !== undefined && last.role !== 'assistant' && last.kind !== 'summary';
  return {
    tip,
    original,
    base,
    own,
    unanswered: isOpen ? { turn: prompts[begun - 1] } : undefined,
    turns: prompts.slice(begun),
    recorded,
  };
}

const isTyped = (entry: Entry | undefined): boolean => entry?.role === 'user' && entry.kind !== 'summary' && !entry.marks?.includes('meta');

/** The number of prompts in a delta. Neighboring user entries are one prompt. */
const promptsIn = (delta: readonly Entry[]): number => delta.filter((entry, at) => isTyped(entry) && !isTyped(delta[at - 1])).length;

/** The reply of a turn, continuations included, up to the next prompt. */
export function replyIn(chain: ReadChain, recorded: readonly TurnRow[], turn: TurnRow): Entry[] {
  const own = deltaEntries(chain, findCommit(chain, turn.turnId));
  const at = recorded.findIndex((one) => one.turnId === turn.turnId);
  const next = recorded.slice(at + 1);
  const end = next.findIndex((one) => one.trigger.kind !== 'continuation');
  const more = next.slice(0, end < 0 ? next.length : end).flatMap((one) => deltaEntries(chain, findCommit(chain, one.turnId)));
  return [...own.slice(ownInput(own).length), ...more];
}

/** The reply that the branch already has to its last prompt. */
export function begunReply(own: readonly Entry[]): readonly Entry[] {
  const last = own.findLastIndex((entry) => entry.role === 'user');
  return own.slice(last + 1);
}

const maxOriginals = 20;

/** Branches that a tip can follow. Sorted by later branch point, then imported commits before forks, then newer commits first. */
function originalsOf(chain: ReadChain, tip: ContextRow): { row: ContextRow; base: ContextRow }[] {
  return tips(chain, {})
    .flatMap(({ id }) => {
      const row = findCommit(chain, id);
      const base = row.seq === tip.seq || isAncestor(chain, tip, row) ? undefined : commonAncestor(chain, tip, row);
      return base && base.seq !== row.seq ? [{ row, base }] : [];
    })
    .sort((a, b) => b.base.depth - a.base.depth || Number(a.row.forked) - Number(b.row.forked) || b.row.createdAt - a.row.createdAt)
    .slice(0, maxOriginals);
}

/** The named original, or the most likely one. @throws BAD_REQUEST if no other branch exists. */
export function originalOf(chain: ReadChain, tip: ContextRow, original: ContextId | undefined): ContextRow {
  if (original !== undefined) return findCommit(chain, original, 'original');
  const mostLikely = originalsOf(chain, tip)[0]?.row;
  if (!mostLikely)
    throw badRequest('original', `${tip.id} has no other branch to follow. A what-if follows the turns of another branch: fork an earlier turn.`);
  return mostLikely;
}

/** Previews a what-if from a commit. @throws as `planOf` */
export function followingTurns(chain: ReadChain, input: { id: ContextId; original?: ContextId | undefined }): Following {
  const tip = findCommit(chain, input.id);
  const others = originalsOf(chain, tip);
  const original = input.original === undefined ? others[0]?.row : findCommit(chain, input.original, 'original');
  if (!original) return { base: null, original: null, answersFirst: false, turns: [], originals: [] };
  const plan = planOf(chain, tip, original);
  const rows = others.some(({ row }) => row.seq === original.seq) ? others : [{ row: original, base: plan.base }, ...others];
  return {
    base: plan.base.id,
    original: original.id,
    answersFirst: plan.unanswered !== undefined,
    turns: [...plan.turns],
    originals: rows.map(({ row: { id, summary, createdAt, depth }, base: from }) => {
      return { id, summary, createdAt: toTimestamp(createdAt), turns: depth - from.depth };
    }),
  };
}
