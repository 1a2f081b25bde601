// views/inspector: everything about what is selected, in the right pane of every view.
// A commit's facts and actions; in the context view also the outline of turns and the chosen entry.
// It selects and asks like any view, and holds no state of its own.
import './inspector.css';

export { Inspector } from './Inspector';
