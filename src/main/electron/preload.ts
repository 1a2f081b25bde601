import { contextBridge, ipcRenderer, webUtils } from 'electron';

/** The part of the DOM that this file uses. The rest of `main` has no DOM types. */
declare const window: { location: { origin: string }; postMessage(message: string, origin: string, ports: readonly unknown[]): void };

/**
 * The whole interface between the window and the desktop app. The window requests a port to the engine with a nonce, and receives the port in a
 * `message` event with the same nonce. Only the shell knows the path of a file that a person dropped or chose. New features extend the contract and
 * never this file.
 */
contextBridge.exposeInMainWorld('stemma', {
  requestPort: (nonce: string) => ipcRenderer.send('stemma:port', nonce),
  pathOf: (file: File) => webUtils.getPathForFile(file),
});

ipcRenderer.on('stemma:port', (event, nonce: string) => {
  window.postMessage(`stemma-port:${nonce}`, window.location.origin, event.ports);
});
