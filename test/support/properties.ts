import fc from 'fast-check';

/**
 * Every run of `npm test` draws the same values, so a failure comes from a change and not from luck. `npm run test:random`
 * draws other values and prints how to repeat them. See vitest.config.ts.
 */
fc.configureGlobal({ seed: Number(process.env.STEMMA_PROPERTY_SEED) });

/** How often a slow property runs: a fourth of the times in `npm test`, and all of them in `npm run test:random`. */
export const runs = (all: number): number => (process.env.STEMMA_PROPERTY_RUNS === 'all' ? all : Math.ceil(all / 4));
