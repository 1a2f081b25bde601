// The facts about the rows of a graph in derived data, by group of rows.
import type { ReadChain, WriteChain } from './chain.js';
import type { GroupPlace, RowGroup } from './graph-layout.js';
import { endStates } from './graph-nodes.js';

/** The facts about the rows of a group, as parallel lists of stretches: neighboring rows with the same lane and marks. */
export interface Part {
  /** The number of rows of each stretch. */
  readonly rows: Uint32Array;
  readonly lanes: Uint32Array;
  /** The largest context in each stretch. */
  readonly tokens: Float64Array;
  readonly marks: Uint8Array;
}
export const bytesPerStretch = 17;

/** Increase this number when a fact changes its meaning, so that stored ones are made again. */
export const partsVersion = 2;

/** What the stored facts about a group were made from: with its rows also the ends of imported files, which belong to no commit. */
export const storedState = ({ place, families }: RowGroup, ends: ReadonlyMap<number, string>): string =>
  [partsVersion, place().state, ...families.flatMap(({ runs }) => runs.map((run) => ends.get(run) ?? ''))].join(' ');

/** The stored facts about those of these groups that have not changed since, by name. With `areCurrent`, no end of an imported file has. */
export function storedParts(
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
export function storedPart({ db, project }: ReadChain, { name, state }: GroupPlace): Part | undefined {
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
export function storeGroup({ db, project }: WriteChain, { name, state }: GroupPlace, { tokens, lanes, rows, marks }: Part): void {
  const data = Buffer.concat([tokens, lanes, rows, marks].map(viewBytes));
  db.run('INSERT OR REPLACE INTO graphGroup (project, name, state, data) VALUES (?, ?, ?, ?)', project, name, state, data);
}

/** Of all groups, those whose stored facts are out of date; and the names of stored groups that are gone. */
export function changedGroups<Group extends GroupPlace>({ db, project }: ReadChain, groups: readonly Group[]) {
  const states = new Map(db.rows<[name: string, state: string]>('SELECT name, state FROM graphGroup WHERE project = ?', project));
  const names = new Set(groups.map(({ name }) => name));
  return {
    stale: groups.filter(({ name, state }) => states.get(name) !== state),
    gone: [...states.keys()].filter((name) => !names.has(name)),
  };
}

/** Forgets the stored facts about groups. */
export const forgetGroups = ({ db, project }: WriteChain, names: readonly string[]): void =>
  void db.run('DELETE FROM graphGroup WHERE project = ? AND name IN (SELECT value FROM json_each(?))', project, JSON.stringify(names));
