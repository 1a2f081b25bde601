import type { ContextId } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Performer, PolicyRule, Received, Work } from '../contract/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { JobTarget } from './jobs.js';
import type { Performing, RunnerParts } from './parts.js';

/** How carried out work ended. */
export type WorkOutcome = 'success' | 'failed' | 'stopped';

/** The context from which a performer starts, and the metadata of its commits. */
export interface Start {
  /** The context that the performer continues. It ends with a message, or in the middle of an earlier job's work. */
  readonly from: ContextId;
  readonly who: string;
  readonly runId: string | null;
  /** The tools of Stemma's MCP server that a command-line agent is offered; undefined for the work of a person. */
  readonly permitted: readonly string[] | undefined;
  readonly as: { readonly template?: string; readonly principal: string; readonly ticketId?: string; readonly threadId?: string };
  /** Called with each new commit, if the work stores it in a place of its own. */
  moved?(commit: ContextId): void;
}

export interface WorkEnd {
  readonly status: 'completed' | 'partial' | 'failed' | 'canceled';
  readonly text: string;
  readonly tip: ContextId;
  /** True if the run waits and ends later. */
  readonly pauses: boolean;
}

/** Work in the name of an agent, which a model or a command-line agent carries out. */
export interface OwnWork {
  /** Undefined if another job has done the work meanwhile. */
  start(): Start | undefined;
  end(end: WorkEnd): void;
}

/** Who asked for work, and when, in milliseconds since 1970. */
export interface AskedBy {
  readonly who: string;
  readonly at: number;
}

/** A kind of work of jobs. Turns, runs, starts and cases keep their own states, which hubs exchange; nothing else tells kinds apart. */
export interface WorkKind<Of extends Work> {
  /** What a job of this work holds, and its name. `byRule` takes a start without assignee. @throws NOT_FOUND; CONFLICT if ended or waiting */
  target(chain: ReadChain, what: Of, byRule: string | undefined): JobTarget;
  /** The open work that a rule covers, oldest first; empty for a rule about another kind. */
  open(chain: WriteChain, rule: PolicyRule): Of[];
  /** Who asked for the work; undefined if nobody is recorded. */
  source(chain: ReadChain, what: Of): AskedBy | undefined;
  /** Whether a person or a deadline has canceled the work while a job carries it out. */
  isCanceled(chain: ReadChain, what: Of): boolean;
  /** Who sent the work from another machine; null if this machine recorded it. @throws NOT_FOUND for an unknown turn */
  received(chain: ReadChain, what: Of): Received | null;
  /** Records that a person of this machine allows the work. @throws NOT_FOUND for an unknown turn */
  allow(chain: WriteChain, what: Of): void;
  /** Whether a recording can answer in place of a model. */
  readonly hasRecording: boolean;
  /** Refuses a performer that this work cannot have. @throws BAD_REQUEST */
  checkPerformer(chain: ReadChain, what: Of, performer: Performer): void;
  /** The work as a command-line agent does it; undefined if none can. Without `continues`, each job starts where the first one did. */
  own(chain: WriteChain, work: Performing, what: Of): (OwnWork & { readonly continues: boolean }) | undefined;
  /** Carries out the work with a model, or with its recording if `provider` is undefined. @throws the error that ended it */
  perform(parts: RunnerParts, work: Performing, what: Of, provider: ModelProvider | undefined): Promise<WorkOutcome>;
}

const maxTitleLength = 200;

/** The title of a job, shortened. */
export const jobTitle = (text: string): string => text.slice(0, maxTitleLength);

export type TurnWork = Extract<Work, { readonly turnId: string }>;
export type RunWork = Extract<Work, { readonly runId: string }>;
export type StartWork = Extract<Work, { readonly eventId: number }>;
export type CommitWork = Extract<Work, { readonly commit: string }>;
export type CaseWork = Extract<Work, { readonly caseId: string }>;

/** What a kind does that nobody sends, asks for, or cancels. */
export const quiet = {
  open: () => [],
  source: () => undefined,
  isCanceled: () => false,
  received: () => null,
  allow: () => {},
  hasRecording: false,
  checkPerformer: () => {},
} satisfies Partial<WorkKind<Work>>;

/** A model carries out all work that has no recording. */
export function modelOf(provider: ModelProvider | undefined): ModelProvider {
  if (!provider) throw new Error('Only a commit has a recording.');
  return provider;
}
