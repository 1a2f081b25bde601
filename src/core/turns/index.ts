// turns: what a context was at one moment, compared with another moment.
// Reads the chain, aligns with diff; keeps nothing of its own.
// Proving a turn and running it again belong here as well (seed, "Instantiation").
export { compareContexts } from './compare.js';
