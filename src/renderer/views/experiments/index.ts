// views/experiments: runs turns in several variants and compares the replies in a table.
// Cases come from Run again. Checks judge replies, and a person can overrule them. `checks.ts` is pure.
// Checks only read replies; nothing in a reply is executed.
import './experiments.css';

export { ExperimentsView as View } from './Experiments';
