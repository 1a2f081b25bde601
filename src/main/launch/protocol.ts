import type { ContractRouterClient } from '@orpc/contract';
import type { Contract } from '../../core/contract/index.js';
import type { EngineOptions } from '../../core/project/index.js';

/** The contract as its callers see it, whatever carries the calls. */
export type ContractClient = ContractRouterClient<Contract>;

/**
 * What a host says to its engine, whatever carries it. `connect` comes with a port where the carrier can hand one
 * over (utility process, worker); a plain Node process cannot take ports, so there each connection has a number, and
 * its frames travel as `frame`. Frames are oRPC's own and nobody between window and engine reads them.
 */
export type ToEngine =
  /** `keepsKeys`: the host answers `vault` messages. */
  | { kind: 'start'; options: EngineOptions; keepsKeys?: true }
  | { kind: 'vault'; number: number; text?: string; problem?: string }
  /** What connections from now on are told that they were started with. */
  | { kind: 'startup'; startup: EngineOptions['startup'] }
  | { kind: 'connect'; connection: number }
  | { kind: 'frame'; connection: number; frame: Frame }
  | { kind: 'close'; connection: number }
  | { kind: 'stop' };

export type FromEngine =
  | { kind: 'ready' }
  | { kind: 'failed'; message: string }
  /** A secret to be sealed or opened by the operating system, which only the host can ask. */
  | { kind: 'vault'; number: number; act: 'seal' | 'unseal'; text: string }
  | { kind: 'frame'; connection: number; frame: Frame }
  | { kind: 'close'; connection: number };

export type Frame = string | Uint8Array;
