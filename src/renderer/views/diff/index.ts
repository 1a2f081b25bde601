// views/diff: compares two contexts, or several side by side.
// The engine aligns entries by identity. `parts.ts` (pure) makes rows of its hunks; the window compares words.
// Unchanged entries are folded; a strip gives an overview of the differences.
import './diff.css';

export { DiffView as View } from './Diff';
