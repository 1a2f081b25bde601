import type { ContextId } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { LayerSources } from '../composer/index.js';
import type { AgentPerformer, InputOf, JobEvent, Performer } from '../contract/index.js';
import type { AgentRoot } from '../import/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { Diary } from './diary.js';
import type { JobTarget, NewJob } from './jobs.js';
import type { AgentProgram, Workshop } from './programs.js';

export interface LiveJob {
  readonly abort: AbortController;
  /** Checks for answers and stops that another process has stored. */
  look(): void;
  /** Gives the job back at once, because the process ends. */
  interrupt(): void;
  readonly listeners: Set<(event: JobEvent) => void>;
  /** Resolves when the job has ended. Never rejects. */
  readonly done: Promise<void>;
}

export interface LiveJobs {
  readonly jobs: Map<string, LiveJob>;
  /** Resolves in a separate event, after earlier callers, so that the engine can answer the window between jobs that act at once. */
  takeTurn(): Promise<void>;
  /** Stops all jobs, because the process ends. */
  close(): void;
}

export interface RunnerParts {
  readonly chain: WriteChain;
  readonly live: LiveJobs;
  readonly providers: readonly ModelProvider[];
  /** The command-line agents that this process can run. */
  readonly agents: readonly AgentProgram[];
  /** Where agents keep their sessions on this machine. */
  readonly agentRoots: readonly AgentRoot[];
  /** The folder of the project, for the MCP server of an agent. */
  readonly dir: string;
  /** Further variables of the environment for agents and checks, by name. */
  readonly environment?: readonly string[] | undefined;
  /** What the profile of an agent can permit from the rest of the project, for a call on this context, or for the first one of a session on top of it. */
  readonly layers?: ((context: ContextId | null, sessionId?: string) => LayerSources) | undefined;
  /** Makes folders for tries and runs checks. Without it, this process cannot repeat the work of agents. */
  readonly workshop?: Workshop | undefined;
}

export interface StartInput extends InputOf<'runner.start'>, Pick<NewJob, 'most'> {
  readonly rule?: string | undefined;
  /** The actor if the work names nobody. */
  readonly who?: string | undefined;
  /** The number of this try, if the work is repeated. Tries of one context do not wait for each other. */
  readonly try?: number | undefined;
}

/** The performer of a job: a model, an agent, or neither for the recording. */
export interface ChosenPerformer {
  readonly provider: ModelProvider | undefined;
  readonly program: AgentProgram | undefined;
}

export interface Performing extends StartInput, ChosenPerformer {
  readonly jobId: string;
  readonly target: JobTarget;
  readonly diary: Diary;
  readonly signal: AbortSignal;
}

/** Whether a command-line agent carries out the work. */
export const isAgent = (performer: Performer): performer is AgentPerformer => 'agent' in performer;
