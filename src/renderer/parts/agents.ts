import type { Runtime } from '../../core/contract/index.js';

/** The agents by the names that people know them by, and the format of what each writes. */
export const agents: Readonly<Record<Runtime, { readonly name: string; readonly format: string }>> = {
  'claude-code': { name: 'Claude Code', format: 'claude-code-v1' },
  codex: { name: 'Codex', format: 'codex-v1' },
  gemini: { name: 'Gemini CLI', format: 'gemini-v1' },
  opencode: { name: 'OpenCode', format: 'opencode-v1' },
  pi: { name: 'pi', format: 'pi-v1' },
};
export const agentIds = Object.keys(agents) as Runtime[];

/** The agent that a context goes back to: the one that wrote it. What none wrote, Claude Code takes. */
export const agentOf = (format: string): Runtime => agentIds.find((agent) => agents[agent].format === format) ?? 'claude-code';
