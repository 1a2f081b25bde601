import { contextBridge, ipcRenderer, webUtils } from 'electron';

/** The part of the DOM that this file uses. The rest of `main` has no DOM types. */
declare const window: { location: { origin: string }; postMessage(message: string, origin: string, ports: readonly unknown[]): void };

/**
 * Everything that the window gets from the desktop app. It requests a port to the engine with a nonce, and receives the port in a
 * `message` event with that nonce. Only the shell knows the path of a file that a person dropped or chose. Features never add anything
 * here: they extend the contract.
 */
contextBridge.exposeInMainWorld('stemma', {
  requestPort: (nonce: string) => ipcRenderer.send('stemma:port', nonce),
  pathOf: (file: File) => webUtils.getPathForFile(file),
});

ipcRenderer.on('stemma:port', (event, nonce: string) => {
  window.postMessage(`stemma-port:${nonce}`, window.location.origin, event.ports);
});
