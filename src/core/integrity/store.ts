import type { Chain } from '../chain/index.js';
import type { OpenDatabase } from '../store/index.js';

/** The parts of an open project that checks and repairs need. */
export interface CheckedStore {
  readonly projectId: string;
  readonly db: OpenDatabase;
  readonly chain: Chain;
}

export type ProblemKind = 'database' | 'row' | 'artifact' | 'commit' | 'counts' | 'outline' | 'source';

export interface Problem {
  readonly kind: ProblemKind;
  /** The ref, commit id, source id, or the name of a row or table. */
  readonly id: string;
  readonly message: string;
  /** True if a repair made it intact again. */
  readonly repaired?: boolean;
}

export interface CheckResult {
  readonly ok: boolean;
  /** The numbers of checked objects, commits and sources. */
  readonly checked: Record<string, number>;
  readonly problems: Problem[];
}
