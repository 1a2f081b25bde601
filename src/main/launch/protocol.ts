import type { ContractRouterClient } from '@orpc/contract';
import type { Contract, UpdateCheck } from '../../core/contract/index.js';
import type { ClientKind, EngineOptions } from '../../core/project/index.js';

export type ContractClient = ContractRouterClient<Contract>;

/**
 * A message from a host to its engine. `connect` carries a port if the engine can receive ports (utility process, worker). A Node process cannot, so
 * each connection has a number and its frames are sent as `frame`. Only oRPC reads the frames.
 */
export type ToEngine =
  /** `desktop` is set by the desktop app, which answers `vault` and `update` messages. `command` runs `stemma` from its package. */
  | { kind: 'start'; options: EngineOptions; desktop?: { readonly command: readonly [program: string, ...args: string[]] } }
  | { kind: 'update'; number: number; result: UpdateCheck }
  | { kind: 'vault'; number: number; text?: string; problem?: string }
  /** Sets the start parameters of future connections. */
  | { kind: 'startup'; startup: EngineOptions['startup'] }
  | { kind: 'connect'; connection: number; caller: ClientKind }
  | { kind: 'frame'; connection: number; frame: Frame }
  | { kind: 'close'; connection: number }
  | { kind: 'stop' };

export type FromEngine =
  | { kind: 'ready' }
  | { kind: 'failed'; message: string }
  /** A secret to seal or open. Only the host can ask the operating system. */
  | { kind: 'vault'; number: number; act: 'seal' | 'unseal'; text: string }
  /** A request to look for an update of the app. */
  | { kind: 'update'; number: number }
  | { kind: 'frame'; connection: number; frame: Frame }
  | { kind: 'close'; connection: number };

export type Frame = string | Uint8Array;

/** The largest frame that an engine reads, in bytes. Parsing blocks all windows, so this bounds how long one window delays the others. */
export const maxFrameBytes = 64 * 1024 * 1024;
