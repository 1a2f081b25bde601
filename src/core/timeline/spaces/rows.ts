import { badRequest, inWords, notFound, picked, toTimestamp } from '../../base/index.js';
import type { ReadChain, WriteChain } from '../../chain/index.js';
import type { Entity, EntityType, MessageOrigin, Resume, Run, Space, SpaceMessage, Trigger } from '../../contract/index.js';

/** The tables, the clock and the ids of one project, which every function of spaces needs. */
export type SpaceStore = Pick<WriteChain, 'db' | 'project' | 'clock' | 'newId'>;

/** The same parts for reading. */
export type ReadStore = Pick<ReadChain, 'db' | 'project' | 'clock' | 'newId'>;

export type EntityRow = Readonly<Pick<Entity, 'entityId' | 'name' | 'type'> & Record<'no' | 'createdAt', number>>;
export type SpaceRow = Readonly<Pick<Space, 'spaceId' | 'name'> & Record<'no' | 'createdAt', number>>;

export interface MessageRow
  extends Readonly<Pick<SpaceMessage, 'messageId' | 'spaceId' | 'seq' | 'text' | 'replyTo' | 'chainDepth' | 'runId'>>,
    Readonly<Record<'no' | 'at' | 'expectsReply', number>>,
    Readonly<Record<'senderId' | 'senderName', string>> {
  readonly origin: string | null;
  readonly senderType: EntityType;
}

export interface RunRow
  extends Readonly<Pick<Run, 'runId' | 'entityId' | 'status' | 'chainDepth' | 'activeSpaceId' | 'contextId'>>,
    Readonly<Record<'no' | 'entity' | 'createdAt' | 'invokedAt' | 'waits', number>>,
    Readonly<Record<'activeSpace' | 'endedAt' | 'waitSpace' | 'waitUntil' | 'waitMs', number | null>>,
    Readonly<Record<'entityName' | 'trigger', string>>,
    Readonly<Record<'frame' | 'waitMessage' | 'waitSpaceId' | 'waitFor' | 'resumed', string | null>> {}

export const selectMessage = /* sql */ `
SELECT m.no, m.messageId, s.spaceId, m.seq, m.at, m.text, m.replyTo, m.expectsReply, m.chainDepth, m.origin, r.runId,
       e.entityId AS senderId, e.name AS senderName, e.type AS senderType
  FROM spaceMessage m JOIN space s ON s.no = m.space JOIN entity e ON e.no = m.sender LEFT JOIN run r ON r.no = m.run`;

export const selectRun = /* sql */ `
SELECT r.no, r.runId, r.entity, e.entityId, e.name AS entityName, r.status, r."trigger", r.chainDepth, r.activeSpace, a.spaceId AS activeSpaceId,
       r.createdAt, r.invokedAt, r.frame, r.endedAt, r.waitMessage, r.waitSpace, w.spaceId AS waitSpaceId, r.waitFor, r.waitUntil, r.waitMs, r.waits,
       r.resumed, c.id AS contextId
  FROM run r JOIN entity e ON e.no = r.entity LEFT JOIN space a ON a.no = r.activeSpace LEFT JOIN space w ON w.no = r.waitSpace
       LEFT JOIN commits c ON c.seq = r.context`;

function required<Row>({ db, project }: ReadStore, sql: string, id: string, field: string, what: string): Row {
  const row = db.one<Row>(sql, project, id);
  if (!row) throw notFound(id, `this project has no ${what} ${inWords(id)}`, { field });
  return row;
}

const selectEntity = 'SELECT no, entityId, name, type, createdAt FROM entity WHERE project = ? AND entityId = ?';
const selectSpace = 'SELECT no, spaceId, name, createdAt FROM space WHERE project = ? AND spaceId = ?';

/** @throws NOT_FOUND for an unknown id. */
export const requireEntity = (store: ReadStore, entityId: string): EntityRow =>
  required(store, selectEntity, entityId, 'entityId', 'human, agent or service');

/** @throws NOT_FOUND for an unknown id, BAD_REQUEST for a person or a service: only agents run, and have goals, memories and plans. */
export function requireAgent(store: ReadStore, entityId: string): EntityRow {
  const entity = requireEntity(store, entityId);
  if (entity.type === 'agent') return entity;
  throw badRequest('entityId', `${entity.name} is ${entity.type}: only agents run`);
}

/** @throws NOT_FOUND for an unknown id. */
export const requireSpace = (store: ReadStore, spaceId: string): SpaceRow => required(store, selectSpace, spaceId, 'spaceId', 'space');

/** @throws NOT_FOUND for an unknown id. */
export const requireRun = (store: ReadStore, runId: string): RunRow =>
  required(store, `${selectRun} WHERE r.project = ? AND r.runId = ?`, runId, 'runId', 'run');

export type MembershipRow = Readonly<
  Record<'no' | 'joinedAt' | 'processedSeq' | 'seenSeq', number> & Record<'processedMessage' | 'seenMessage', string | null>
>;

/** @throws BAD_REQUEST if the entity is not a member: only members read and write. */
export function requireMembership(store: ReadStore, space: SpaceRow, entity: Pick<EntityRow, 'no' | 'name'>): MembershipRow {
  const row = store.db.one<MembershipRow>(
    'SELECT no, joinedAt, processedSeq, processedMessage, seenSeq, seenMessage FROM membership WHERE space = ? AND entity = ?',
    [space.no, entity.no],
  );
  if (!row) throw badRequest('entityId', `${entity.name} is not a member of ${space.name ?? space.spaceId}: join the space first`);
  return row;
}

/** The members of a space in the order in which they joined. */
export const readMembers = (store: ReadStore, space: Pick<SpaceRow, 'no'>): EntityRow[] =>
  store.db.all<EntityRow>(
    'SELECT e.no, e.entityId, e.name, e.type, e.createdAt FROM membership m JOIN entity e ON e.no = m.entity WHERE m.space = ? ORDER BY m.no',
    space.no,
  );

/** The position of the newest message; 0 in an empty space. */
export const newestSeq = (store: ReadStore, space: number): number =>
  store.db.value<number | null>('SELECT MAX(seq) FROM spaceMessage WHERE space = ?', space) ?? 0;

/** A new id of eight digits, more if those are in use, as agents read it often. Runs travel through hubs and get all digits. */
export function newId(store: ReadStore, prefix: string, table: 'spaceMessage' | 'run' | 'space' | 'entity' | 'plan', column: string): string {
  const digits = store.newId().replaceAll('-', '');
  for (let length = table === 'run' ? digits.length : 8; length <= digits.length; length += 4) {
    const id = `${prefix}-${digits.slice(0, length)}`;
    if (!store.db.one(`SELECT 1 FROM ${table} WHERE project = ? AND ${column} = ?`, store.project, id)) return id;
  }
  throw new Error(`the source of ids returned ${digits} twice`);
}

/** An entity as the contract has it. */
export const toEntity = ({ entityId, name, type, createdAt }: EntityRow): Entity => ({ entityId, name, type, createdAt: toTimestamp(createdAt) });

/** A space as the contract has it. */
export function toSpace(store: ReadStore, row: SpaceRow): Space {
  const { no, spaceId, name, createdAt } = row;
  const [[messages, last] = [0, null]] = store.db.rows<[number, number | null]>('SELECT COUNT(*), MAX(at) FROM spaceMessage WHERE space = ?', no);
  const members = readMembers(store, row).map(toEntity);
  return { spaceId, name, createdAt: toTimestamp(createdAt), members, messages, lastMessageAt: last === null ? null : toTimestamp(last) };
}

/** A message as the contract has it. */
export function toMessage(row: MessageRow): SpaceMessage {
  const { messageId, spaceId, seq, text, replyTo, chainDepth, runId } = row;
  const sender = { name: row.senderName, type: row.senderType, id: row.senderId };
  const origin = row.origin === null ? null : (JSON.parse(row.origin) as MessageOrigin);
  const [at, expectsReply] = [toTimestamp(row.at), row.expectsReply === 1];
  return { messageId, spaceId, seq, at, sender, text, replyTo, expectsReply, chainDepth, origin, runId };
}

/** The trigger of the runs that a message starts. */
export const triggerOfMessage = (space: SpaceRow, message: SpaceMessage): Trigger => ({
  type: 'space_message',
  space: { id: space.spaceId, name: space.name },
  sender: message.sender,
  message: message.text,
  messageId: message.messageId,
  timestamp: message.at,
  senderExpectsReply: message.expectsReply,
  chainDepth: message.chainDepth,
});

/** The agent of a run. */
export const agentOf = (run: RunRow) => ({ no: run.entity, name: run.entityName });

/** The trigger of a run. */
export const parseTrigger = (row: Pick<RunRow, 'trigger'>): Trigger => JSON.parse(row.trigger) as Trigger;

/** A run as the contract has it. */
export function toRun(row: RunRow): Run {
  const { endedAt, waitMessage, waitSpaceId, waitFor, resumed, contextId } = row;
  return {
    ...picked(row, 'runId', 'entityId', 'status'),
    trigger: parseTrigger(row),
    ...picked(row, 'chainDepth', 'activeSpaceId'),
    createdAt: toTimestamp(row.createdAt),
    invokedAt: toTimestamp(row.invokedAt),
    endedAt: endedAt === null ? null : toTimestamp(endedAt),
    waiting:
      waitMessage !== null && waitSpaceId !== null
        ? { messageId: waitMessage, spaceId: waitSpaceId, for: waitFor, until: toTimestamp(row.waitUntil ?? 0) }
        : null,
    resumed: resumed === null ? null : (JSON.parse(resumed) as Resume),
    contextId,
  };
}
