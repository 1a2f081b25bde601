import { badRequest, type ContextId, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, commonAncestor, isAncestor, lineage, tips } from '../chain/index.js';
import type { Entry, Following, TurnRow } from '../contract/index.js';
import { deltaEntries, listTurns, ownInput } from './turns.js';

/** A branch and the original whose turns it is to follow. */
export interface Plan {
  readonly tip: ContextRow;
  readonly original: ContextRow;
  readonly base: ContextRow;
  /** What the branch has of its own: everything after the base. */
  readonly own: readonly Entry[];
  /** The original's turn that the branch's unanswered words stand for; undefined where its last words are answered. */
  readonly unanswered: { readonly turn: TurnRow | undefined } | undefined;
  /** The original's turns that are still to come. */
  readonly turns: readonly TurnRow[];
  /** All turns of the original after the base, those that a person began and those that go on with them. */
  readonly recorded: readonly TurnRow[];
}

/**
 * Where a branch stands against an original: each prompt that it has of its own after their common commit stands for one of the
 * original's, in order, whatever it says.
 * @throws BAD_REQUEST where the two share nothing; NOT_FOUND for an unknown commit.
 */
export function planOf(chain: Chain, tip: ContextRow, original: ContextRow): Plan {
  const base = commonAncestor(chain, tip, original);
  if (!base) throw badRequest('original', `${tip.id} and ${original.id} have no commit in common: there is nothing to follow`);
  const isAfter = new Set(lineage(chain, original).flatMap((step) => (step.depth > base.depth ? [step.id] : [])));
  const recorded = listTurns(chain, { id: original.id }).filter((turn) => isAfter.has(turn.turnId));
  const prompts = recorded.filter((turn) => turn.trigger.kind === 'prompt');
  const deltas = lineage(chain, tip).flatMap((step) =>
    step.depth > base.depth && step.type === 'delta' ? [deltaEntries(chain, commitOf(chain, step.id))] : [],
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

/** How often a person speaks in a delta: what is said in a row is said at once. */
const promptsIn = (delta: readonly Entry[]): number => delta.filter((entry, at) => isTyped(entry) && !isTyped(delta[at - 1])).length;

/** What was answered in a turn: its reply, and what later commits go on with, up to the next prompt. */
export function replyIn(chain: Chain, recorded: readonly TurnRow[], turn: TurnRow): Entry[] {
  const own = deltaEntries(chain, commitOf(chain, turn.turnId));
  const at = recorded.findIndex((one) => one.turnId === turn.turnId);
  const next = recorded.slice(at + 1);
  const end = next.findIndex((one) => one.trigger.kind !== 'continuation');
  const more = next.slice(0, end < 0 ? next.length : end).flatMap((one) => deltaEntries(chain, commitOf(chain, one.turnId)));
  return [...own.slice(ownInput(own).length), ...more];
}

/** What the branch has answered already to its last words. */
export function begunReply(own: readonly Entry[]): readonly Entry[] {
  const last = own.findLastIndex((entry) => entry.role === 'user');
  return own.slice(last + 1);
}

const mostOriginals = 20;

/** The branches that one can follow: those that leave its way and go on. Where they leave last comes first, then what no one made here, then the newest. */
function originalsOf(chain: Chain, tip: ContextRow): { row: ContextRow; base: ContextRow }[] {
  return tips(chain, {})
    .flatMap(({ id }) => {
      const row = commitOf(chain, id);
      const base = row.seq === tip.seq || isAncestor(chain, tip, row) ? undefined : commonAncestor(chain, tip, row);
      return base && base.seq !== row.seq ? [{ row, base }] : [];
    })
    .sort((a, b) => b.base.depth - a.base.depth || Number(a.row.forked) - Number(b.row.forked) || b.row.createdAt - a.row.createdAt)
    .slice(0, mostOriginals);
}

/** The original that is named, or the likeliest. @throws BAD_REQUEST where there is none. */
export function originalOf(chain: Chain, tip: ContextRow, original: ContextId | undefined): ContextRow {
  if (original !== undefined) return commitOf(chain, original, 'original');
  const likeliest = originalsOf(chain, tip)[0]?.row;
  if (!likeliest)
    throw badRequest('original', `no other branch goes on from where ${tip.id} comes from: a what-if follows the turns of one. Fork an earlier turn`);
  return likeliest;
}

/** What a what-if from a commit would do. @throws as `planOf` */
export function followingTurns(chain: Chain, input: { id: ContextId; original?: ContextId | undefined }): Following {
  const tip = commitOf(chain, input.id);
  const others = originalsOf(chain, tip);
  const original = input.original === undefined ? others[0]?.row : commitOf(chain, input.original, 'original');
  if (!original) return { base: null, original: null, answersFirst: false, turns: [], originals: [] };
  const plan = planOf(chain, tip, original);
  const rows = others.some(({ row }) => row.seq === original.seq) ? others : [{ row: original, base: plan.base }, ...others];
  return {
    base: plan.base.id,
    original: original.id,
    answersFirst: plan.unanswered !== undefined,
    turns: [...plan.turns],
    originals: rows.map(({ row, base }) => ({
      id: row.id,
      summary: row.summary,
      createdAt: timestampOf(row.createdAt),
      turns: row.depth - base.depth,
    })),
  };
}
