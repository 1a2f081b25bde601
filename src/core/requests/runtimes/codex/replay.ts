import { stringAt, type Timestamp } from '../../../base/index.js';
import { type CodexLine, codexLines } from '../../../formats/index.js';
import type { EarlierDeltas } from '../runtime.js';

/** A session that began as a copy of another one: the time at which its own work began. */
export interface Origin {
  readonly from: number;
}

/**
 * The beginning of a session that repeats another one. Codex writes the other session's lines into the new file, often with the time of the copy.
 * Undefined for a session of its own.
 */
export function originIn(lines: readonly CodexLine[], before: EarlierDeltas | undefined): Origin | undefined {
  // A copy contains the other session's line too.
  const own = metaIn(before?.first()) ?? lines.find(({ sort }) => sort === 'meta');
  if (!own) return undefined;
  const { payload, at } = own;
  const isCopy = ['forked_from_id', 'parent_thread_id'].some((name) => stringAt(payload, name) !== undefined) || isSpawned(payload);
  if (!isCopy || stringAt(payload.history_base, 'thread_id') !== undefined) return undefined;
  const from = timeIn(stringAt(payload, 'id')) ?? Date.parse(stringAt(payload, 'timestamp') ?? at ?? '');
  return Number.isNaN(from) ? undefined : { from };
}

const isSpawned = ({ source }: CodexLine['payload']): boolean => {
  const subagent = typeof source === 'object' && source !== null && 'subagent' in source ? source.subagent : undefined;
  const spawned = typeof subagent === 'object' && subagent !== null && 'thread_spawn' in subagent ? subagent.thread_spawn : undefined;
  return stringAt(spawned, 'parent_thread_id') !== undefined;
};

/** The session line at the beginning of a delta. */
function metaIn(delta: Uint8Array | undefined): CodexLine | undefined {
  if (!delta) return undefined;
  const end = delta.indexOf(0x0a);
  return codexLines(end < 0 ? delta : delta.subarray(0, end + 1)).find(({ sort }) => sort === 'meta');
}

/** The copied lines are written within this time, in milliseconds. */
const copyMs = 500;

/** Whether a turn was copied: it was named before the session began. Turns that are not named by time were copied if they began with the session. */
export function isReplayed(origin: Origin | undefined, turn: string | undefined, turnAt: Timestamp | undefined): boolean {
  if (!origin) return false;
  const named = timeIn(turn);
  if (named !== undefined) return named < origin.from;
  return turnAt !== undefined && Date.parse(turnAt) < origin.from + copyMs;
}

/** The time in a UUID of version 7. */
function timeIn(id: string | undefined): number | undefined {
  const found = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id ?? '');
  return found ? Number.parseInt(`${found[1]}${found[2]}`, 16) : undefined;
}
