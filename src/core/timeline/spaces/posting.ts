import { badRequest } from '../../base/index.js';
import type { MessageOrigin, Run, SpaceMessage, Trigger, Triggered } from '../../contract/index.js';
import { agentsTriggered, maxChainDepth, messageDepth, startsRuns } from '../render/rules.js';
import { keepFrame } from './input.js';
import {
  type EntityRow,
  entityOf,
  type MessageRow,
  membershipOf,
  membersOf,
  newestSeq,
  newId,
  type RunRow,
  runOf,
  type SpaceRow,
  type Store,
  selectMessage,
  selectRun,
  spaceOf,
  toMessage,
  toRun,
  triggerOfMessage,
} from './rows.js';
import { messageNamed } from './spaces.js';

/** What a message did: who was started by it, and whose wait it ended. */
export interface Posted {
  readonly message: SpaceMessage;
  readonly started: Run[];
  readonly resumed: Run[];
}

export interface Draft {
  readonly space: SpaceRow;
  readonly sender: EntityRow;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly expectsReply: boolean;
  readonly run: RunRow | null;
  readonly origin: MessageOrigin | null;
}

/** A message of a human or a service, or of an agent outside of a run. */
export function post(
  store: Store,
  input: { readonly spaceId: string; readonly senderId: string; readonly text: string; readonly replyTo?: string | undefined },
): Posted {
  return store.db.transaction(() =>
    postDraft(store, {
      space: spaceOf(store, input.spaceId),
      sender: entityOf(store, input.senderId),
      text: input.text,
      replyTo: input.replyTo,
      expectsReply: false,
      run: null,
      origin: null,
    }),
  );
}

/** Stores a message, ends the waits that it answers, and starts the runs that it triggers. To be called within a transaction. */
export function postDraft(store: Store, { space, sender, text, replyTo, expectsReply, run, origin }: Draft): Posted {
  if (text.trim() === '') throw badRequest('text', 'a message needs a text');
  membershipOf(store, space, sender);
  const answered = replyTo === undefined ? null : messageNamed(store, space, replyTo).messageId;
  const depth = messageDepth(sender.type, run?.chainDepth ?? null);
  const messageId = newId(store, 'msg', 'spaceMessage', 'messageId');
  store.db.run(
    `INSERT INTO spaceMessage (project, space, seq, messageId, sender, at, text, replyTo, expectsReply, chainDepth, origin, run)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    store.project,
    space.no,
    newestSeq(store, space.no) + 1,
    messageId,
    sender.no,
    store.clock(),
    text,
    answered,
    expectsReply ? 1 : 0,
    depth,
    origin === null ? null : JSON.stringify(origin),
    run?.no ?? null,
  );
  const row = store.db.one<MessageRow>(`${selectMessage} WHERE m.project = ? AND m.messageId = ?`, store.project, messageId);
  if (!row) throw new Error(`message ${messageId} was written and is not there`);

  const resumed = waitingIn(store, space, sender).map((waiting) => resumeRun(store, waiting, { replier: sender.name }));
  const message = toMessage(row);
  const started = willRun(store, space, sender, depth)
    .filter(({ runs }) => runs)
    .map(({ entityId }) => startRun(store, entityOf(store, entityId), triggerOfMessage(space, message), space));
  return { message, started, resumed };
}

/** The runs that a message of somebody else in this space lets go on. */
const waitingIn = (store: Store, space: SpaceRow, sender: EntityRow): RunRow[] =>
  store.db.all<RunRow>(`${selectRun} WHERE r.waitSpace = ? AND r.status = 'waiting_reply' AND r.entity <> ? ORDER BY r.no`, space.no, sender.no);

/** What posting would start, and why a member gets no run. `runId` is the run that the sender would write from. */
export function wouldTrigger(
  store: Store,
  input: { readonly spaceId: string; readonly senderId: string; readonly runId?: string | undefined },
): Triggered[] {
  const [space, sender] = [spaceOf(store, input.spaceId), entityOf(store, input.senderId)];
  membershipOf(store, space, sender);
  const run = input.runId === undefined ? null : runOf(store, input.runId);
  const waiting = new Set(waitingIn(store, space, sender).map((row) => row.entityId));
  return willRun(store, space, sender, messageDepth(sender.type, run?.chainDepth ?? null), waiting);
}

/** `resumed` are agents whose waiting run the message lets go on: they get no second one (decisions, rule 40b). */
function willRun(store: Store, space: SpaceRow, sender: EntityRow, depth: number, waiting?: ReadonlySet<string>): Triggered[] {
  const members = membersOf(store, space);
  const agents = new Set(
    agentsTriggered(
      members.map((member) => ({ id: member.entityId, type: member.type })),
      sender.entityId,
    ).map(({ id }) => id),
  );
  const resumed = waiting ?? resumedBy(store, space);
  return members.map(({ entityId, name, type }) => {
    const verdict = (runs: boolean, reason: string): Triggered => ({ entityId, name, runs, reason });
    if (entityId === sender.entityId) return verdict(false, 'wrote it');
    if (type !== 'agent' || !agents.has(entityId)) return verdict(false, `is ${type === 'agent' ? 'an' : 'a'} ${type}`);
    if (resumed.has(entityId)) return verdict(false, 'has a run waiting here, which goes on instead');
    if (!startsRuns(depth)) return verdict(false, `the chain is ${depth} deep, and the limit is ${maxChainDepth}`);
    return verdict(true, 'is an agent of this space');
  });
}

/** Agents whose run was resumed by the newest message of the space, within the transaction that wrote it. */
const resumedBy = (store: Store, space: SpaceRow): ReadonlySet<string> =>
  new Set(
    store.db
      .all<{ entityId: string }>(
        `SELECT e.entityId FROM runSeen s JOIN run r ON r.no = s.run JOIN entity e ON e.no = r.entity
          WHERE s.space = ? AND s.seq = ? AND r.status = 'running' AND r.resumed IS NOT NULL`,
        space.no,
        newestSeq(store, space.no),
      )
      .map((row) => row.entityId),
  );

// --- the beginning of runs, and their going on ---------------------------------------------------------------------

/** A run that begins now, with its space's messages before it as they are now. */
export function startRun(store: Store, agent: EntityRow, trigger: Trigger, space: SpaceRow | null): Run {
  if (agent.type !== 'agent') throw badRequest('entityId', `${agent.name} is ${agent.type}: only agents run`);
  const runId = newId(store, 'run', 'run', 'runId');
  const now = store.clock();
  const { rowId } = store.db.run(
    `INSERT INTO run (project, runId, entity, status, "trigger", chainDepth, activeSpace, createdAt, invokedAt) VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?)`,
    store.project,
    runId,
    agent.no,
    JSON.stringify(trigger),
    trigger.type === 'space_message' ? trigger.chainDepth : 0,
    space?.no ?? null,
    now,
    now,
  );
  if (space) noteSeen(store, rowId, agent, space);
  keepFrame(store, runId);
  return toRun(runOf(store, runId));
}

/** Notes that the run has all of the space before it, and where its agent's mark stood when that was first so. */
export function noteSeen(store: Store, run: number, agent: Pick<EntityRow, 'no' | 'name'>, space: SpaceRow): void {
  const { processedSeq, processedMessage } = membershipOf(store, space, agent);
  store.db.run(
    `INSERT INTO runSeen (run, space, project, seq, markSeq, markMessage) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, space) DO UPDATE SET seq = MAX(seq, excluded.seq)`,
    run,
    space.no,
    store.project,
    newestSeq(store, space.no),
    processedSeq,
    processedMessage,
  );
}

/** A fresh call of the run's agent (requirement B-05): what came meanwhile is before it now. */
export function resumeRun(store: Store, waiting: RunRow, how: { readonly replier: string } | { readonly timeoutMs: number }): Run {
  const space = waiting.waitSpaceId === null ? null : spaceOf(store, waiting.waitSpaceId);
  store.db.run(
    `UPDATE run SET status = 'running', resumed = ?, invokedAt = ?, waitMessage = NULL, waitSpace = NULL, waitFor = NULL, waitUntil = NULL, waitMs = NULL WHERE no = ?`,
    JSON.stringify(how),
    store.clock(),
    waiting.no,
  );
  if (space) noteSeen(store, waiting.no, { no: waiting.entity, name: waiting.entityName }, space);
  keepFrame(store, waiting.runId);
  return toRun(runOf(store, waiting.runId));
}
