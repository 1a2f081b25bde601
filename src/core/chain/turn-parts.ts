// Which commits are one turn: a prompt that was edited here, and what an agent or a model answered to it.
import { type CommitSeq, orUndefined } from '../base/index.js';
import type { GraphRow } from '../contract/index.js';
import { type DeltaOutline, promptAt } from '../formats/index.js';
import { type ContextRow, earlierParent, type ReadChain } from './chain.js';
import { grownCommits, openingOf } from './continued-turns.js';
import { type Families, type Family, familiesOf } from './families.js';
import { commitsOf } from './family-commits.js';
import { commitAt } from './find.js';
import { kept } from './kept.js';
import { readOutline, type StoredDelta } from './outline.js';

/** The turns that consist of several commits. A row and a number belong to a turn, not to each of its commits. */
export interface TurnParts {
  /** The fork whose prompt a commit answers, if that fork is an ancestor. */
  readonly partOf: ReadonlyMap<CommitSeq, CommitSeq>;
  /** The fork whose prompt a commit repeats with its answer, beside the fork. Older versions stored answers like this. */
  readonly besides: ReadonlyMap<CommitSeq, CommitSeq>;
  /** Commits without a row of their own: another commit of their turn has it, or they hold only the state before a prompt. */
  readonly folded: ReadonlySet<CommitSeq>;
  /** Commits for the state before an edited prompt, which older versions stored. They are no turns. */
  readonly states: ReadonlySet<CommitSeq>;
  /** Commits in which nobody typed a prompt: an agent continued by itself after a compaction, or the file was imported within a turn. */
  readonly continuations: ReadonlySet<CommitSeq>;
  /** Whether content was missing, so that another reading may find more. */
  readonly isIncomplete: boolean;
}

type Node = Pick<ContextRow, 'seq' | 'parent' | 'type' | 'sessionId'> & { readonly forked: number | boolean };

/** A fork that ends with a prompt which nobody has answered in it. */
interface Asked {
  readonly head: string;
  /** The visible entries before the prompt. */
  readonly before: string;
}

/** The runs with a fork that ends with a prompt. In other runs every commit is a row of its own, unless an agent resumed a fork. */
export function askedRuns(chain: ReadChain, { state }: Pick<Families, 'state'>): ReadonlySet<number> {
  const read = (): ReadonlySet<number> => {
    const sql = 'SELECT run, artifact, format FROM commits WHERE forked = 1 AND project = ?';
    const forks = chain.db.all<StoredDelta & { readonly run: number }>(sql, chain.project);
    return new Set(forks.filter((fork) => endsWithPrompt(chain, fork)).map(({ run }) => run));
  };
  return kept(chain, 'edited prompts', '', state, read, ({ size }) => size * bytesPerCommit);
}

function endsWithPrompt(chain: ReadChain, fork: StoredDelta): boolean {
  const outline = orUndefined(() => readOutline(chain, fork));
  // Content that is missing here may hold a prompt.
  if (!outline) return true;
  const last = outline.entries.findLast(({ hidden }) => !hidden);
  return last !== undefined && promptAt([last]) === 0;
}

const bytesPerCommit = 64;

/** The turn parts of a family of commits, which may be kept. They depend on no other family. */
function turnPartsOf(chain: ReadChain, family: Family): TurnParts {
  const { runs, commits, last } = family;
  const resumed = chain.db.value<number>('SELECT COUNT(*) FROM resumed WHERE project = ?', chain.project);
  const bytesOf = ({ isIncomplete }: TurnParts): number => (isIncomplete ? Number.POSITIVE_INFINITY : commits * bytesPerCommit);
  return kept(chain, 'turn parts', String(runs[0]), `${commits}/${last}/${resumed}`, () => turnPartsIn(chain, commitsOf(chain, [family])), bytesOf);
}

/** The turn parts of the family of a commit. */
export function turnPartsAt(chain: ReadChain, { run }: { readonly run: number }): TurnParts {
  const family = familiesOf(chain).of(run);
  return family ? turnPartsOf(chain, family) : turnPartsIn(chain, []);
}

/** `turnFacts` of a commit. What other commits it depends on is read only where a prompt was edited here or a fork was resumed. */
export function turnFactsAt(chain: ReadChain, row: { readonly seq: CommitSeq; readonly parent: CommitSeq | null; readonly run: number }) {
  const parts = isApart(chain, row.run) ? turnPartsIn(chain, nodesAt(chain, [row.parent, row.seq])) : turnPartsAt(chain, row);
  return turnFacts(chain, row.seq, parts);
}

/** Whether nothing on the way to the root of a run was edited here, and no fork was resumed. Then a turn depends on its commit and the one before. */
const isApart = ({ db, project }: ReadChain, run: number): boolean =>
  db.value(
    `WITH RECURSIVE path(run) AS (
       SELECT :run UNION SELECT c.run FROM path JOIN firstParentRun r ON r.no = path.run JOIN commits c ON c.seq = r.origin)
     SELECT NOT EXISTS (SELECT 1 FROM commits WHERE forked = 1 AND project = :project AND run IN path)
        AND NOT EXISTS (SELECT 1 FROM resumed WHERE project = :project)`,
    { run, project },
  ) === 1;

/** The turn of a commit, where the commit is not the whole of it: the edited prompt that it answers, or that nobody typed a prompt. */
export function turnFacts(chain: ReadChain, seq: CommitSeq, { partOf, besides, continuations }: TurnParts): Pick<GraphRow, 'fork' | 'continues'> {
  const asked = partOf.get(seq) ?? besides.get(seq);
  const fork = asked === undefined ? undefined : commitAt(chain, asked);
  return {
    ...(fork && { fork: { commit: fork.id, parent: fork.parentId, ...(fork.summary !== null && fork.intact && { title: fork.summary }) } }),
    ...(continuations.has(seq) && { continues: true as const }),
  };
}

const nodesAt = ({ db }: ReadChain, seqs: readonly (CommitSeq | null)[]): Node[] =>
  db.all<Node>(
    `SELECT seq, ${earlierParent}, type, forked, sessionId FROM commits WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY depth`,
    JSON.stringify(seqs),
  );

/** The turn parts of whole families of commits, in recorded order. */
export function turnPartsIn(chain: ReadChain, nodes: Iterable<Node>): TurnParts {
  const parts = new Parts(chain);
  for (const node of nodes) parts.add(node);
  return parts;
}

class Parts implements TurnParts {
  readonly partOf = new Map<CommitSeq, CommitSeq>();
  readonly besides = new Map<CommitSeq, CommitSeq>();
  readonly folded = new Set<CommitSeq>();
  readonly states = new Set<CommitSeq>();
  readonly continuations = new Set<CommitSeq>();
  isIncomplete = false;
  readonly #asked = new Map<CommitSeq, Asked>();
  /** The fork whose turn goes on at a commit. */
  readonly #turnAt = new Map<CommitSeq, CommitSeq>();
  readonly #compactions = new Set<CommitSeq>();
  readonly #children = new Map<CommitSeq, number>();
  /** The forks that an agent resumed: by the session's id, and by the fork's parent. */
  readonly #bySession: ReadonlyMap<string, CommitSeq>;
  readonly #byParent = new Map<CommitSeq | null, CommitSeq[]>();
  readonly #grown: ReadonlySet<CommitSeq>;
  readonly #chain: ReadChain;

  constructor(chain: ReadChain) {
    this.#chain = chain;
    this.#grown = grownCommits(chain);
    const sql = 'SELECT r.sessionId, r.context, c.parent FROM resumed r JOIN commits c ON c.seq = r.context WHERE r.project = ? AND c.forked = 1';
    const rows = chain.db.rows<[sessionId: string, context: CommitSeq, parent: CommitSeq | null]>(sql, chain.project);
    this.#bySession = new Map(rows.map(([sessionId, context]) => [sessionId, context] as const));
    for (const [, context, parent] of rows) this.#byParent.set(parent, [...(this.#byParent.get(parent) ?? []), context]);
  }

  /** Adds a commit after its parent. */
  add(node: Node): void {
    const { seq, parent, type } = node;
    if (this.#grown.has(seq)) this.continuations.add(seq);
    if (type === 'compaction') this.#compactions.add(seq);
    this.#countChild(parent);
    if (type === 'snapshot') return;
    const turn = parent === null ? undefined : this.#turnAt.get(parent);
    if (type === 'compaction') {
      if (turn !== undefined) this.#turnAt.set(seq, turn);
      return;
    }
    const asked = node.forked ? this.#ask(seq) : undefined;
    if (asked) {
      this.#asked.set(seq, asked);
      this.#turnAt.set(seq, seq);
    } else if (parent !== null && (turn !== undefined || this.#compactions.has(parent))) this.#continue(node, parent, turn);
    if (!asked && turn === undefined) this.#fromOlderVersion(node);
  }

  /** A commit after an edited prompt or a compaction: the rest of that turn, or a turn of its own. */
  #continue({ seq }: Node, parent: CommitSeq, turn: CommitSeq | undefined): void {
    // The answer to a slash command begins with the text that the agent put in its place.
    const isCommand = parent === turn && this.#asked.get(turn)?.head.startsWith('/');
    const typed = isCommand ? undefined : openingOf(this.#outline(seq));
    const isCompacted = this.#compactions.has(parent);
    if (turn === undefined || (typed !== undefined && !(isCompacted && typed === this.#asked.get(turn)?.head))) {
      if (isCompacted && typed === undefined) this.continuations.add(seq);
      return;
    }
    this.partOf.set(seq, turn);
    this.#turnAt.set(seq, turn);
    if (parent === turn || isCompacted) this.folded.add(turn);
    else if (this.#children.get(parent) === 1) this.folded.add(parent);
  }

  /** A part of a turn that is continued in two ways has a row of its own. */
  #countChild(parent: CommitSeq | null): void {
    if (parent === null || !this.#turnAt.has(parent)) return;
    const count = (this.#children.get(parent) ?? 0) + 1;
    this.#children.set(parent, count);
    if (count > 1 && this.partOf.has(parent)) this.folded.delete(parent);
  }

  #fromOlderVersion(node: Node): void {
    const { seq, parent, sessionId, forked } = node;
    if (forked) return;
    const fork = sessionId === null ? undefined : this.#bySession.get(sessionId);
    if (fork !== undefined && fork < seq && this.#isStateOf(parent, fork) && openingOf(this.#outline(seq)) === this.#asked.get(fork)?.head) {
      this.besides.set(seq, fork);
      this.folded.add(fork);
      return;
    }
    const isState = (this.#byParent.get(parent) ?? []).some((one) => one < seq && this.#beforePrompt(one) === keysOf(this.#outline(seq)));
    if (!isState) return;
    this.states.add(seq);
    this.folded.add(seq);
  }

  #isStateOf(parent: CommitSeq | null, fork: CommitSeq): boolean {
    const own = commitAt(this.#chain, fork).parent;
    return parent === own || (parent !== null && this.states.has(parent) && commitAt(this.#chain, parent).parent === own);
  }

  #beforePrompt(fork: CommitSeq): string | undefined {
    const before = this.#asked.get(fork)?.before;
    return before === '' ? undefined : before;
  }

  #ask(seq: CommitSeq): Asked | undefined {
    const visible = this.#outline(seq).entries.filter(({ hidden }) => !hidden);
    const last = visible.at(-1);
    if (!last || promptAt([last]) !== 0) return undefined;
    const before = visible.findLastIndex((entry) => promptAt([entry]) !== 0);
    return { head: last.head ?? '', before: joined(visible.slice(0, before + 1)) };
  }

  /** The outline of a commit. One whose content is missing here counts as empty, and is read again next time. */
  #outline(seq: CommitSeq): DeltaOutline {
    const commit = commitAt(this.#chain, seq);
    const outline = orUndefined(() => readOutline(this.#chain, commit));
    this.isIncomplete ||= outline === undefined;
    return outline ?? { entries: [], elisions: [] };
  }
}

const joined = (entries: DeltaOutline['entries']): string => entries.map(({ key }) => key).join('\n');
const keysOf = ({ entries }: DeltaOutline): string => joined(entries.filter(({ hidden }) => !hidden));

/** Where the graph draws a commit: below which parent, and whether as the answer to a prompt that was edited here. */
export interface Drawn {
  readonly parent: CommitSeq | null;
  readonly isAnswer: boolean;
}

/**
 * The place of each commit that has a row, for these commits, in recorded order. A turn has one row: a prompt that was edited here has the row of
 * its answer. A prompt whose answers are not shown keeps its row.
 */
export function placesOf(
  shown: readonly Pick<Node, 'seq' | 'parent'>[],
  { partOf, besides, folded, states }: TurnParts,
): ReadonlyMap<CommitSeq, Drawn> {
  const parentOf = new Map(shown.map(({ seq, parent }) => [seq, parent] as const));
  const represented = new Set(states);
  for (const { seq, parent } of shown) {
    const fork = partOf.get(seq) ?? besides.get(seq);
    if (fork !== undefined) represented.add(fork);
    if (partOf.has(seq) && parent !== null && partOf.has(parent)) represented.add(parent);
  }
  const hasNoRow = (seq: CommitSeq): boolean => folded.has(seq) && represented.has(seq);
  const places = new Map<CommitSeq, Drawn>();
  for (const { seq, parent } of shown) {
    if (hasNoRow(seq)) continue;
    let above = parent;
    while (above !== null && hasNoRow(above)) above = parentOf.get(above) ?? null;
    places.set(seq, { parent: above, isAnswer: partOf.has(seq) || besides.has(seq) });
  }
  return places;
}
