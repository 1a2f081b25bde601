import { findCommit, type ReadChain } from '../chain/index.js';
import { type CommitPlace, type InputOf, nearTurns } from '../contract/index.js';
import { branchCommits, branchStart, type Forest, type ForestNode, forestAt, nodesOf, pathTo, turnsOn } from './forest.js';
import { mainTip, readSession, tipsOf } from './list.js';
import { branchMarks } from './marks.js';

/**
 * The session, branch and turn of a commit, each with its siblings. Sessions may begin with the same turns, which belong to the session
 * that was imported first. `session` is the one that the person has selected, if it also contains the commit. @throws NOT_FOUND
 */
export function findPlace(chain: ReadChain, { id, session: chosen, turns: asked }: InputOf<'session.place'>): Omit<CommitPlace, 'handed'> {
  const { seq, id: full } = findCommit(chain, id);
  const forest = forestAt(chain, seq);
  const node = forest.at.get(seq);
  const owner = node && forest.keyOf(node);
  const key = node && chosen !== undefined && chosen !== owner && goesThrough(forest, chosen, node) ? chosen : owner;
  const row = key === undefined ? undefined : readSession(chain, key);
  const own = node ? (key === undefined ? findFamily(forest, node) : nodesOf(forest, key)) : [];
  const tips = tipsOf(forest, own);
  const main = mainTip(forest, own);
  const through = node ? tips.filter((end) => isOn(forest, node, end, false)) : [];
  const isOnMain = node !== undefined && main !== undefined && isOn(forest, node, main, false);
  const tip = isOnMain ? main : node && (tips.find((end) => isOn(forest, node, end, true)) ?? through[0] ?? node);
  const titles = branchMarks(chain);
  const mainPath = new Set(pathTo(forest, main));
  const branchOf = (end: ForestNode): CommitPlace['branches'][number] & { named: boolean } => {
    const start = branchStart(forest, end, mainPath);
    const mark = titles.get(start.seq);
    const title = mark?.title ?? (end === main ? 'main' : (start.summary ?? end.summary ?? end.id));
    return { tip: end.id, title, main: end === main, archived: (mark?.archivedAt ?? null) !== null, named: (mark?.title ?? null) !== null };
  };
  const whole = pathTo(forest, tip);
  const path = turnsOn(forest, whole).filter((one) => forest.subagentOf.get(one.seq) === forest.subagentOf.get(tip?.seq ?? one.seq));
  const later = Map.groupBy(whole, ({ seq }) => forest.parts.partOf.get(seq));
  const first = forest.parts.partOf.get(seq) ?? seq;
  const place = path.findIndex((one) => one.seq === first);
  const middle = (place < 0 ? path.length : place) - Math.floor(nearTurns / 2);
  const { offset, limit } = asked ?? { offset: Math.max(0, Math.min(middle, path.length - nearTurns)), limit: nearTurns };
  // A turn is named by its last commit, which holds the answer to its prompt.
  const turns = path.slice(offset, offset + limit).map((one, at) => {
    const parts = [one, ...(later.get(one.seq) ?? [])];
    const last = parts.pop() ?? one;
    return { commit: last.id, number: offset + at + 1, title: one.summary ?? one.id, ...(parts.length > 0 && { parts: parts.map(({ id }) => id) }) };
  });
  const here = tip && branchOf(tip);
  return {
    sessionId: row?.sessionId ?? null,
    title: row?.title ?? null,
    agent: row?.agent ?? null,
    repository: row?.repository ?? null,
    ...(row?.parentSessionId !== undefined && { parentSessionId: row.parentSessionId }),
    branch: here ? { tip: here.tip, title: here.title, main: here.main, named: here.named } : { tip: full, title: full, main: false, named: false },
    branches: tips.map(branchOf).map(({ named: _, ...branch }) => branch),
    turn: place < 0 ? null : { number: place + 1, of: path.length },
    turnCount: path.length,
    turns,
  };
}

/** Whether a branch of a session descends from a commit. */
const goesThrough = (forest: Forest, session: string, node: ForestNode): boolean =>
  tipsOf(forest, nodesOf(forest, session)).some((tip) => isOn(forest, node, tip, false));

/** Whether a branch end descends from a commit; `sameRun`: without leaving its run. */
function isOn({ at }: Forest, node: ForestNode, end: ForestNode, sameRun: boolean): boolean {
  for (let one: ForestNode | undefined = end; one; one = one.parent === null ? undefined : at.get(one.parent)) {
    if (one === node) return true;
    if (sameRun && one.run !== node.run) return false;
  }
  return false;
}

/** All commits with the same root: a chain that belongs to no session. */
function findFamily(forest: Forest, node: ForestNode): ForestNode[] {
  const [root] = pathTo(forest, node);
  return root ? branchCommits(forest, root).sort((a, b) => a.seq - b.seq) : [];
}
