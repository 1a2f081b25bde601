// views/run: runs a turn again, changed or unchanged, with a model or with the recording, and shows the replies as they arrive.
// Changes live in the view until they are sent. Runs live in the state of the window and continue while other views are shown.
// It executes nothing from a transcript (P5): a tool call without a recorded result waits for the person.
import './run.css';

export { RunView as View } from './Run';
