// views/compose: the layers of a context as a stack, and the messages that they become.
// Changing the process, the switch, a block or the query shows at once what changes for the model; nothing is stored.
// `compare.ts` (pure) sets two lists of messages against each other.
import './compose.css';

export { ComposeView } from './Compose';
export { type Compared, compareMessages } from './compare';
