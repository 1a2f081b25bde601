import type { ContextId } from '../base/index.js';
import type { Skip } from '../contract/index.js';
import type { PlanContext } from '../formats/index.js';
import type { Hashes, Regrouping, Signed } from '../import/index.js';

export interface GrowthOptions {
  /**
   * `settled`: the finished turns. `resting`: also a turn that looks finished, if nothing followed for a moment. `all`: everything.
   * `end`: the same, as the end of the session. `compaction`: the agent is about to compact, so that an unfinished turn is imported up
   * to here. `now`: the same, because the agent writes a ticket.
   */
  readonly what: 'settled' | 'resting' | 'all' | 'end' | 'compaction' | 'now';
  readonly granularity: PlanContext['granularity'];
  /** How to join the commits of turns and parts of turns; by default, they stay as they are. */
  readonly regroup?: Regrouping | undefined;
  /** The recording principal, its ticket and its machine. The default machine is this one. */
  readonly signed?: Signed | undefined;
  /** Where the last import ended. Without it, all imported bytes are read again and compared. */
  readonly seam?: Seam | undefined;
}

/** The last imported bytes and the offset of their end. A file that still has them there has only grown. */
export interface Seam {
  readonly at: number;
  readonly bytes: Uint8Array;
  /** The hashes of the file up to there. */
  readonly hashes?: Hashes;
}

/** The commits that one import of a growing transcript added, and facts about the rest. */
export interface TranscriptGrowth {
  readonly format?: string;
  readonly commits: number;
  readonly entries: number;
  /** The newest commit of the imported part of the session. */
  readonly tip?: ContextId;
  readonly seam?: Seam;
  readonly skipped: readonly Skip[];
  readonly bytes: number;
  readonly pending: number;
  /** The rest contains an unfinished turn. */
  readonly open: boolean;
  /** The rest contains a turn that looks finished. */
  readonly rests: boolean;
  /** The agent has left the session. */
  readonly ended: boolean;
}
