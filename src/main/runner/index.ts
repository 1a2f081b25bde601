// runner: runs command-line agents for the jobs of the engine: Claude Code, Codex and OpenCode, each in a separate process.
// Each file translates one agent's protocol.
// core/runner decides what runs and calls these programs.
import type { AgentProgram } from '../../core/project/index.js';
import { claudeCode } from './claude.js';
import { codex } from './codex.js';
import type { Machine } from './machine.js';
import { opencode } from './opencode.js';

export { openGit, openWorkshop } from './workshop.js';

/** The command-line agents that Stemma can run, installed or not. */
export const openAgents = (machine: Machine): readonly AgentProgram[] => [claudeCode(machine), codex(machine), opencode(machine)];
