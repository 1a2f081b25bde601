import { type CountedGrowth, fitFactors, isUsable, sizeBy } from '../../src/core/usage/index.js';

/** The errors of factors on growths that they were not fitted to. */
interface Accuracy {
  readonly growths: number;
  readonly medianError: number;
  readonly within15: number;
}

/** Fits to every second growth and predicts the others, both ways. */
export function holdOut(growths: readonly CountedGrowth[]): Accuracy {
  const usable = growths.filter(isUsable);
  const errors = [0, 1].flatMap((side) => {
    const factors = fitFactors(usable.filter((_, at) => at % 2 === side));
    return usable.filter((_, at) => at % 2 !== side).map(({ tokens, added }) => Math.abs(sizeBy(factors, added) - tokens) / tokens);
  });
  const sorted = errors.toSorted((a, b) => a - b);
  return {
    growths: errors.length,
    medianError: sorted[sorted.length >> 1] ?? Number.NaN,
    within15: sorted.filter((error) => error <= 0.15).length / Math.max(1, sorted.length),
  };
}
