/** Rows of sums as `analysis.sums` packs them: the first cells of each row are the places of their names. */
export function packedSums(rows: readonly (readonly (string | number | null)[])[], names: string[]): number[][] {
  const placeOf = (name: string): number => {
    const known = names.indexOf(name);
    return known === -1 ? names.push(name) - 1 : known;
  };
  return rows.map((row) => row.map((cell, at) => (at < 4 || typeof cell === 'string' ? placeOf(String(cell ?? '')) : (cell ?? 0))));
}

/** Rows of sums with their names; `named` is the number of cells that are names. */
export const namedSums = (rows: readonly (readonly number[])[], names: readonly string[], named: number): (string | number)[][] =>
  rows.map((row) => row.map((cell, at) => (at < named ? (names[cell] ?? '') : cell)));
