// views/experiments: turns that are run again in several ways, as a table of what came of each.
// Cases come from "Run again"; replies are held against checks, and a person has the last word. `words.ts` is pure.
// Nothing of a reply is run: a check looks at it.
import './experiments.css';

export { CaseSheet } from './CaseSheet';
export { ExperimentsView } from './Experiments';
