// views/storage: what takes a project's space, what can be given back, whether all of it is sound, and where copies of it lie.
// Nothing here decides what may go: the engine says what it would remove before anything is removed.
// task.ts holds one piece of work at a time, from the button to its result.
import './storage.css';

export { StorageView } from './Storage';
