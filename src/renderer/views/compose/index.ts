// views/compose: the layers of a context and the messages that they become.
// Changing the process, sharing, a block or the query shows what the model would receive. Nothing is stored.
// `trial.ts` is pure.
import './compose.css';

export { ComposeView as View } from './Compose';
