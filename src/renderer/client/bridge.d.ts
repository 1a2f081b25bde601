/**
 * All that the desktop shell's preload gives to the window: a pipe. The window asks for a port with a nonce of its own
 * and gets it in a `message` event whose `data` is `stemma-port:` and the nonce and whose `ports[0]` is the port to the
 * engine. In a browser there is no bridge and the window opens a WebSocket at `/rpc` of the page's own origin instead.
 */
export interface Bridge {
  requestPort(nonce: string): void;
  /** Where a dropped or chosen file lies, which only the shell can tell; empty where it lies nowhere. */
  pathOf?(file: File): string;
}

declare global {
  interface Window {
    readonly stemma?: Bridge;
  }
}
