/** A subagent's session knows at most its parent, which knows the call. These names join them, whichever is imported first. */
export const startOf = (sessionId: string): string => `session:${sessionId}`;

/** The record name that finds the commit with the call. */
export const startedWith = (sessionId: string, toolCallId: string): string => `${startOf(sessionId)}:${toolCallId}`;

/** The record name that finds the commit with a call, for agents whose subagents know the call that started them. */
export const callNamed = (toolCallId: string): string => `call:${toolCallId}`;
