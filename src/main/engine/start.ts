import { hostname } from 'node:os';
import manifest from '../../../package.json' with { type: 'json' };
import type { UpdateCheck } from '../../core/contract/index.js';
import { createEngine, type Engine, type EngineOptions, type Vault } from '../../core/project/index.js';
import { diagnosticsOf, ownCommand } from '../launch/index.js';
import { openAccounts } from '../providers/index.js';
import { openAgents, openGit, openWorkshop } from '../runner/index.js';
import { openTerminal, processesIn, protectFiles } from '../system/index.js';
import { hubAt, openLogins } from '../team/index.js';
import { openAnalyst } from './analyst.js';
import { sendSpans } from './collector.js';
import { openUpdates } from './updates.js';

export interface Desktop {
  /** Runs `stemma` from this installation: agents start Stemma's tools with it. */
  readonly command: readonly [program: string, ...args: string[]];
  readonly vault: Vault;
  readonly checkForUpdates: () => Promise<UpdateCheck>;
}

/** Starts the engine in this process. It creates the providers, so that keys stay in the process that sends them. */
export function startEngine(options: EngineOptions, desktop?: Desktop): Engine {
  protectFiles();
  const { command = ownCommand(), vault, checkForUpdates } = desktop ?? {};
  const machine = { env: process.env, stemma: command } as const;
  const accounts = openAccounts({ dataDir: options.dataDir, env: process.env, vault });
  const logins = openLogins(options.dataDir, vault);
  return createEngine({
    machine: hostname(),
    ...options,
    accounts,
    vault,
    // Read each time, because a person may have added a provider in the meantime.
    get providers() {
      return accounts.providers();
    },
    analyst: openAnalyst(command, process.env),
    agents: options.agents ?? openAgents(machine),
    workshop: openWorkshop(machine, options.dataDir),
    git: openGit(machine, options.dataDir, { isOffline: true }),
    isRunning: agentIsRunning,
    reachHub: (address) => hubAt(address, logins),
    signIn: logins.signIn,
    openTerminal: (work) => openTerminal(work),
    sendSpans: (address, spans) => sendSpans(address, spans),
    diagnostics: () => diagnosticsOf(manifest.version, options.dataDir),
    updates: openUpdates(options.dataDir, checkForUpdates),
  });
}

/** For each format, a pattern of the command line of its agent. */
const commandOf = (format: string): RegExp => new RegExp(`(^|[/\\\\\\s\\0])${format.replace(/(-code|-cli)?-v\d+$/, '')}\\b`);

/** Whether an agent that writes the format works in the directory, as a process of this user. Undefined where the system does not say. */
function agentIsRunning(format: string, cwd: string): boolean | undefined {
  const command = commandOf(format);
  return processesIn(cwd)?.some((words) => command.test(words));
}
