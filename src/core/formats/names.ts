/** The names of all formats of the registry, for code that must not load them. */
const formatNames: ReadonlySet<string> = new Set(
  (
    'claude-code-v1 codex-v1 pi-v1 gemini-v1 opencode-v1 langgraph-v1 copilot-cli-v1 qwen-code-v1 cline-v1 kilo-v1 vscode-chat-v1 openclaw-v1 ' +
    'cursor-v1 atif-v1 otlp-v1 inspect-eval-v1 mapped-v1 anthropic-messages-v1 openai-chat-v1 openai-chat-v0 bureau-agent-v1 events-v1 markdown ' +
    'narrative cardbox-v1'
  ).split(' '),
);

/** Whether a format has this name (as `findFormat` would find it). */
export const isFormatName = (name: string): boolean => formatNames.has(name);
