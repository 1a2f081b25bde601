// From an edit to what it was made from: the fork, the answer to its prompt, and the turn that it stands in for.
import type { CommitSeq, ContextId } from '../base/index.js';
import { type ContextRow, commitAt, findChildren, findCommit, type ReadChain, readOutline, turnPartsAt } from '../chain/index.js';
import type { OutputOf } from '../contract/index.js';

/**
 * The fork that a commit belongs to, its newest answer, and the turn of the original branch that it stands in for. For a turn that is no fork, `original`
 * is the turn itself, and the fork is the newest one that stands in its place. @throws NOT_FOUND
 */
export function originalOf(chain: ReadChain, id: ContextId): OutputOf<'turn.original'> {
  const row = findCommit(chain, id);
  const { partOf, besides } = turnPartsAt(chain, row);
  const seq = partOf.get(row.seq) ?? besides.get(row.seq);
  const fork = seq !== undefined ? commitAt(chain, seq) : row.forked ? row : undefined;
  if (fork) {
    const isAnswer = fork.seq !== row.seq;
    return { fork: fork.id, answer: isAnswer ? row.id : answerTo(chain, fork), original: turnBeside(chain, fork)?.id ?? null };
  }
  const beside = siblingsOf(chain, row).filter((one) => one.forked && turnBeside(chain, one)?.seq === row.seq);
  const newest = beside.at(-1);
  return { fork: newest?.id ?? null, answer: newest ? answerTo(chain, newest) : null, original: row.id };
}

/** The newest commit with an answer to the prompt of a fork. */
function answerTo(chain: ReadChain, fork: ContextRow): ContextId | null {
  const { partOf, besides } = turnPartsAt(chain, fork);
  const found = [...partOf, ...besides].flatMap(([seq, of]) => (of === fork.seq ? [seq] : []));
  return found.length > 0 ? commitAt(chain, Math.max(...found) as CommitSeq).id : null;
}

/** The commit that stands for a turn in a comparison: the answer, if the commit is a prompt that was answered. */
export const withAnswer = (chain: ReadChain, id: ContextId): ContextId => {
  const row = findCommit(chain, id);
  return (row.forked ? answerTo(chain, row) : null) ?? row.id;
};

/** The commits with the same parent, in recorded order. Commits without a parent are compared within their session. */
function siblingsOf(chain: ReadChain, row: ContextRow): ContextRow[] {
  if (row.parent !== null) return findChildren(chain, commitAt(chain, row.parent)).sort((a, b) => a.seq - b.seq);
  const roots = 'SELECT seq FROM commits WHERE +project = ? AND parent IS NULL AND sessionId IS ? ORDER BY seq';
  return chain.db.column<CommitSeq>(roots, chain.project, row.sessionId).map((seq) => commitAt(chain, seq));
}

/** The turn of the original branch in whose place a fork stands. A fork that changed an earlier turn copies the turns after it. */
function turnBeside(chain: ReadChain, fork: ContextRow): ContextRow | undefined {
  const { states, besides, partOf } = turnPartsAt(chain, fork);
  const copied: ContextRow[] = [fork];
  for (let at = fork; at.parent !== null; ) {
    const before = commitAt(chain, at.parent);
    if (!before.forked || partOf.has(at.seq)) break;
    copied.push(before);
    at = before;
  }
  let original: ContextRow | undefined;
  for (const copy of copied.reverse()) {
    const near: ContextRow[] = original === undefined ? siblingsOf(chain, copy) : findChildren(chain, original);
    const others = near.filter((one) => !one.forked && !states.has(one.seq) && !besides.has(one.seq) && one.type === copy.type);
    original = mostAlike(chain, copy, others);
    if (!original) return undefined;
  }
  return original;
}

/** The commit that shares most entries with another one, else the one that was recorded first. */
function mostAlike(chain: ReadChain, copy: ContextRow, others: readonly ContextRow[]): ContextRow | undefined {
  if (others.length < 2) return others[0];
  const own = entryNames(chain, copy);
  const scored = others.map((row) => ({ row, score: entryNames(chain, row).filter((name) => own.includes(name)).length }));
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).row;
}

/** The names and the first words of the entries of a commit. */
function entryNames(chain: ReadChain, commit: ContextRow): string[] {
  const { entries } = readOutline(chain, commit);
  const prompt = entries.find(({ role, kind, hidden }) => !hidden && role === 'user' && kind === 'text');
  return [...entries.map(({ key }) => key as string), ...(prompt?.head ?? '').toLowerCase().split(/\s+/)];
}
