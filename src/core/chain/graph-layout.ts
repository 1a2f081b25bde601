// The layout of a graph: groups of rows that no lane leaves, so that a page reads and lays out only the groups that it shows.
import { once } from '../base/index.js';
import type { InputOf } from '../contract/index.js';
import type { ReadChain } from './chain.js';
import { type Families, type Family, familiesOf, overlaps, subagentsIn } from './families.js';
import { drawnNodes, endsIn, type FileEnds, matchingTrees, nodesOf } from './graph-nodes.js';
import { type Hidden, hiddenBy, hiddenIn, hidingState } from './hidden.js';
import { kept } from './kept.js';
import { type LaneRow, type Lanes, layOut } from './lanes.js';
import type { TipFilter } from './read.js';
import { type TurnNumbers, turnNumbers } from './turn-numbers.js';
import { askedRuns, type TurnParts, turnPartsIn } from './turn-parts.js';

export type GraphQuery = InputOf<'context.graph'>;

/** The rows of families that stand together: no lane leaves them. */
interface Picture {
  readonly lanes: Lanes;
  readonly turnOf: TurnNumbers;
  readonly parts: TurnParts;
}

/** Neighboring rows of a graph, and what is drawn in them. */
export interface RowGroup {
  readonly total: number;
  readonly families: readonly Family[];
  place(): GroupPlace;
  picture(): Picture;
}

/** A name of a group, and a text that changes with its rows. */
export interface GroupPlace {
  readonly name: string;
  readonly state: string;
}

/** A range of rows with the picture that they belong to. */
export type DrawnRows = Omit<Picture, 'lanes'> & { readonly rows: readonly LaneRow[] };

/** Forgets what is known of a project, because a repair has changed its commits. */
export const forgetGraph = ({ derived }: ReadChain): void => derived.clear();

/** The layout of the graph in groups of rows. Only the groups of a range are read and laid out. */
export function layoutOf(chain: ReadChain, { archived, ...filter }: NonNullable<GraphQuery['filter']>, together: boolean) {
  const families = familiesOf(chain);
  const hidden = hiddenBy(chain, families, { archived, session: filter.sessionId });
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const [resumed, asked] = [resumedSessions(chain), askedRuns(chain, families)];
  const view: View = { ...{ chain, filter, isFiltered, archived, together, hidden, resumed, asked }, ends: once(() => endsIn(chain)) };
  const among = isFiltered ? matchingFamilies(chain, families, filter) : families.all;
  const groups = (together ? groupsByFamily(view, among) : groupsByTime(view, among)).filter(({ total }) => total > 0);
  return {
    total: groups.reduce((sum, { total }) => sum + total, 0),
    groups,
    /** The groups of rows, in order; each is read when it is reached. */
    *rows(offset: number, limit: number): Generator<DrawnRows> {
      let from = 0;
      for (const group of groups) {
        if (from >= offset + limit) return;
        const first = Math.max(0, offset - from);
        if (first < group.total) {
          const { lanes, ...rest } = group.picture();
          yield { rows: lanes.rows(first, offset + limit - from - first), ...rest };
        }
        from += group.total;
      }
    },
  };
}

/** What one graph shows. */
interface View {
  readonly chain: ReadChain;
  readonly filter: TipFilter;
  readonly isFiltered: boolean;
  readonly archived: boolean | undefined;
  readonly together: boolean;
  readonly hidden: Hidden;
  /** The runs with prompts that were edited here. */
  readonly asked: ReadonlySet<number>;
  /** The ids under which agents continued sessions. */
  readonly resumed: ReadonlySet<string>;
  readonly ends: () => FileEnds;
}

/** One group for each family, that with the newest row first. */
function groupsByFamily(view: View, among: readonly Family[]): RowGroup[] {
  const sorted = among.map((family) => ({ ...measureFamilies(view, [family]), families: [family] }));
  return sorted.sort((a, b) => b.at - a.at || b.seq - a.seq).map(({ families, total }) => groupOf(view, families, total));
}

/** The number of rows of families, and the time and commit of the first. It is kept beside the picture, which takes much more memory. */
function measureFamilies(view: View, families: readonly Family[]): { readonly total: number; readonly at: number; readonly seq: number } {
  if (!view.isFiltered && families.every((family) => isPlain(view, family)))
    return families.reduce(
      (sum, { commits, newest, last }) => ({ total: sum.total + commits, at: Math.max(sum.at, newest), seq: Math.max(sum.seq, last) }),
      { total: 0, at: Number.NEGATIVE_INFINITY, seq: 0 },
    );
  const { name, state } = namePicture(view, families);
  const measure = (): ReturnType<typeof measureFamilies> => {
    const { total, newest } = pictureOf(view, families).lanes;
    return { total, at: newest?.at ?? 0, seq: newest?.seq ?? 0 };
  };
  return kept(view.chain, 'graph size', name, state, measure, () => state.length + bytesPerSize);
}

const bytesPerSize = 200;

/** Groups of families whose times overlap, newest first. */
function groupsByTime(view: View, among: readonly Family[]): RowGroup[] {
  const groups: { families: Family[]; oldest: number }[] = [];
  for (const family of among.toSorted((a, b) => b.newest - a.newest || b.last - a.last)) {
    const group = groups.at(-1);
    if (!group || family.newest < group.oldest) groups.push({ families: [family], oldest: family.oldest });
    else {
      group.families.push(family);
      group.oldest = Math.min(group.oldest, family.oldest);
    }
  }
  return groups.map(({ families }) => groupOf(view, families, measureFamilies(view, families).total));
}

const groupOf = (view: View, families: readonly Family[], total: number): RowGroup => ({
  total,
  families,
  place: () => namePicture(view, families),
  picture: () => pictureOf(view, families),
});

/** Whether every commit of a family has a row: nothing of it is hidden, and no prompt of it was edited here. */
const isPlain = ({ hidden, resumed, asked }: View, family: Family): boolean =>
  (family.forks === 0 || !family.runs.some((run) => asked.has(run))) && !hidden.families.has(family) && !overlaps(family.sessions, resumed);

const resumedSessions = (chain: ReadChain): ReadonlySet<string> =>
  new Set(chain.db.column<string>('SELECT sessionId FROM resumed WHERE project = ?', chain.project));

/** The families with a commit that matches a filter. */
function matchingFamilies(chain: ReadChain, families: Families, { sessionId, ...others }: TipFilter): readonly Family[] {
  const among = sessionId === undefined ? families.all : families.all.filter(({ sessions }) => sessions.has(sessionId));
  const fields = Object.entries(others).filter(([, value]) => value !== undefined);
  if (fields.length === 0) return among;
  const sql = `SELECT DISTINCT run FROM commits WHERE +project = ? AND ${fields.map(([field]) => `${field} = ?`).join(' AND ')}`;
  const runs = chain.db.column<number>(sql, chain.project, ...fields.map(([, value]) => value as string));
  const matching = new Set(runs.map(families.of));
  return among.filter((family) => matching.has(family));
}

const bytesPerCommit = 400;

/** The name of the picture of families, and its state: it changes when one of them has a new commit, or when what is hidden changes. */
function namePicture(view: View, families: readonly Family[]): GroupPlace {
  const { chain, filter, archived, together, hidden, resumed } = view;
  const sum = (of: (family: Family) => number): number => families.reduce((total, family) => total + of(family), 0);
  const last = families.reduce((most, family) => Math.max(most, family.last), 0);
  const marks = families.some((family) => hidden.families.has(family)) ? chain.db.value<string>(`SELECT ${hidingState}`) : '';
  return {
    name: JSON.stringify([families[0]?.runs[0], filter, archived, together]),
    state: JSON.stringify([families.length, sum(({ commits }) => commits), sum(({ runs }) => runs.length), last, resumed.size, marks]),
  };
}

/** The picture of families, which is kept. */
function pictureOf(view: View, families: readonly Family[]): Picture {
  const { name, state } = namePicture(view, families);
  const commits = families.reduce((sum, family) => sum + family.commits, 0);
  const bytesOf = ({ parts }: Picture): number => (parts.isIncomplete ? Number.POSITIVE_INFINITY : commits * bytesPerCommit);
  return kept(view.chain, 'graph', name, state, () => drawPicture(view, families), bytesOf);
}

function drawPicture({ chain, filter, isFiltered, together, hidden, ends }: View, families: readonly Family[]): Picture {
  const subagents = subagentsIn(chain, families);
  const all = nodesOf(chain, families, subagents, ends);
  const parts = turnPartsIn(chain, all);
  const gone = hiddenIn(chain, hidden, new Set(families.filter((family) => hidden.families.has(family))));
  const nodes = drawnNodes(gone.size === 0 ? all : all.filter(({ seq }) => !gone.has(seq)), parts);
  const lanes = layOut(isFiltered ? matchingTrees(nodes, filter) : nodes, { together });
  return { lanes, turnOf: turnNumbers(all, subagents, parts), parts };
}
