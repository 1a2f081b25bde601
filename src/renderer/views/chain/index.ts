// views/chain: the commits of a project as a graph with lanes.
// Rows load in pages. Chains of up to 20,000 commits are loaded completely; longer ones are folded, filtered and drawn from a map of their rows.
// `rows.ts` is pure; `Lanes.tsx` draws one row of the graph.
import './chain.css';

export { ChainView as View } from './Chain';
