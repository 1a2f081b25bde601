// client: the only way from the window to the engine.
// A typed client over the carrier of this window (the shell's message port or a WebSocket).
// It reconnects automatically; `useConnection` returns whether it is connected.
export type * from './bridge';
export { type Carrier, carrierOfThisWindow, type EngineLine } from './carriers';
export { api, type Client, type ConnectionState, connect, onNewLine, useConnection } from './connection';
export { useDamagedRows } from './damage';
export { useWriteQuestion } from './write-permission';
