import type { AgentProgram } from '../../core/project/index.js';
import { claudeCode } from './claude.js';
import { codex } from './codex.js';
import type { Machine } from './machine.js';
import { opencode } from './opencode.js';

/** The command-line agents that Stemma can run, installed or not. */
export const openAgents = (machine: Machine): readonly AgentProgram[] => [claudeCode(machine), codex(machine), opencode(machine)];
