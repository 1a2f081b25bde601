// diff: differences between lists of entries, between values, and between texts.
// Pure functions. They align entries by identity, then by content, because a plain Myers diff is poor when much has changed.
// Hunks applied to the first list give the second. Values are compared by structure, texts line by line.
export { type Alignable, align, alignment } from './align.js';
export { changedFields } from './fields.js';
export { asLines, changedLines } from './lines.js';
export { alignMany } from './many.js';
