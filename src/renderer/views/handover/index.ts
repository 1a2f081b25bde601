// views/handover: a map of handovers between agents, with links to the contexts of both sides.
// It also packs a box by hand and shows the reason for each card before anything is written.
// `map.ts` (columns and arrows) and `form.ts` (the pack form) are pure.
import './handover.css';

export { HandoverView as View } from './Handover';
