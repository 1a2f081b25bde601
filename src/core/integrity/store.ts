import type { WriteChain } from '../chain/index.js';
import type { OutputOf } from '../contract/index.js';
import type { OpenDatabase } from '../store/index.js';

/** The parts of an open project that checks and repairs need. */
export interface CheckedStore {
  readonly projectId: string;
  readonly db: OpenDatabase;
  readonly chain: WriteChain;
}

export type CheckProblemKind = 'database' | 'row' | 'artifact' | 'commit' | 'counts' | 'outline' | 'source';

export type CheckProblem = OutputOf<'project.check'>['problems'][number];

export type CheckResult = OutputOf<'project.check'>;
