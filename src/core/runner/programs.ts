import type { Json } from '../base/index.js';
import type { AgentAbility, PermissionMode, RequestTokens, Runtime } from '../contract/index.js';

/** What an agent does, as it does it. */
export type AgentPiece =
  | { readonly kind: 'text' | 'thinking'; readonly delta: string }
  /** A call has its arguments as JSON text, and as `input` where the chain is made of what the agent tells. Its result has the same id. */
  | { readonly kind: 'call' | 'result'; readonly text: string; readonly toolName: string; readonly toolCallId?: string; readonly input?: Json }
  /** A model call ended. */
  | { readonly kind: 'usage'; readonly tokens: RequestTokens; readonly model: string | null; readonly cost: number | null }
  /** It asks for a permission and waits for `answer`. */
  | {
      readonly kind: 'question';
      readonly requestId: string;
      readonly toolName: string;
      readonly arguments: unknown;
      answer(allow: boolean, note: string | undefined): void;
    }
  /** Its session, as soon as it is known, and the file that it writes. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly path: string | undefined }
  | { readonly kind: 'notice'; readonly text: string }
  /** Its turn is over. `text` is its last message. */
  | { readonly kind: 'end'; readonly text: string; readonly isError: boolean };

/** One turn of a command-line agent. */
export interface AgentOrder {
  readonly folder: string;
  readonly permissions: PermissionMode;
  readonly model: string | undefined;
  readonly prompt: string;
  /** The session to resume, with its file; undefined starts a new one. */
  readonly resume: { readonly sessionId: string; readonly path: string } | undefined;
  /** The project and the tools that Stemma's MCP server gives the agent, and in whose name. */
  readonly mcp:
    | { readonly project: string; readonly tools: readonly string[]; readonly as: string | null; readonly runId: string | null }
    | undefined;
}

/** A folder of a try, and whether the process that made it still lives. */
export interface MadeFolder {
  readonly folder: string;
  readonly isHeld: boolean;
}

/** Folders for tries, and checks that a person typed. Core starts no process, so a process outside of it does both. */
export interface Workshop {
  /** Makes a folder for one try: a Git worktree of the folder, else a copy of it. Returns its path. */
  make(folder: string, name: string): Promise<string>;
  /** The folders of tries whose names begin with this text. */
  made(beginning: string): Promise<readonly MadeFolder[]>;
  /** Runs a command in the folder of a try. It reads `input`. */
  check(command: string, folder: string | undefined, input: string): Promise<{ readonly passed: boolean; readonly output: string }>;
  /** Removes a folder that `make` made. Other folders stay. */
  remove(folder: string): Promise<void>;
}

/** A command-line agent that a process outside of core can run. Core starts no process. */
export interface AgentProgram extends Omit<AgentAbility, 'agent' | 'problem'> {
  readonly agent: Runtime;
  /** Whether its work is recorded from what it reports, because it keeps its session in no growing file. */
  readonly reports?: boolean;
  /** Why it cannot run on this machine; null if it can. */
  problem(): string | null;
  /** Runs one turn. The end of the signal ends the agent and everything that it started. */
  run(order: AgentOrder, signal: AbortSignal): AsyncIterable<AgentPiece>;
}
