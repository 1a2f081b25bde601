import type { Chain } from '../chain/index.js';
import type { AgentPerformer, JobEvent, Performer, PolicyRule, RunLimits, Work } from '../contract/index.js';
import type { AgentRoot } from '../import/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { Diary } from './diary.js';
import type { Target } from './jobs.js';
import type { AgentProgram, Workshop } from './programs.js';

/** A job of this process. */
export interface LiveJob {
  readonly abort: AbortController;
  /** Looks for answers that another process has stored, and for a stop. */
  look(): void;
  /** Gives the job back at once, because the process ends. */
  interrupt(): void;
  readonly listeners: Set<(event: JobEvent) => void>;
  /** Ends when the job has ended. Never rejects. */
  readonly done: Promise<void>;
}

/** The jobs that this process carries out. */
export interface LiveJobs {
  readonly jobs: Map<string, LiveJob>;
  /**
   * Resolves in an event of its own, after those that asked before. Jobs that begin, commit or end at the same time take turns, so that
   * the engine answers the window in between.
   */
  takeTurn(): Promise<void>;
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
  /** Without it, this process repeats no work of agents and runs no checks. */
  readonly workshop?: Workshop | undefined;
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
  /** Who acts where the work names nobody. */
  readonly who?: string | undefined;
  /** The number of this try, where work is repeated. Tries of one context do not wait for each other. */
  readonly try?: number | undefined;
}

/** The performer of a job: a model, an agent, or neither for the recording. */
export interface Chosen {
  readonly provider: ModelProvider | undefined;
  readonly program: AgentProgram | undefined;
}

/** A job that is carried out. */
export interface Performing extends StartInput, Chosen {
  readonly jobId: string;
  readonly target: Target;
  readonly diary: Diary;
  readonly signal: AbortSignal;
}

/** Whether a command-line agent carries out the work. */
export const isAgent = (performer: Performer): performer is AgentPerformer => 'agent' in performer;
