import type { Command } from 'commander';
import { addAnalysisCommands, addFindingCommands } from './analysis.js';
import { newProgram, runProgram } from './base.js';
import { addCallCommand, loadProcedures } from './call.js';
import { addCompactionCommand } from './compaction.js';
import { addContextCommands, addExportCommand, addRepairCommands } from './contexts.js';
import { addEvidenceCommands } from './evidence.js';
import { addExperimentCommands } from './experiments.js';
import { addHookCommand } from './hooks.js';
import { addJobCommands } from './jobs.js';
import { addLiveCommands } from './live.js';
import { addPriceCommands } from './prices.js';
import { addProjectCommands } from './projects.js';
import { addReplayCommands } from './replay.js';
import { addRequestCommands } from './requests.js';
import { addServeCommands } from './serve.js';
import { addTeamCommands } from './team.js';
import { addTicketCommands } from './tickets.js';
import { addUsageCommands } from './usage.js';
import { addWebCommand } from './web.js';

/** Runs any command. */
export const run = (argv: readonly string[]): Promise<void> =>
  runProgram(async () => {
    if (argv.slice(2).includes('call')) await loadProcedures();
    return buildProgram();
  }, argv);

/** The whole command line: every command with its options and its help. */
export function buildProgram(): Command {
  const program = newProgram();
  addProjectCommands(program);
  addContextCommands(program);
  addLiveCommands(program);
  addHookCommand(program);
  addRequestCommands(program);
  addUsageCommands(program);
  addAnalysisCommands(program);
  addEvidenceCommands(program);
  addFindingCommands(program);
  addPriceCommands(program);
  addRepairCommands(program);
  addCompactionCommand(program);
  addExportCommand(program);
  addReplayCommands(program);
  addExperimentCommands(program);
  addJobCommands(program);
  addTicketCommands(program);
  addTeamCommands(program);
  addCallCommand(program);
  addServeCommands(program);
  addWebCommand(program);
  return program;
}
