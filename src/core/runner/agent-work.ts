import type { ContextId } from '../base/index.js';

/** The work of an agent: the context that it continues, and the functions that store its commits. */
export interface AgentWork {
  /** The context that the agent continues. It ends with a message. */
  readonly from: ContextId;
  /** Metadata of the commits. */
  readonly as: { readonly template?: string; readonly principal: string; readonly ticketId?: string; readonly threadId?: string };
  /** The agent or entity for whom Stemma's tools act. It is no person (U6). */
  readonly who: string;
  readonly runId: string | null;
  /** The tools of Stemma's MCP server that the profile of the agent permits; undefined if the work has no profile. */
  readonly permitted: readonly string[] | undefined;
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
