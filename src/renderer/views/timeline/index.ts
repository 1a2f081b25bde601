// views/timeline: a space as people know it from chat, and beside it the very text that an agent reads of it.
// The two are linked: pointing at a message shows its line, pointing at a line shows its message.
// Without a space, the context that is selected is shown in the same way; `lines.ts` (pure) takes texts apart for both.
import './timeline.css';

export { gapsIn, linesOf, type TextLine } from './lines';
export { TimelineView } from './Timeline';
