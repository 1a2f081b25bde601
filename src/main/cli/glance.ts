import { parseArgs } from 'node:util';
import { hasDamage } from '../../core/integrity/index.js';
import { BeyondAGlance, openAtAGlance, ownUsageSettings } from '../../core/project/index.js';
import { titledGraph } from '../../core/sessions/index.js';
import { openSeal, openTrustedProjects } from '../../core/trust/index.js';
import { pendingAmong, type UnstoredWindows } from '../../core/usage/index.js';
import { dataDirOf, findProject } from '../launch/index.js';
import { logQuery, printGraph } from './log.js';

const options = { project: { type: 'string', short: 'p' }, limit: { type: 'string', short: 'n' }, json: { type: 'boolean' } } as const;

/**
 * Runs `stemma log` without loading the other commands, the contract, the engine and the readers of formats, which take most of a start. Returns
 * false, and has printed nothing, if the words or the project need more than that, or something is wrong: the whole program then runs the command.
 */
export function logAtAGlance(words: readonly string[]): boolean {
  try {
    const { project, limit = '200', json } = parseArgs({ args: [...words], options }).values;
    const chosen = /^\d{1,6}$/.test(limit) ? findProject(project) : undefined;
    const opened = chosen && openHere(chosen.dir);
    if (!opened) return false;
    try {
      const { chain } = opened.project;
      const graph = titledGraph(chain, logQuery(Number(limit)), noUnstored);
      // The whole program marks what damaged rows say.
      if (hasDamage(chain.db, 'branchMark')) return false;
      printGraph(graph, json);
      return true;
    } finally {
      opened.close();
    }
  } catch {
    return false;
  }
}

function openHere(dir: string): ReturnType<typeof openAtAGlance> {
  const dataDir = dataDirOf();
  const usageSettings = (): string | undefined => ownUsageSettings(dataDir);
  return openAtAGlance(dir, { clock: Date.now, trusted: openTrustedProjects(dataDir), seal: openSeal(dataDir), usageSettings });
}

const noUnstored: UnstoredWindows = (chain, commits) => {
  if (pendingAmong(chain, commits).length > 0) throw new BeyondAGlance('calls must be counted');
  return [];
};
