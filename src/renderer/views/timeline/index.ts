// views/timeline: a space as chat, and beside it the exact text that an agent reads.
// The two are linked: pointing at a message marks its line, and the reverse.
// Without a space it shows the selected context in the same form. `lines.ts` (pure) divides the text.
import './timeline.css';

export { NewSpace, SpaceList, useSpaces } from './Spaces';
export { TimelineView as View } from './Timeline';
