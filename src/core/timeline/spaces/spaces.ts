import { badRequest, conflict, inWords, toTimestamp } from '../../base/index.js';
import type { Entity, InputOf, Membership, OutputOf, Space } from '../../contract/index.js';
import { findMessageId, movedMark, unreadAfter } from '../render/rules.js';
import {
  type EntityRow,
  type MembershipRow,
  type MessageRow,
  newestSeq,
  newId,
  type ReadStore,
  readMembers,
  requireEntity,
  requireMembership,
  requireSpace,
  type SpaceRow,
  type SpaceStore,
  selectMessage,
  toEntity,
  toMessage,
  toSpace,
} from './rows.js';

/** Adds a person, an agent or a service. @throws CONFLICT if the id is in use. */
export function addEntity(store: SpaceStore, input: InputOf<'space.addEntity'>): Entity {
  return store.db.transaction(() => {
    const entityId = input.entityId ?? newId(store, 'ent', 'entity', 'entityId');
    if (store.db.one('SELECT 1 FROM entity WHERE project = ? AND entityId = ?', store.project, entityId))
      throw conflict(`${inWords(entityId)} already exists; choose another id`, { id: entityId });
    const { name, type } = input;
    store.db.insert('entity', { project: store.project, entityId, name, type, createdAt: store.clock() });
    return toEntity(requireEntity(store, entityId));
  });
}

/** All people, agents and services in the order in which they were added. */
export const listEntities = (store: ReadStore): Entity[] =>
  store.db.all<EntityRow>('SELECT no, entityId, name, type, createdAt FROM entity WHERE project = ? ORDER BY no', store.project).map(toEntity);

/** Creates a space with its first members. @throws CONFLICT if the id is in use, NOT_FOUND for an unknown member. */
export function createSpace(store: SpaceStore, input: InputOf<'space.create'>): Space {
  return store.db.transaction(() => {
    const spaceId = input.spaceId ?? newId(store, 'space', 'space', 'spaceId');
    if (store.db.one('SELECT 1 FROM space WHERE project = ? AND spaceId = ?', store.project, spaceId))
      throw conflict(`${inWords(spaceId)} already exists; choose another id`, { id: spaceId });
    store.db.insert('space', { project: store.project, spaceId, name: input.name, createdAt: store.clock() });
    const space = requireSpace(store, spaceId);
    for (const member of new Set(input.members)) addMember(store, space, requireEntity(store, member));
    return toSpace(store, space);
  });
}

/** Adds a member to a space. Joining again changes nothing. */
export function joinSpace(store: SpaceStore, spaceId: string, entityId: string): Membership {
  return store.db.transaction(() => {
    const [space, entity] = [requireSpace(store, spaceId), requireEntity(store, entityId)];
    addMember(store, space, entity);
    return toMembership(space, entity, requireMembership(store, space, entity));
  });
}

const addMember = (store: SpaceStore, space: SpaceRow, entity: EntityRow): void => {
  const insert = 'INSERT INTO membership (project, space, entity, joinedAt) VALUES (?, ?, ?, ?) ON CONFLICT (space, entity) DO NOTHING';
  store.db.run(insert, store.project, space.no, entity.no, store.clock());
  // An agent that comes back has still processed what its completed runs saw.
  store.db.run(
    `UPDATE membership SET (processedSeq, processedMessage) = (
       SELECT m.seq, m.messageId FROM spaceMessage m WHERE m.space = :space AND m.seq = (
         SELECT MAX(s.seq) FROM runSeen s JOIN run r ON r.no = s.run WHERE r.entity = :entity AND s.space = :space AND r.status = 'completed'))
      WHERE space = :space AND entity = :entity AND processedMessage IS NULL AND EXISTS (
       SELECT 1 FROM runSeen s JOIN run r ON r.no = s.run WHERE r.entity = :entity AND s.space = :space AND r.status = 'completed' AND s.seq > 0)`,
    { space: space.no, entity: entity.no },
  );
};

/** Removes a member and its marks. Its messages stay. */
export function leaveSpace(store: SpaceStore, spaceId: string, entityId: string): Space {
  return store.db.transaction(() => {
    const [space, entity] = [requireSpace(store, spaceId), requireEntity(store, entityId)];
    requireMembership(store, space, entity);
    store.db.run('DELETE FROM membership WHERE space = ? AND entity = ?', space.no, entity.no);
    return toSpace(store, space);
  });
}

const toMembership = (space: SpaceRow, entity: EntityRow, row: MembershipRow): Membership => ({
  spaceId: space.spaceId,
  entityId: entity.entityId,
  joinedAt: toTimestamp(row.joinedAt),
  lastProcessedMessageId: row.processedMessage,
  lastSeenMessageId: row.seenMessage,
});

/** All spaces, or those of one member with the number of messages that it has not read. */
export function listSpaces(store: ReadStore, entityId: string | undefined): (Space & { unread: number })[] {
  const rows = store.db.all<SpaceRow>('SELECT no, spaceId, name, createdAt FROM space WHERE project = ? ORDER BY no', store.project);
  if (entityId === undefined) return rows.map((row) => ({ ...toSpace(store, row), unread: 0 }));
  const entity = requireEntity(store, entityId);
  const marks = new Map(store.db.rows<[number, number]>('SELECT space, seenSeq FROM membership WHERE entity = ?', entity.no));
  return rows.flatMap((row) => {
    const mark = marks.get(row.no);
    if (mark === undefined) return [];
    const counted = 'SELECT COUNT(*) FROM spaceMessage WHERE space = ? AND seq > ? AND sender <> ?';
    const [unread = 0] = store.db.column<number>(counted, row.no, mark, entity.no);
    return [{ ...toSpace(store, row), unread }];
  });
}

/** A space with its memberships. */
export function getSpace(store: ReadStore, spaceId: string): Space & { memberships: Membership[] } {
  const space = requireSpace(store, spaceId);
  const shown = toSpace(store, space);
  const memberships = shown.members.map((member) => {
    const entity = requireEntity(store, member.entityId);
    return toMembership(space, entity, requireMembership(store, space, entity));
  });
  return { ...shown, memberships };
}

/** The newest messages before a position, oldest first. */
export function spaceMessages(store: ReadStore, input: InputOf<'space.messages'>): OutputOf<'space.messages'> {
  const space = requireSpace(store, input.spaceId);
  return {
    total: newestSeq(store, space.no),
    messages: newestBefore(store, space.no, input.before ?? Number.MAX_SAFE_INTEGER, input.limit ?? 200).map(toMessage),
  };
}

/** Rows of the newest `limit` messages with a position below `before`, oldest first. */
export const newestBefore = (store: ReadStore, space: number, before: number, limit: number): MessageRow[] =>
  store.db.all<MessageRow>(`${selectMessage} WHERE m.space = ? AND m.seq < ? ORDER BY m.seq DESC LIMIT ?`, space, before, limit).reverse();

/** A message of a space by its id, also without prefix or by a unique beginning. @throws BAD_REQUEST if none or several match. */
export function messageNamed(store: ReadStore, space: SpaceRow, reference: string): MessageRow {
  const bare = reference.replace(/^msg[:-]/, '');
  const ids = store.db.column<string>(
    `SELECT messageId FROM spaceMessage WHERE space = :space
        AND (messageId = :reference OR substr(messageId, 1, :length + 4) = 'msg-' || :bare OR substr(messageId, 1, MAX(1, :length)) = :bare) LIMIT 5`,
    { space: space.no, reference, bare, length: bare.length },
  );
  const messageId = findMessageId(reference, ids);
  const row = store.db.one<MessageRow>(`${selectMessage} WHERE m.project = ? AND m.messageId = ?`, store.project, messageId);
  if (!row) throw badRequest('messageId', `no message of this space has the id ${inWords(reference)}`);
  return row;
}

/** The one human of a space. @throws BAD_REQUEST for none or several: a receipt without a reader would move the mark of somebody else */
function onlyHuman(store: ReadStore, space: SpaceRow): EntityRow {
  const [only, ...others] = readMembers(store, space).filter(({ type }) => type === 'human');
  const name = space.name ?? space.spaceId;
  if (!only) throw badRequest('entityId', `${name} has no human member whose mark could move`);
  if (others.length === 0) return only;
  throw badRequest(
    'entityId',
    `${name} has several humans: name the reader. They are ${[only, ...others].map(({ entityId }) => entityId).join(', ')}.`,
  );
}

/** A human's read receipt moves their mark forward (B-29). @throws BAD_REQUEST for an agent, no member, or a message elsewhere. */
export function readReceipt(store: SpaceStore, input: InputOf<'space.read'>): OutputOf<'space.read'> {
  return store.db.transaction(() => {
    const space = requireSpace(store, input.spaceId);
    const entity = input.entityId === undefined ? onlyHuman(store, space) : requireEntity(store, input.entityId);
    if (entity.type !== 'human') throw badRequest('entityId', `${entity.name} is not a human (${entity.type}): only humans have read receipts`);
    const { no, seenSeq, seenMessage } = requireMembership(store, space, entity);
    const { messageId, seq } = messageNamed(store, space, input.lastMessageId);
    const mark = movedMark(seenMessage === null ? null : { messageId: seenMessage, seq: seenSeq }, { messageId, seq });
    if (mark) store.db.run('UPDATE membership SET seenSeq = ?, seenMessage = ? WHERE no = ?', mark.seq, mark.messageId, no);
    const later = store.db.all<{ messageId: string; seq: number; senderId: string }>(
      'SELECT m.messageId, m.seq, e.entityId AS senderId FROM spaceMessage m JOIN entity e ON e.no = m.sender WHERE m.space = ? AND m.seq > ? ORDER BY m.seq',
      [space.no, mark?.seq ?? 0],
    );
    return { membership: toMembership(space, entity, requireMembership(store, space, entity)), ...unreadAfter(later, mark, entity.entityId) };
  });
}
