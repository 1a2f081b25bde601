import type { AnalysisSums } from '../../src/core/contract/index.js';

/** Rows as columns, and columns as rows. */
const turned = (lists: readonly (readonly number[])[], length: number): number[][] =>
  Array.from({ length }, (_, at) => lists.map((list) => list[at] ?? 0));

/** Rows that begin with a day, a session, an agent and a model; those of tool calls also have a tool. */
export type SumRows = readonly (readonly (string | number | null)[])[];

/** Sums as `analysis.sums` packs them. */
export function packedSums(calls: SumRows, tools: SumRows): Pick<AnalysisSums, 'names' | 'calls' | 'tools'> {
  const names: string[] = [];
  const numberOf = (name: string): number => {
    const known = names.indexOf(name);
    return known === -1 ? names.push(name) - 1 : known;
  };
  const placed = (row: SumRows[number]): number[] => row.slice(0, 4).map((name) => numberOf(String(name ?? '')));
  const numbers = (row: SumRows[number], from: number): number[] => row.slice(from).map((cell) => Number(cell ?? 0));
  const rows = calls.map((row) => [...placed(row), ...numbers(row, 4)]);
  const rowAt = (row: SumRows[number]): number => {
    const place = placed(row);
    const known = rows.findIndex((one) => place.every((number, at) => one[at] === number));
    return known === -1 ? rows.push([...place, ...Array<number>(12).fill(0)]) - 1 : known;
  };
  const toolRows = tools.map((row) => [rowAt(row), numberOf(String(row[4])), ...numbers(row, 5)]);
  return { names, calls: turned(rows, 16), tools: turned(toolRows, 6) };
}

/** The rows of sums with their names. Calls of no model and no count, which only hold tool calls, are left out. */
export function namedSums({
  names,
  calls,
  tools,
}: Pick<AnalysisSums, 'names' | 'calls' | 'tools'>): Record<'calls' | 'tools', (string | number)[][]> {
  const [rows, toolRows] = [turned(calls, calls[0]?.length ?? 0), turned(tools, tools[0]?.length ?? 0)];
  const named = (row: readonly number[], count: number) => row.map((cell, at) => (at < count ? (names[cell] ?? '') : cell));
  return {
    calls: rows.filter((row) => row[4] !== 0).map((row) => named(row, 4)),
    tools: toolRows.map(([at = 0, tool = 0, ...counts]) => [...named((rows[at] ?? []).slice(0, 4), 4), names[tool] ?? '', ...counts]),
  };
}
