// The enumerations of the contract without schemas, so that a hook can read transcripts without loading the schema library.

/** Who speaks in an entry, and the kind of entry. */
export const roles = ['system', 'user', 'assistant', 'tool'] as const;
export const kinds = ['text', 'thinking', 'tool_call', 'tool_result', 'image', 'summary', 'event'] as const;
export type Role = (typeof roles)[number];
export type Kind = (typeof kinds)[number];

/** What a tool does. `fetch` loads a page, `task` starts another agent, `plan` writes the agent's own list of steps. */
export const toolClasses = ['read', 'write', 'edit', 'shell', 'search', 'fetch', 'task', 'plan'] as const;
export type ToolClass = (typeof toolClasses)[number];

/** What fills a window. `files`: results of tools that read files, files that the agent added, images. `talk`: prompts, replies, tool calls. */
export const causes = ['system', 'tools', 'summary', 'reminders', 'files', 'results', 'talk'] as const;
export type Cause = (typeof causes)[number];

/** The types of a commit, what caused it, and how well a format can express it. */
export const commitTypes = ['delta', 'compaction', 'snapshot'] as const;
export const checkpoints = [
  ...(['turn_boundary', 'tool_call', 'compaction', 'session_end', 'explicit'] as const),
  ...(['assistant_message', 'every_n_turns', 'event'] as const),
] as const;
export const tiers = ['native', 'translated', 'rendered', 'raw'] as const;
export type CommitType = (typeof commitTypes)[number];
export type Checkpoint = (typeof checkpoints)[number];
export type Tier = (typeof tiers)[number];

/** The states of an agent turn: first while it is open (`suspended` means waiting for tools), then how it ended. */
export const openStatuses = ['queued', 'dispatched', 'running', 'suspended'] as const;
export const endStatuses = ['success', 'failed', 'canceled', 'timeout', 'partial'] as const;
export type EndStatus = (typeof endStatuses)[number];
