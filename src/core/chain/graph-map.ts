import { crc32 } from 'node:zlib';
import type { CommitSeq } from '../base/index.js';
import { type GraphMap, graphMarks, type InputOf } from '../contract/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import type { ReadChain, WriteChain } from './chain.js';
import { familiesState, overlaps, runList } from './families.js';
import { readCommits } from './family-commits.js';
import { startsOf, titlesOf } from './graph.js';
import { type GroupPlace, layoutOf, type RowGroup } from './graph-layout.js';
import { endStates } from './graph-nodes.js';
import { hidingState } from './hidden.js';
import { kept, recalled } from './kept.js';

/**
 * A short form of the whole graph, in the order of `graph`. With it the window can fold, filter and draw a graph of any length. The facts of each group
 * of rows are kept, so that after a new commit only those of its group are read again. Those of the whole graph are stored while the project is idle.
 */
export function graphMap(chain: ReadChain, { filter = {}, together = false, text = '' }: InputOf<'context.graphMap'>): GraphMap {
  const isWhole = together && text === '' && Object.values(filter).every((value) => value === undefined);
  const stored = isWhole ? storedWhole(chain) : undefined;
  if (stored) return stored;
  const { total, groups } = layoutOf(chain, filter, together);
  const lists = joinedStretches(readGroups(chain, groups), total);
  return { total, ...lists, ...(text !== '' && placesWith(chain, groups, text.toLowerCase())) };
}

/** The stretches of the whole graph, if it has not changed since they were stored. */
function storedWhole(chain: ReadChain): GraphMap | undefined {
  const state = readState(chain);
  const part = readDerivedProgress(chain, progress) === state ? storedPart(chain, { name: wholeName, state: String(state) }) : undefined;
  if (!part) return undefined;
  const total = part.rows.reduce((sum, count) => sum + count, 0);
  return { total, ...joinedStretches([part], total) };
}

/** The name under which the stretches of the whole graph are stored. Groups have names of JSON. */
const wholeName = 'whole';

/** The stretches of a graph with this number of rows. */
function joinedStretches(parts: readonly Part[], total: number) {
  const map = stretches(Math.max(rowsPerStretch, Math.ceil(total / stretchesAtLength)));
  for (const { rows, lanes, tokens, marks } of parts)
    for (let at = 0; at < rows.length; at++) map.add(rows[at] as number, lanes[at] as number, tokens[at] as number, marks[at] as number);
  return map.lists;
}

/** The most rows of a stretch in a short graph, and the number of stretches into which a long one is divided, beside those of its branches. */
const rowsPerStretch = 16;
const stretchesAtLength = 2_000;

/** Joins neighboring rows with the same lane and marks to stretches of at most `most` rows. */
function stretches(most: number) {
  const lists = { rows: [] as number[], lanes: [] as number[], tokens: [] as number[], marks: [] as number[] };
  const { rows, lanes, tokens, marks } = lists;
  const add = (count: number, lane: number, context: number, mark: number): void => {
    const last = rows.length - 1;
    const joined = (rows[last] ?? most) + count;
    const isSame = joined <= most && lanes[last] === lane && marks[last] === mark;
    const at = isSame ? last : rows.length;
    rows[at] = isSame ? joined : count;
    lanes[at] = lane;
    tokens[at] = Math.max(tokens[at] ?? context, context);
    marks[at] = mark;
  };
  return { lists, add };
}

const kind = 'graph map';

/** The facts about the rows of groups: kept, stored, or read from the commits. */
function readGroups(chain: ReadChain, groups: readonly RowGroup[]): Part[] {
  const places = groups.map((group) => ({ group, ...group.place() }));
  const unknown = places.filter(({ name, state }) => recalled(chain, kind, name, state) === undefined);
  const stored = storedParts(chain, unknown, !graphMapIsDue(chain));
  return places.map(({ group, name, state }) => kept(chain, kind, name, state, () => stored.get(name) ?? readPart(chain, group), bytesOf));
}

const bytesOf = ({ lanes }: Part): number => lanes.length * bytesPerStretch;

/** Whether the stored facts about the whole graph may be out of date. */
export const graphMapIsDue = (chain: ReadChain): boolean => readDerivedProgress(chain, progress) !== readState(chain);

/** The row of `derivedProgress` with the state of the project whose graph is stored. */
const progress = 'graph map';
/** The groups per transaction. */
const groupsAtOnce = 50;

/** A number that changes with the commits, their links, what is hidden, and the imported files. */
function readState(chain: ReadChain): number {
  const sql = `SELECT ${hidingState} || '/' || (SELECT COUNT(*) || '/' || IFNULL(MAX(no), 0) || '/' || TOTAL(size) FROM source WHERE project = ?)`;
  const more = chain.db.value<string>(sql, chain.project);
  return crc32(`${partsVersion} ${familiesState(chain)} ${more}`);
}

/** Stores the facts about the groups of the whole graph that have changed, in short transactions. Yields after each. */
export function* storeGraphMap(chain: WriteChain): Generator<undefined, void> {
  if (!graphMapIsDue(chain)) return;
  const state = readState(chain);
  const { total, groups } = layoutOf(chain, {}, true);
  const ends = endStates(chain);
  const stated = groups.map((group) => ({ group, name: group.place().name, state: storedState(group, ends) }));
  const { stale, gone } = changedGroups(chain, stated);
  chain.db.transaction(() => forgetGroups(chain, gone));
  for (let at = 0; at < stale.length; at += groupsAtOnce) {
    // What lacks its content is read again at each question.
    const some = stale.slice(at, at + groupsAtOnce).filter(({ group }) => !group.picture().parts.isIncomplete);
    chain.db.transaction(() => {
      for (const { group, ...place } of some) storeGroup(chain, place, readPart(chain, group));
    });
    yield;
  }
  // Groups that lack content are not stored.
  const isComplete = changedGroups(chain, stated).stale.length === 0;
  const whole = isComplete ? partOf(joinedStretches(readGroups(chain, groups), total)) : undefined;
  chain.db.transaction(() => {
    if (whole) storeGroup(chain, { name: wholeName, state: String(state) }, whole);
    setDerivedProgress(chain, progress, state);
  });
}

const partOf = ({ rows, lanes, tokens, marks }: Record<keyof Part, number[]>): Part => ({
  rows: Uint32Array.from(rows),
  lanes: Uint32Array.from(lanes),
  tokens: Float64Array.from(tokens),
  marks: Uint8Array.from(marks),
});

function readPart(chain: ReadChain, { families, picture }: RowGroup): Part {
  const { lanes } = picture();
  const all = readCommits(chain, families);
  const rows = new Map(all.map((row) => [row.seq, row] as const));
  const children = new Map<CommitSeq, number>();
  for (const { parent } of all) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  const subagents = 'SELECT s.context FROM commits c CROSS JOIN started s ON s.context = c.seq WHERE c.run IN (SELECT value FROM json_each(?))';
  const started = new Set(chain.db.column<CommitSeq>(subagents, runList(families)));
  const map = stretches(rowsPerStretch);
  for (const { seq, lane, edges } of lanes.rows(0, lanes.total)) {
    const { type = '', errors = 0, forked = false, contextTokens = 0 } = rows.get(seq) ?? {};
    const isEnd = (children.get(seq) ?? 0) === 0;
    const isAlone = children.get(seq) === 1 && edges.every((edge) => edge.fromLane === edge.toLane);
    const isPlain = type === 'delta' && isAlone && !forked && !started.has(seq) && errors === 0;
    const mark =
      (type === 'compaction' ? graphMarks.compaction : 0) |
      (errors > 0 ? graphMarks.errors : 0) |
      (isEnd || forked ? graphMarks.end : 0) |
      (isPlain ? graphMarks.plain : 0);
    map.add(1, lane, contextTokens, mark);
  }
  return partOf(map.lists);
}

/** The most positions in an answer. */
const mostPlaces = 10_000;

/** The positions of the first rows whose title, branch name, id, template, principal, type or tags contain the text. */
function placesWith(chain: ReadChain, groups: readonly RowGroup[], needle: string): Pick<GraphMap, 'places' | 'hasMore'> {
  const matching = chain.db.rows<[seq: CommitSeq, run: number]>(
    `SELECT seq, run FROM commits WHERE +project = ?
        AND instr(lower(IFNULL(summary, '') || char(10) || id || char(10) || template || char(10) || IFNULL(principal, '') || char(10) || type
          || char(10) || IFNULL(tags, '')), ?) > 0`,
    [chain.project, needle],
  );
  const found = new Set(matching.map(([seq]) => seq));
  const mayContain = groupsWith(chain, new Set(matching.map(([, run]) => run)), needle);
  const places: number[] = [];
  let from = 0;
  for (const group of groups) {
    if (places.length > mostPlaces) break;
    if (mayContain(group)) for (const at of placesIn(chain, group, found, needle)) places.push(from + at);
    from += group.total;
  }
  return { places: places.slice(0, mostPlaces), ...(places.length > mostPlaces && { hasMore: true as const }) };
}

/** Says which groups may have a row with the text: those with a matching run, or with a name of a branch or session that contains it. */
function groupsWith(chain: ReadChain, runs: ReadonlySet<number>, needle: string): (group: RowGroup) => boolean {
  // SQLite compares other letters as they are written.
  if (!/^[ -~]*$/.test(needle)) return () => true;
  const named = chain.db
    .all<{ run: number | null; session: string | null; title: string }>(
      `SELECT (SELECT run FROM commits WHERE seq = m.context) AS run, NULL AS session, title FROM branchMark m WHERE m.project = :project AND title IS NOT NULL
       UNION ALL SELECT NULL, sessionId, title FROM sessionMark WHERE project = :project AND title IS NOT NULL
       UNION ALL SELECT NULL, sessionId, title FROM source WHERE project = :project AND title IS NOT NULL`,
      { project: chain.project },
    )
    .filter(({ title }) => title.toLowerCase().includes(needle));
  const allRuns = new Set([...runs, ...named.flatMap(({ run }) => run ?? [])]);
  const sessions = new Set(named.flatMap(({ session }) => session ?? []));
  return ({ families }) => families.some((family) => family.runs.some((run) => allRuns.has(run)) || overlaps(family.sessions, sessions));
}

/** The positions in a group of the rows of found commits, and of the branch ends whose title contains the text. */
function placesIn(chain: ReadChain, { total, families, picture }: RowGroup, found: ReadonlySet<CommitSeq>, needle: string): number[] {
  const { lanes, parts } = picture();
  const drawn = lanes.rows(0, total);
  const inner = new Set(readCommits(chain, families).map(({ parent }) => parent));
  const ends = drawn.filter(({ seq }) => !inner.has(seq));
  const titled = new Set(
    [...titlesOf(chain, new Map(startsOf(ends, parts)))].flatMap(([seq, title]) => (title?.toLowerCase().includes(needle) ? [seq] : [])),
  );
  return drawn.flatMap(({ seq }, at) => (found.has(seq) || titled.has(seq) ? [at] : []));
}

/** The facts about the rows of a group, as parallel lists of stretches: neighboring rows with the same lane and marks. */
interface Part {
  /** The number of rows of each stretch. */
  readonly rows: Uint32Array;
  readonly lanes: Uint32Array;
  /** The largest context in each stretch. */
  readonly tokens: Float64Array;
  readonly marks: Uint8Array;
}
const bytesPerStretch = 17;

/** Increase this number when a fact changes its meaning, so that stored ones are made again. */
const partsVersion = 2;

/** What the stored facts about a group were made from: with its rows also the ends of imported files, which belong to no commit. */
const storedState = ({ place, families }: RowGroup, ends: ReadonlyMap<number, string>): string =>
  [partsVersion, place().state, ...families.flatMap(({ runs }) => runs.map((run) => ends.get(run) ?? ''))].join(' ');

/** The stored facts about those of these groups that have not changed since, by name. With `areCurrent`, no end of an imported file has. */
function storedParts(
  chain: ReadChain,
  asked: readonly ({ readonly group: RowGroup } & GroupPlace)[],
  areCurrent: boolean,
): ReadonlyMap<string, Part> {
  if (asked.length === 0) return new Map();
  const sql = 'SELECT name, state, data FROM graphGroup WHERE project = ? AND name IN (SELECT value FROM json_each(?))';
  const names = JSON.stringify(asked.map(({ name }) => name));
  const rows = chain.db.all<{ name: string; state: string; data: Uint8Array }>(sql, chain.project, names);
  if (rows.length === 0) return new Map();
  const known = new Map(rows.map((row) => [row.name, row] as const));
  const ends = areCurrent ? undefined : endStates(chain);
  return new Map(
    asked.flatMap(({ group, name, state }): [string, Part][] => {
      const row = known.get(name);
      const isSame = ends ? row?.state === storedState(group, ends) : row?.state.startsWith(`${partsVersion} ${state} `);
      return row && isSame ? [[name, partFrom(row.data)]] : [];
    }),
  );
}

/** Stored facts with this name and state. */
function storedPart({ db, project }: ReadChain, { name, state }: GroupPlace): Part | undefined {
  const data = db.value<Uint8Array>('SELECT data FROM graphGroup WHERE project = ? AND name = ? AND state = ?', project, name, state);
  return data && partFrom(data);
}

function partFrom(data: Uint8Array): Part {
  const count = Math.floor(data.length / bytesPerStretch);
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  return {
    tokens: new Float64Array(bytes, 0, count),
    lanes: new Uint32Array(bytes, 8 * count, count),
    rows: new Uint32Array(bytes, 12 * count, count),
    marks: new Uint8Array(bytes, 16 * count, count),
  };
}

const viewBytes = ({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array | Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Stores the facts about a group. */
function storeGroup({ db, project }: WriteChain, { name, state }: GroupPlace, { tokens, lanes, rows, marks }: Part): void {
  const data = Buffer.concat([tokens, lanes, rows, marks].map(viewBytes));
  db.run('INSERT OR REPLACE INTO graphGroup (project, name, state, data) VALUES (?, ?, ?, ?)', project, name, state, data);
}

/** Of all groups, those whose stored facts are out of date; and the names of stored groups that are gone. */
function changedGroups<Group extends GroupPlace>({ db, project }: ReadChain, groups: readonly Group[]) {
  const states = new Map(db.rows<[name: string, state: string]>('SELECT name, state FROM graphGroup WHERE project = ?', project));
  const names = new Set(groups.map(({ name }) => name));
  return {
    stale: groups.filter(({ name, state }) => states.get(name) !== state),
    gone: [...states.keys()].filter((name) => !names.has(name)),
  };
}

/** Forgets the stored facts about groups. */
const forgetGroups = ({ db, project }: WriteChain, names: readonly string[]): void =>
  void db.run('DELETE FROM graphGroup WHERE project = ? AND name IN (SELECT value FROM json_each(?))', project, JSON.stringify(names));
