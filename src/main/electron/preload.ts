import { contextBridge, ipcRenderer, webUtils } from 'electron';

/** As much of the DOM as passes here; the rest of `main` has none. */
declare const window: { location: { origin: string }; postMessage(message: string, origin: string, ports: readonly unknown[]): void };

/**
 * All that the window gets from the desktop: a pipe. It asks for a port to the engine with a nonce of its own, and the
 * port comes to it as a `message` event with that nonce. A file that a person dropped or chose has a path, which only
 * the shell can tell. No other word ever passes here; what is new in Stemma is new in the contract.
 */
contextBridge.exposeInMainWorld('stemma', {
  requestPort: (nonce: string) => ipcRenderer.send('stemma:port', nonce),
  pathOf: (file: File) => webUtils.getPathForFile(file),
});

ipcRenderer.on('stemma:port', (event, nonce: string) => {
  window.postMessage(`stemma-port:${nonce}`, window.location.origin, event.ports);
});
