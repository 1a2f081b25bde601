import { createEngine, type Engine, type EngineOptions } from '../../core/project/index.js';
import { openAccounts, type Vault } from '../providers/index.js';
import { agentIsRunning } from './agents.js';

/**
 * The engine of this process, with the providers that its environment opens and a person set up. They are made here, not
 * handed over: keys stay in the process that asks with them.
 */
export function startEngine(options: EngineOptions, vault?: Vault): Engine {
  const accounts = openAccounts({ dataDir: options.dataDir, env: process.env, vault });
  return createEngine({
    ...options,
    accounts,
    // Asked for anew each time: a person may have set one up since.
    get providers() {
      return accounts.providers();
    },
    isRunning: agentIsRunning,
  });
}
