import type { Command } from 'commander';
import { dim, line, printText } from '../terminal/index.js';
import { addCall } from './call.js';

/** Adds `stemma diagnose` and `stemma repair-session`, for sessions that their agents can no longer continue. */
export function addRepairCommands(program: Command): void {
  addCall(program, 'diagnose <session>', 'say what a model would refuse in a session', 'session.diagnose', ({ problems }) => {
    for (const { kind, message, fix } of problems) printText(line`${kind}: ${message} ${fix ?? ''}`);
    if (problems.length === 0) printText('Nothing in this session would be refused.');
  });

  addCall(program, 'repair-session <session>', 'fork a session without what a model would refuse', 'session.repair', ({ changes, commit }) => {
    for (const { kind, before, after } of changes) printText(line`${kind}: ${before} -> ${after ?? 'left out'}`);
    if (changes.length === 0) printText('Nothing in this session needs a repair.');
    if (commit) printText(line`Repaired as ${commit.id}. The original is unchanged. ${dim('stemma resume continues it.')}`);
  }).option('--dry-run', 'show the changes and make no fork');
}
