import { badRequest, inWords, notFound, toTimestamp } from '../../base/index.js';
import type { InputOf, MessageWait } from '../../contract/index.js';
import { type EntityRow, type ReadStore, readMembers, requireEntity, requireSpace, type SpaceRow, type SpaceStore } from './rows.js';

/** The default duration of a wait, in milliseconds. */
export const defaultWaitMs = 5 * 60_000;

/** A wait for an answer: from any member, or from one. */
export interface WaitFor {
  readonly for?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Finds the awaited member by id or name. @throws BAD_REQUEST for the waiter itself, for no member, or for a name of several members. */
export function awaitedMember(store: ReadStore, space: SpaceRow, waiter: Pick<EntityRow, 'no'>, wait: WaitFor): EntityRow | undefined {
  if (wait.for === undefined) return undefined;
  const others = readMembers(store, space).filter((member) => member.no !== waiter.no);
  const byId = others.filter((member) => member.entityId === wait.for);
  const found = byId.length ? byId : others.filter((member) => member.name === wait.for);
  const [only, ...more] = found;
  if (only && !more.length) return only;
  const names = others.map((member) => `${member.name} (${member.entityId})`).join(', ');
  const why = more.length ? 'names several members; give the id' : 'is no other member of the space';
  throw badRequest('wait.for', `${inWords(wait.for)} ${why}. Its other members are ${names || 'none'}.`, { value: wait.for });
}

/** Stores a wait that a message sets. */
export function openWait(store: SpaceStore, waiter: Pick<EntityRow, 'no'>, messageId: string, from: EntityRow | undefined, ms: number): void {
  store.db.run(
    `INSERT INTO spaceWait (message, project, space, waiter, "from", until)
     SELECT no, project, space, :waiter, :from, :until FROM spaceMessage WHERE project = :project AND messageId = :messageId`,
    { waiter: waiter.no, from: from?.no ?? null, until: store.clock() + ms, project: store.project, messageId },
  );
}

/** A message ends a wait (B-33) if the awaited member sent it. If no member is awaited, it must be a reply to the wait, or from a person. */
const endsWait = `w.waiter <> :sender AND CASE WHEN w."from" IS NULL THEN :isHuman OR m.messageId = :repliedTo ELSE w."from" = :sender END`;

/** The messages whose waits a message of this sender would end. Who left the space gets no answer from it. */
export const waitsEndedBy = (store: ReadStore, space: SpaceRow, sender: EntityRow, repliedTo: string | null): ReadonlySet<string> =>
  new Set(
    store.db.column(
      `SELECT m.messageId FROM spaceWait w JOIN spaceMessage m ON m.no = w.message WHERE w.space = :space AND w.endedAt IS NULL AND ${endsWait}
          AND EXISTS (SELECT 1 FROM membership b WHERE b.space = w.space AND b.entity = w.waiter)`,
      { space: space.no, sender: sender.no, isHuman: sender.type === 'human' ? 1 : 0, repliedTo },
    ),
  );

/** Ends waits with an answer. */
export function endWaits(store: SpaceStore, messageIds: ReadonlySet<string>, answer: string): void {
  store.db.run(
    `UPDATE spaceWait SET endedAt = :now, answer = (SELECT no FROM spaceMessage WHERE project = :project AND messageId = :answer)
      WHERE message IN (SELECT m.no FROM spaceMessage m WHERE m.project = :project AND m.messageId IN (SELECT value FROM json_each(:ids)))`,
    { now: store.clock(), project: store.project, answer, ids: JSON.stringify([...messageIds]) },
  );
}

/** Ends waits whose time ran out, and those of a run that ended. */
export function expireWaits(store: SpaceStore): void {
  store.db.run(
    `UPDATE spaceWait SET endedAt = :now WHERE project = :project AND endedAt IS NULL AND (until <= :now OR message IN (
       SELECT m.no FROM spaceMessage m JOIN run r ON r.no = m.run WHERE r.endedAt IS NOT NULL))`,
    { now: store.clock(), project: store.project },
  );
}

/** The wait that a message set. @throws NOT_FOUND */
export function getWait(store: ReadStore, messageId: string): MessageWait {
  const wait = waitOf(store, messageId);
  if (!wait) throw notFound(messageId, `The message ${inWords(messageId)} set no wait.`, { field: 'messageId' });
  return wait;
}

/** The wait that a message set; undefined for a message that set none. */
export const waitOf = (store: ReadStore, messageId: string): MessageWait | undefined => {
  const row = store.db.one<WaitRow>(`${selectWait} WHERE m.project = ? AND m.messageId = ?`, store.project, messageId);
  return row && toWait(row);
};

/** The waits that no message has ended and whose time is not over, oldest first. @throws NOT_FOUND for an unknown space or member. */
export function openWaits(store: ReadStore, filter: InputOf<'space.waits'>): MessageWait[] {
  const space = filter.spaceId === undefined ? null : requireSpace(store, filter.spaceId).no;
  const waiter = filter.entityId === undefined ? null : requireEntity(store, filter.entityId).no;
  return store.db
    .all<WaitRow>(
      `${selectWait} WHERE w.project = ? AND w.endedAt IS NULL AND w.until > ? AND w.space = IFNULL(?, w.space) AND w.waiter = IFNULL(?, w.waiter)
        ORDER BY w.message LIMIT 1000`,
      [store.project, store.clock(), space, waiter],
    )
    .map(toWait);
}

const selectWait = /* sql */ `
SELECT m.messageId, s.spaceId, b.entityId AS waiterId, e.name, w.until, w.endedAt, a.messageId AS answer
  FROM spaceWait w JOIN spaceMessage m ON m.no = w.message JOIN space s ON s.no = w.space JOIN entity b ON b.no = w.waiter
       LEFT JOIN entity e ON e.no = w."from" LEFT JOIN spaceMessage a ON a.no = w.answer`;

interface WaitRow extends Readonly<Pick<MessageWait, 'messageId' | 'spaceId' | 'waiterId'>> {
  readonly name: string | null;
  readonly until: number;
  readonly endedAt: number | null;
  readonly answer: string | null;
}

const toWait = ({ name, until, endedAt, ...row }: WaitRow): MessageWait => ({
  ...row,
  for: name,
  until: toTimestamp(until),
  endedAt: endedAt === null ? null : toTimestamp(endedAt),
});
