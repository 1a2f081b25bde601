// client: the one way from the window to the engine.
// A typed client over whatever carrier this window has (the shell's port, or a WebSocket), which reconnects by itself;
// `fake.ts` is a stand-in engine for view work and tests, and is in no bundle.
export type * from './bridge';
export { type Carrier, carrierOfThisWindow, type Line } from './carriers';
export { api, type Client, type ConnectionState, connect, onNewLine, useConnection } from './connection';
