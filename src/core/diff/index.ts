// diff: what is the same and what differs between lists of entries, values and texts.
// Pure: by identity first, then by content; never a bare Myers over everything, which collapses when much has changed.
// Hunks applied to the first list give the second; values are compared by their structure, texts line by line.
export { type Alignable, align, alignment } from './align.js';
export { changedFields } from './fields.js';
export { changedLines } from './lines.js';
export { alignMany, type SideRow } from './many.js';
