// views/compose: the layers of a context and the messages that they become.
// Changing the process, sharing, a block or the query shows what the model would receive. Nothing is stored.
// `compare.ts` and `trial.ts` are pure.
import './compose.css';

export { ComposeView as View } from './Compose';
export { type Compared, compareMessages } from './compare';
