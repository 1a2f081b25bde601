import { type Runtime, runtimes, type SourceAgent } from '../../core/contract/index.js';

/** The agents by name, each with the format that it writes. */
export const agents: Readonly<Record<SourceAgent, { readonly name: string; readonly format: string }>> = {
  'claude-code': { name: 'Claude Code', format: 'claude-code-v1' },
  codex: { name: 'Codex', format: 'codex-v1' },
  gemini: { name: 'Gemini CLI', format: 'gemini-v1' },
  opencode: { name: 'OpenCode', format: 'opencode-v1' },
  copilot: { name: 'GitHub Copilot CLI', format: 'copilot-cli-v1' },
  qwen: { name: 'Qwen Code', format: 'qwen-code-v1' },
  cline: { name: 'Cline', format: 'cline-v1' },
  roo: { name: 'Roo Code', format: 'cline-v1' },
  kilo: { name: 'Kilo', format: 'kilo-v1' },
  openclaw: { name: 'OpenClaw', format: 'openclaw-v1' },
  cursor: { name: 'Cursor', format: 'cursor-v1' },
  vscode: { name: 'VS Code chat', format: 'vscode-chat-v1' },
  droid: { name: 'Droid', format: 'mapped-v1' },
  goose: { name: 'Goose', format: 'mapped-v1' },
  openhands: { name: 'OpenHands', format: 'mapped-v1' },
  kimi: { name: 'Kimi Code', format: 'mapped-v1' },
  antigravity: { name: 'Antigravity', format: 'mapped-v1' },
  amp: { name: 'Amp', format: 'mapped-v1' },
  continue: { name: 'Continue', format: 'mapped-v1' },
  kiro: { name: 'Kiro', format: 'mapped-v1' },
  zed: { name: 'Zed', format: 'mapped-v1' },
  crush: { name: 'Crush', format: 'mapped-v1' },
  aider: { name: 'Aider', format: 'mapped-v1' },
  pi: { name: 'pi', format: 'pi-v1' },
};
/** Names of tools and standards that have no folder of sessions, and names of agents in templates of commits. */
export const otherNames: Readonly<Record<string, string>> = {
  'copilot-cli': 'GitHub Copilot CLI',
  'qwen-code': 'Qwen Code',
  'vscode-chat': 'VS Code chat',
  atif: 'ATIF',
  otlp: 'OpenTelemetry',
  'inspect-eval': 'Inspect',
  langgraph: 'LangGraph',
  adk: 'Google ADK',
  'managed-agent': 'Managed agent',
  'openai-agents': 'OpenAI Agents',
  'pydantic-ai': 'Pydantic AI',
  specstory: 'SpecStory',
  'swe-agent': 'SWE-agent',
  'vercel-ai': 'Vercel AI',
};
/** Agents with whose own files Stemma was never tested, and what it was tested on instead. Their histories are marked as experimental. */
export const experimental: Readonly<Record<string, string>> = {
  cursor: 'samples that other readers of its files published',
  goose: 'a database made from the published schema',
  'managed-agent': "one recording of LangSmith's tests",
  'openai-agents': 'a database made from the published schema, and states from the tests of the SDK',
  'pydantic-ai': 'a file made from the published schema',
  specstory: 'a file made from the published form',
  'vercel-ai': 'a file made from the published types',
  zed: 'a database made from the published types',
};

/** The agent that writes and resumes a format; Claude Code for other formats. */
export const findAgent = (format: string): Runtime => runtimes.find((agent) => agents[agent].format === format) ?? 'claude-code';
