import { isObject, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';

/** A session that began as a copy of another one. */
export interface Origin {
  readonly session: string;
  /** When its own work began, in milliseconds since 1970. */
  readonly from: number;
}

/** Where a session repeats another one, by its session line; the copied lines often have the time of the copy. Undefined if it does not. */
export function findOrigin({ payload, at }: { readonly payload: JsonObject; readonly at: Timestamp | undefined }): Origin | undefined {
  const session = stringAt(payload, 'forked_from_id') ?? stringAt(payload, 'parent_thread_id') ?? spawnedBy(payload);
  if (session === undefined || stringAt(payload.history_base, 'thread_id') !== undefined) return undefined;
  const from = timeIn(stringAt(payload, 'id')) ?? Date.parse(stringAt(payload, 'timestamp') ?? at ?? '');
  return Number.isNaN(from) ? undefined : { session, from };
}

function spawnedBy({ source }: JsonObject): string | undefined {
  const subagent = isObject(source) ? source.subagent : undefined;
  return stringAt(isObject(subagent) ? subagent.thread_spawn : undefined, 'parent_thread_id');
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
