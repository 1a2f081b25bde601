import type { AnalysisSums, AnalysisTools } from '../../src/core/contract/index.js';

/** Rows as columns, and columns as rows. */
const turned = (lists: readonly (readonly number[])[], length: number): number[][] =>
  Array.from({ length }, (_, at) => lists.map((list) => list[at] ?? 0));

/** Rows that begin with a day, a session, an agent and a model; those of tool calls also have a tool. */
export type SumRows = readonly (readonly (string | number | null)[])[];

function numbering() {
  const names: string[] = [];
  const numberOf = (name: string | number | null = ''): number => {
    const text = String(name ?? '');
    const known = names.indexOf(text);
    return known === -1 ? names.push(text) - 1 : known;
  };
  return { names, numberOf };
}

const bySession = ([, a = 0]: readonly number[], [, b = 0]: readonly number[]): number => a - b;

/** The first `count` cells of a row as the numbers of their names, and the others as numbers. */
const numbered = (row: SumRows[number], count: number, numberOf: (name?: string | number | null) => number): number[] =>
  row.map((cell, at) => (at < count ? numberOf(cell) : Number(cell ?? 0)));

/** Sums as `analysis.sums` packs them: each row of calls with the sums of the tool calls of its day, session, agent and model. */
export function packedSums(calls: SumRows, tools: SumRows): Pick<AnalysisSums, 'names' | 'calls'> {
  const { names, numberOf } = numbering();
  const rows = calls.map((row) => [...numbered(row, 4, numberOf), 0, 0, 0, 0]);
  for (const row of tools) {
    const [place, counts] = [numbered(row.slice(0, 4), 4, numberOf), row.slice(5).map(Number)];
    const known = rows.find((one) => place.every((number, at) => one[at] === number));
    const found = known ?? [...place, ...Array<number>(16).fill(0)];
    if (!known) rows.push(found);
    for (const [at, count] of counts.entries()) found[16 + at] = (found[16 + at] ?? 0) + count;
  }
  return { names, calls: turned(rows.sort(bySession), 20) };
}

/** Sums as `analysis.tools` packs them. */
export function packedTools(tools: SumRows): AnalysisTools {
  const { names, numberOf } = numbering();
  return { names, tools: turned(tools.map((row) => numbered(row, 5, numberOf)).sort(bySession), 9) };
}

/** Sessions as `analysis.sums` packs them: rows of id, title, repository, machine, agent, tip, parent and branch. */
export function packedSessions(rows: readonly (readonly (string | null | undefined)[])[]): Pick<AnalysisSums, 'names' | 'sessions'> {
  const { names, numberOf } = numbering();
  const places = rows.map(([id, , repository, person, agent, , parent, branch]) =>
    [id, repository, person, agent, parent, branch].map((name) => numberOf(name)),
  );
  const [ids = [], ...others] = turned(places, 6);
  return { names, sessions: { ids, titles: rows.map(([, title]) => title ?? ''), tips: rows.map((row) => row[5] ?? ''), places: others } };
}

/** The rows of columns with the names of their first `count` cells. */
export const namedRows = (names: readonly string[], columns: readonly (readonly number[])[], count: number): (string | number)[][] =>
  turned(columns, columns[0]?.length ?? 0).map((row) => row.map((cell, at) => (at < count ? (names[cell] ?? '') : cell)));
