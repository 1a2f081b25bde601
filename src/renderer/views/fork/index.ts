// views/fork: the sheet that branches off at any entry.
// `plan.ts` (pure) turns what a person changes into the engine's edits, and knows which tool pairs a cut or a drop would part.
// The engine does the fork and refuses what no model would take; the sheet asks before it comes to that.
import './fork.css';

export { EntryEditor } from './EntryEditor';
export { ForkSheet } from './Fork';
export { type Changes, noChanges, type Plan, planOf } from './plan';
