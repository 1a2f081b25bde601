// views/fork: the sheet that creates a branch from any entry, and the editor of entries that Run again uses too.
// `plan.ts` (pure) turns changes into edits for the engine and finds tool pairs that a cut or drop would separate.
// The engine creates the fork and refuses invalid conversations; the sheet asks before that happens.
import './fork.css';

export { EntryEditor } from './EntryEditor';
export { ForkSheet } from './Fork';
export { type Changes, type ForkPlan, noChanges, planOf } from './plan';
