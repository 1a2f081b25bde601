/**
 * The interface between the window and the preload script of the desktop shell. The window requests a port with a nonce and receives it in a
 * `message` event: `data` is `stemma-port:` and the nonce, and `ports[0]` is the port to the engine. In a browser, this bridge does not exist, and
 * the window opens a WebSocket at `/rpc` of the page's own origin instead.
 */
export interface Bridge {
  requestPort(nonce: string): void;
  /** The path of a dropped or chosen file, which only the shell knows; empty if the file has no path. */
  pathOf?(file: File): string;
}

declare global {
  interface Window {
    readonly stemma?: Bridge;
  }
}
