// views/context: what the model saw at one commit.
// `blocks.ts` (pure) makes turns from the outline; entries load in pages as they come into view.
// Token bar, turns and search all refer to an entry by its place in the context.
import './context.css';

export { type ShownTurn, seamsOf, turnsOf } from './blocks';
export { ContextView as View } from './Context';
export type { ContextInView } from './useReader';
