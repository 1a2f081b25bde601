// views/inspector: details of the selection, in the right pane of every view.
// It shows the facts and actions of a commit; in the Context view also the list of turns and the selected entry.
// It keeps no state of its own.
import './inspector.css';

export { Inspector } from './Inspector';
