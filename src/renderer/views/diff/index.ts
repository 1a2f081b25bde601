// views/diff: two contexts against each other.
// The engine aligns entries by identity; `parts.ts` (pure) makes rows of its hunks, and words are compared in the window.
// What is the same is one line, what differs is in full, and a strip shows where it is.
import './diff.css';

export { DiffView } from './Diff';
