// views/request: a model call as it was sent: its parts with their tokens, changes since another call, and the cache prefix.
// It also lists the calls of a session, charts the context window by call, and compares system prompts and tool sets.
// `body.ts` (pure) reads a request body. Its text is hostile and shown as plain text only.
import './request.css';

export { RequestView as View } from './Request';
