// views/sessions: one list of the sessions in the project and of the histories on this machine that are not imported yet.
// `rows.ts` (pure) joins, narrows, sorts and groups them; `actions.ts` says what can be done with one; `act.ts` imports and opens.
// It also has the sheets that import, open a path, create a project, and rename or repair a session.
import './sessions.css';

export { importPaths, openSample, pathsOfDrop } from './act';
export { ImportsSheet, shareOf } from './Imports';
export { MappingSheet } from './MappingSheet';
export { NotOpened } from './Notes';
export { NewProjectSheet, OpenPathSheet, SessionSheet } from './OpenSheets';
export { RepairSheet } from './RepairSheet';
export { spans } from './rows';
export { SessionsView as View } from './Sessions';
