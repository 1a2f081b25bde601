// Computes the tokens per unit of each measure of content, from the counted growth of a window between neighboring calls. Pure.
import { type Measure, type Measures, measures } from './tokenizer.js';

/** The counted growth between two neighboring calls, and the measures of the entries added between them. */
export interface CountedGrowth {
  readonly tokens: number;
  readonly added: Measures;
}

export type Factors = Readonly<Record<Measure, number>>;

/** A smaller growth is useless, because it consists mostly of unrecorded framing and reminders. */
const smallGrowth = 200;

/** Whether a growth is usable for calibration: it is large enough and contains no images, whose size is not recorded. */
export const isUsable = ({ tokens, added }: CountedGrowth): boolean => tokens >= smallGrowth && (added.image ?? 0) === 0;

/** Tokens of measures by their factors. */
export const sizeBy = (factors: Factors, added: Measures): number => measures.reduce((sum, name) => sum + factors[name] * (added[name] ?? 0), 0);

/** The factors without calibration: the tokenizer's count. */
export const plainFactors: Factors = { ...(Object.fromEntries(measures.map((name) => [name, 1])) as Factors), calls: 0, results: 0, replies: 0 };
/** The factors of measures without evidence. For a signature, it is about an eighth of its characters. */
const unknown: Factors = { ...plainFactors, signature: 0.55 };

const rounds = 40;
const sweeps = 60;

/**
 * Finds factors of 0 or more that keep the relative errors small: least squares whose weights favor growths that already fit, so that a
 * few growths with unrecorded content do not bend them.
 */
export function fitFactors(growths: readonly CountedGrowth[]): Factors {
  const used = measures.filter((name) => growths.filter(({ added }) => (added[name] ?? 0) > 0).length >= fewest);
  const rows = growths.map(({ tokens, added }) => ({ tokens, sizes: used.map((name) => added[name] ?? 0), fixed: fixedPart(added, used) }));
  let factors = used.map((name) => unknown[name]);
  let weights = rows.map(({ tokens }) => 1 / tokens);
  for (let round = 0; round < rounds; round++) {
    factors = leastSquares(rows, weights, factors);
    weights = rows.map(({ tokens, sizes, fixed }) => {
      const error = Math.abs(dot(sizes, factors) + fixed - tokens) / tokens;
      return 1 / tokens / Math.sqrt(Math.max(error, 0.001));
    });
  }
  return { ...unknown, ...Object.fromEntries(used.map((name, at) => [name, factors[at]])) };
}

/** The fewest growths with a measure from which a factor is computed. */
const fewest = 8;

type FitRow = Pick<CountedGrowth, 'tokens'> & { readonly sizes: readonly number[]; readonly fixed: number };

const fixedPart = (added: Measures, used: readonly Measure[]): number =>
  measures.reduce((sum, name) => (used.includes(name) ? sum : sum + unknown[name] * (added[name] ?? 0)), 0);

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

/** Weighted least squares with factors of 0 or more, one factor after the other. */
function leastSquares(rows: readonly FitRow[], weights: readonly number[], start: readonly number[]): number[] {
  const count = start.length;
  const gram = start.map(() => new Array<number>(count).fill(0));
  const target = start.map(() => 0);
  rows.forEach(({ tokens, sizes, fixed }, at) => {
    const weight = (weights[at] ?? 0) ** 2;
    for (let i = 0; i < count; i++) {
      const own = weight * (sizes[i] ?? 0);
      if (own === 0) continue;
      target[i] = (target[i] ?? 0) + own * (tokens - fixed);
      const line = gram[i] as number[];
      for (let j = 0; j < count; j++) line[j] = (line[j] ?? 0) + own * (sizes[j] ?? 0);
    }
  });
  const factors = [...start];
  for (let sweep = 0; sweep < sweeps; sweep++)
    for (let i = 0; i < count; i++) {
      const line = gram[i] as number[];
      const own = line[i] ?? 0;
      if (own > 0) factors[i] = Math.max(0, (factors[i] ?? 0) + ((target[i] ?? 0) - dot(line, factors)) / own);
    }
  return factors;
}
