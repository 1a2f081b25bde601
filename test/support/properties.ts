import fc from 'fast-check';

/**
 * Every run of `npm test` draws the same values, so a failure comes from a change and not from luck. `npm run test:random`
 * draws other values and prints how to repeat them. See vitest.config.ts.
 */
fc.configureGlobal({ seed: Number(process.env.STEMMA_PROPERTY_SEED) });
