// web: the loopback web host. It serves the window over HTTP, the engine over a WebSocket, and the contract over HTTP for scripts.
// It listens on loopback only and requires a session cookie or the bearer token.
// It implements no procedure: it passes frames and calls to the engine on its own thread.

export { type Host, type HostOptions, isLoopback, startHost } from './host.js';
export { type ServeOptions, serveWindow, writeBearerFile } from './serve-window.js';
