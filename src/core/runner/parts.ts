import type { Chain } from '../chain/index.js';
import type { JobEvent, Performer, PolicyRule, RunLimits, Work } from '../contract/index.js';
import type { AgentRoot } from '../import/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { AgentProgram } from './programs.js';

/** A job of this process. */
export interface LiveJob {
  readonly abort: AbortController;
  /** Looks for answers that another process has stored, and for a stop. */
  look(): void;
  readonly listeners: Set<(event: JobEvent) => void>;
  /** Ends when the job has ended. Never rejects. */
  readonly done: Promise<void>;
}

/** The jobs that this process carries out. */
export interface LiveJobs {
  readonly jobs: Map<string, LiveJob>;
  /** Stops all jobs, because the process ends. */
  close(): void;
}

/** What starts a job. */
export interface RunnerParts {
  readonly chain: Chain;
  readonly live: LiveJobs;
  readonly providers: readonly ModelProvider[];
  /** The command-line agents that this process can run. */
  readonly agents: readonly AgentProgram[];
  /** Where agents keep their sessions on this machine. */
  readonly agentRoots: readonly AgentRoot[];
  /** The folder of the project, for the MCP server of an agent. */
  readonly dir: string;
}

export interface StartInput {
  readonly what: Work;
  readonly performer: Performer;
  readonly limits?: RunLimits | undefined;
  /** The tools of Stemma that a model is offered; without it, all. */
  readonly tools?: readonly string[] | undefined;
  /** What happens when a model calls a tool that Stemma does not have. */
  readonly otherTools?: PolicyRule['otherTools'];
  /** The policy rule that starts it. */
  readonly rule?: string | undefined;
}
