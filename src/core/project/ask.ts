import type { SqlRule, Statement } from '../analysis/index.js';
import type { AnalysisFormat } from '../contract/index.js';
import type { ReadPlace } from './chains.js';

/** A question over many sessions, for a process of its own. */
export type Ask =
  | { readonly kind: 'rows'; readonly statement: Statement; readonly limit?: number | undefined }
  | { readonly kind: 'file'; readonly statement: Statement; readonly format: AnalysisFormat; readonly path: string }
  | { readonly kind: 'findings'; readonly rules: readonly SqlRule[] }
  /** What the built-in rules find in the commits of some runs, a JSON list. */
  | { readonly kind: 'findingsWithin'; readonly runs: string }
  | { readonly kind: 'dataset'; readonly name: string; readonly path: string };

/** A question with the project that it is asked of. */
export interface AnalystOrder {
  readonly place: ReadPlace;
  readonly ask: Ask;
}

/** Answers questions in processes of their own. */
export interface Analyst {
  /** Sends a question to a process that is killed after a time. @throws the StemmaError of the answer; UNAVAILABLE after the time */
  (order: AnalystOrder, limits: AnalystLimits): Promise<unknown>;
  /** Says that a question is likely to follow soon. */
  readonly expect?: () => void;
}

export interface AnalystLimits {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether nobody waits for the answer: its process gives way to others. */
  readonly isBackground?: boolean | undefined;
}
