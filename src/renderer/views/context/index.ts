// views/context: what the model saw at one commit.
// `blocks.ts` makes the list out of the outline (pure); entries are read in pages as they come into view.
// The token bar, the outline of turns and find all meet in one number: the place of an entry in the context.
import './context.css';

export { seamsOf, turnsOf } from './blocks';
export { ContextView } from './Context';
