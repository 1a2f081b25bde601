// runner: runs command-line agents for the jobs of the engine: Claude Code, Codex and OpenCode, as processes of their own.
// Each file translates one agent's protocol.
// Nothing here decides what runs: core/runner does, and calls these programs.
export { openAgents } from './agents.js';
export { openWorkshop } from './workshop.js';
