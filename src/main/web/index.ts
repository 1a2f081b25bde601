// web: the loopback web host. It serves the same window as the desktop shell over HTTP, the engine over a WebSocket, and the
// contract over HTTP for scripts. It listens on loopback only and answers nobody without a session's cookie or the bearer.
// No procedure is implemented here: frames and calls pass through to the engine on its own thread.

export { type BearerFile, writeBearerFile } from './bearer-file.js';
export { type Host, type HostOptions, isLoopback, startHost } from './host.js';
export { type ServeOptions, serveWindow } from './serve-window.js';
