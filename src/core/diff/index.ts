// diff: what is the same and what differs between two lists of entries.
// Pure: by identity first, then by content; never a bare Myers over everything, which collapses when much has changed.
// Hunks applied to the first list give the second.
export { type Alignable, align } from './align.js';
