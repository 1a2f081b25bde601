// Plain words of the contract, without schemas: a hook reads transcripts and loads none.

/** Who speaks in an entry, and what it is. */
export const roles = ['system', 'user', 'assistant', 'tool'] as const;
export const kinds = ['text', 'thinking', 'tool_call', 'tool_result', 'image', 'summary', 'event'] as const;
export type Role = (typeof roles)[number];
export type Kind = (typeof kinds)[number];

/** What fills a window. `files`: results of tools that read files, files that the agent put in, images. `talk`: prompts, answers, calls of tools. */
export const causes = ['system', 'tools', 'summary', 'reminders', 'files', 'results', 'talk'] as const;
export type Cause = (typeof causes)[number];
