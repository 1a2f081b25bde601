// run: a turn as a request that can be changed, asked again of a model or of the recording, and the replies side by side as they arrive.
// What is changed is kept here until it is sent; the run itself lives in the state of the window and goes on whatever view is shown.
// Nothing of a transcript is executed: what the recording cannot answer is asked of the person.
import './run.css';

export { ProvidersSheet } from './Providers';
export { RunView } from './Run';
