// runner: runs command-line agents for the jobs of the engine: Claude Code, Codex and OpenCode, each in a separate process.
// Each file translates one agent's protocol.
// core/runner decides what runs and calls these programs.
export { openAgents } from './agents.js';
export { openGit, openWorkshop } from './workshop.js';
