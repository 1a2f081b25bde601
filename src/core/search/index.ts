// search: full text over the entries of every commit, indexed off the commit path and made again at any time.
// words.ts says what a word is, the same for what is indexed and what is asked; indexing.ts catches up with the chain, ranking.ts says which matches come first.
// A question is answered from what is indexed, and says how much was not yet.
export { indexMore } from './indexing.js';
export { query, type SearchQuery, type SearchResult } from './query.js';
