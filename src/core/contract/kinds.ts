// The enumerations of the contract without schemas, so that a hook can read transcripts, and a command line can print its help, without loading the
// schema library.

/** Who speaks in an entry. */
export const roles = ['system', 'user', 'assistant', 'tool'] as const;
/** The kinds of entries. The search index stores the place of a kind in this list as one digit: add new kinds at the end, at most ten in all. */
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

/** The agents whose histories Stemma looks for on this machine, and in which it can resume a context. */
export const runtimes = ['claude-code', 'codex', 'gemini', 'opencode', 'pi', 'copilot', 'qwen'] as const;
export type Runtime = (typeof runtimes)[number];

/** The makers of models whose requests Stemma reads. */
export const providers = ['anthropic', 'openai', 'gemini'] as const;
export type Provider = (typeof providers)[number];

/** The largest number of calls of one page of `request.list`. */
export const maxRequests = 1_000;

/** The divergence from the original at which a what-if ends: different tool calls, also different words, or never. */
export const divergenceLimits = ['calls', 'words', 'never'] as const;
export type DivergenceLimit = (typeof divergenceLimits)[number];

export const analysisFormats = ['parquet', 'csv', 'jsonl'] as const;
export type AnalysisFormat = (typeof analysisFormats)[number];

export const jobStatuses = ['running', 'success', 'failed', 'stopped', 'limit', 'interrupted'] as const;
export type JobStatus = (typeof jobStatuses)[number];

/**
 * What a command-line agent may do without asking, as Claude Code names the modes. `default` asks before each change and command. `acceptEdits`
 * changes files in its folder without asking. `plan` only reads. `bypassPermissions` never asks.
 */
export const permissionModes = ['default', 'acceptEdits', 'plan', 'bypassPermissions'] as const;
export type PermissionMode = (typeof permissionModes)[number];

export const ticketStatuses = ['open', 'in_progress', 'review', 'blocked', 'deferred', 'closed'] as const;
export const verdicts = ['pending', 'approved', 'changes_requested', 'commented'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];
export type Verdict = (typeof verdicts)[number];

/** The state of a requested start. `overtaken`: the ticket moved on before anybody started. */
export const eventStates = ['waiting', 'taken', 'done', 'dismissed', 'overtaken'] as const;
