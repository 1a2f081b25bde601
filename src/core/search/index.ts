// search: full-text search over the entries of every commit. The index is built off the commit path and can be rebuilt at any time.
// words.ts splits texts and queries into words in the same way, indexing.ts follows the chain, ranking.ts orders the matches.
// A query is answered from the index, and reports how many commits are not indexed yet.
export { catchUpIndex, dropSearchIndex, indexInPieces, pendingOf } from './indexing.js';
export { query } from './query.js';
