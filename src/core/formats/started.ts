/**
 * A subagent that is a session of its own knows at most whose it is; the session that started it knows by which call. So the two find each
 * other by records of these names, whichever is imported first.
 */
export const startOf = (sessionId: string): string => `session:${sessionId}`;

/** What the commit with the call is found by: the call's id stands behind the session's. */
export const startedWith = (sessionId: string, toolCallId: string): string => `${startOf(sessionId)}:${toolCallId}`;
