// views/handover: who handed what to whom, agents as columns and handovers as arrows, from which one steps into either
// agent's context; and packing by hand, with the reason for each card before anything is written.
// `picture.ts` and `form.ts` are pure: columns and rows of the picture, and what a filled-in form asks for.
import './handover.css';

export { HandoverView } from './Handover';
