import type { Runtime } from '../../core/contract/index.js';

/** Names of the agents, and the format that each writes. */
export const agents: Readonly<Record<Runtime, { readonly name: string; readonly format: string }>> = {
  'claude-code': { name: 'Claude Code', format: 'claude-code-v1' },
  codex: { name: 'Codex', format: 'codex-v1' },
  gemini: { name: 'Gemini CLI', format: 'gemini-v1' },
  opencode: { name: 'OpenCode', format: 'opencode-v1' },
  copilot: { name: 'GitHub Copilot CLI', format: 'copilot-cli-v1' },
  qwen: { name: 'Qwen Code', format: 'qwen-code-v1' },
  pi: { name: 'pi', format: 'pi-v1' },
};
export const agentIds = Object.keys(agents) as Runtime[];

/** The agent that wrote a format, and that resumes it; Claude Code for other formats. */
export const agentOf = (format: string): Runtime => agentIds.find((agent) => agents[agent].format === format) ?? 'claude-code';
