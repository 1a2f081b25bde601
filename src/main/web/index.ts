// web: the loopback web host, the desktop shell's sibling for a browser: the same window over HTTP, the same engine over
// a WebSocket, and the contract over HTTP for scripts. It listens on loopback only and answers nobody without its token.
// Nothing of the contract is implemented here; frames and calls pass through to the engine on its own thread.
export { type Host, isLoopback, startHost } from './host.js';
export { type ServeOptions, serveWindow } from './serve-window.js';
