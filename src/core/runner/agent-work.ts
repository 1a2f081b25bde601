import type { ContextId } from '../base/index.js';
import type { Start } from './work-kind.js';

/** The work of an agent: the context that it continues, and the functions that store its commits. */
export interface AgentWork extends Omit<Start, 'moved'> {
  /** True if a job whose process died has worked on the context. It may then end anywhere. */
  readonly isTakenOver: boolean;
  /** Stores the newest commit. Called in the transaction that makes the commit. */
  moved(commit: ContextId): void;
}

/** The session that an agent starts with, and the prompt that it answers. */
export interface Begun {
  readonly prompt: string;
  readonly isKnown: boolean;
  readonly resume: { readonly sessionId: string; readonly path: string } | undefined;
}
