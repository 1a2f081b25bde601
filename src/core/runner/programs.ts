import type { Json } from '../base/index.js';
import type { AgentAbility, PermissionMode, RequestTokens, Runtime } from '../contract/index.js';

/** A report of an agent about its work. */
export type AgentPiece =
  | { readonly kind: 'text' | 'thinking'; readonly delta: string }
  /** A tool call with its arguments as JSON text, and as data in `input` if an agent reports them. The result has the same id. */
  | { readonly kind: 'call' | 'result'; readonly text: string; readonly toolName: string; readonly toolCallId?: string; readonly input?: Json }
  | { readonly kind: 'usage'; readonly tokens: RequestTokens; readonly model: string | null; readonly cost: number | null }
  /** The agent requests a permission and waits for `answer`. */
  | {
      readonly kind: 'question';
      readonly requestId: string;
      readonly toolName: string;
      readonly arguments: unknown;
      answer(allow: boolean, note: string | undefined): void;
    }
  /** The agent's session, as soon as it is known, and the file that it writes. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly path: string | undefined }
  | { readonly kind: 'notice'; readonly text: string }
  /** The turn has ended. `text` is the last message. */
  | { readonly kind: 'end'; readonly text: string; readonly isError: boolean };

export interface AgentOrder {
  readonly folder: string;
  readonly permissions: PermissionMode;
  readonly model: string | undefined;
  readonly prompt: string;
  /** Rules of Stemma that precede the conversation, if it can contain texts from other machines. They are no part of the session. */
  readonly rules: string | undefined;
  /** The session to resume, with its file; undefined starts a new one. */
  readonly resume: { readonly sessionId: string; readonly path: string } | undefined;
  /** Further variables of the environment that the agent gets, as a person set on this machine. */
  readonly environment?: readonly string[] | undefined;
  /** The project, tools and actor of Stemma's MCP server for the agent. */
  readonly mcp:
    | {
        readonly project: string;
        /** The groups and tools of the job; empty for all. */
        readonly tools: readonly string[];
        /** The tools that the profile of the agent permits; undefined if the work has no profile. */
        readonly permitted?: readonly string[] | undefined;
        readonly as: string | null;
        readonly runId: string | null;
      }
    | undefined;
}

/** A folder of a try, and whether the process that made it still lives. */
export interface MadeFolder {
  readonly folder: string;
  readonly isHeld: boolean;
}

/** Makes folders for tries, and runs the checks that a person typed. Core starts no processes, so a module outside of core implements this. */
export interface Workshop {
  /** Makes a folder for one try: a Git worktree of the folder, else a copy of it. Returns its path. */
  make(folder: string, name: string): Promise<string>;
  /** The folders of tries whose names begin with this text. */
  made(beginning: string): Promise<readonly MadeFolder[]>;
  /** Runs a command in the folder of a try. It reads `input`. */
  check(command: string, folder: string | undefined, input: string, environment?: readonly string[]): Promise<{ passed: boolean; output: string }>;
  /** Removes a folder that `make` made. Other folders stay. */
  remove(folder: string): Promise<void>;
}

/** A command-line agent. Core starts no processes, so a module outside of core runs it. */
export interface AgentProgram extends Omit<AgentAbility, 'agent' | 'problem'> {
  readonly agent: Runtime;
  /** True if the work is recorded from the agent's reports, because the agent does not write its session to a growing file. */
  readonly reports?: boolean;
  /** Why it cannot run on this machine; null if it can. */
  problem(): string | null;
  /** Runs one turn. If the signal aborts, the agent and every process that it started are ended. */
  run(order: AgentOrder, signal: AbortSignal): AsyncIterable<AgentPiece>;
}
