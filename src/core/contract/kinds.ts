/** Who speaks in an entry, and what it is. Without schemas: a hook reads transcripts and loads none. */
export const roles = ['system', 'user', 'assistant', 'tool'] as const;
export const kinds = ['text', 'thinking', 'tool_call', 'tool_result', 'image', 'summary', 'event'] as const;
export type Role = (typeof roles)[number];
export type Kind = (typeof kinds)[number];
