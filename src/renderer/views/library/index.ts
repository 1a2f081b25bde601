// views/library: the histories found on this machine, the projects, and the ways in.
// The page itself, the left pane with the sessions of the open project, and the sheet that tells what imports did.
// `groups.ts` is pure; `act.ts` is where a click becomes an import or an open project.
import './library.css';

export { importPaths, openSample, showProject } from './act';
export { pathsOfDrop } from './drop';
export { ImportsSheet, shareOf } from './Imports';
export { LibraryView } from './Library';
export { SessionsPane } from './SessionsPane';
