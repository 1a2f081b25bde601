// views/request: a call to a model as it went over the wire: its parts and what each costs, what changed since another call,
// and where the provider's cache broke. The list of a session's calls, with what filled the window from call to call.
// `body.ts` (pure) reads a body; what it shows is hostile text and set as such.
import './request.css';

export { RequestView } from './Request';
