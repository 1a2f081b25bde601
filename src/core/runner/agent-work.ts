import type { ContextId } from '../base/index.js';

/** What an agent is started with, and where its work goes. */
export interface AgentWork {
  /** The context that it continues: it ends with a message. */
  readonly from: ContextId;
  /** Metadata of the commits. */
  readonly as: { readonly template?: string; readonly principal: string; readonly ticketId?: string; readonly threadId?: string };
  /** In whose name Stemma's tools act; null for the person. */
  readonly who: string | null;
  readonly runId: string | null;
  /** Whether an earlier job of a process that died has worked on it: it may end anywhere. */
  readonly isTakenOver: boolean;
  /** Stores the newest commit. It is called in the transaction that makes it. */
  moved(commit: ContextId): void;
}

/** The session that an agent starts with, and the prompt that it answers. */
export interface Begun {
  readonly prompt: string;
  /** Whether the context has the prompt already. */
  readonly isKnown: boolean;
  readonly resume: { readonly sessionId: string; readonly path: string } | undefined;
}
