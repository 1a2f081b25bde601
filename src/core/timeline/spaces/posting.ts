import { badRequest, defined } from '../../base/index.js';
import { readSettings } from '../../chain/index.js';
import type { InputOf, MessageOrigin, OutputOf, Run, Trigger, Triggered } from '../../contract/index.js';
import { agentsTriggered, maxChainDepth, messageDepth, startsRuns } from '../render/rules.js';
import { keepFrame, noteSeen } from './input.js';
import {
  type EntityRow,
  type MessageRow,
  newestSeq,
  newId,
  type ReadStore,
  type RunRow,
  readMembers,
  requireEntity,
  requireMembership,
  requireRun,
  requireSpace,
  type SpaceRow,
  type SpaceStore,
  selectMessage,
  selectRun,
  toMessage,
  toRun,
  triggerOfMessage,
} from './rows.js';
import { messageNamed } from './spaces.js';
import { awaitedMember, defaultWaitMs, endWaits, openWait, type WaitFor, waitOf, waitsEndedBy } from './waits.js';

/** A stored message, the runs that it started and the runs whose wait it ended. */
export type Posted = OutputOf<'space.post'>;

export interface MessageDraft {
  readonly space: SpaceRow;
  readonly sender: EntityRow;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly expectsReply?: boolean | undefined;
  readonly wait: WaitFor | undefined;
  readonly run: RunRow | null;
  readonly origin: MessageOrigin | null;
}

/** Posts a message of a human or a service, or of an agent outside of a run. */
export function post(store: SpaceStore, input: InputOf<'space.post'>): Posted {
  return store.db.transaction(() => {
    const [space, sender] = [requireSpace(store, input.spaceId), requireEntity(store, input.senderId)];
    const { text, replyTo, expectsReply } = input;
    return postDraft(store, { space, sender, text, replyTo, expectsReply, wait: waitIn(input.wait), run: null, origin: null });
  });
}

/** Converts the `wait` of an input: `true` means a wait for any member. */
export const waitIn = (wait: boolean | WaitFor | undefined): WaitFor | undefined => (wait === true ? {} : wait || undefined);

/** Stores a message and its wait, ends the waits that it answers and starts the runs that it triggers. Call it within a transaction. */
export function postDraft(
  store: SpaceStore,
  { space, sender, text, replyTo, wait, expectsReply = wait !== undefined, run, origin }: MessageDraft,
): Posted {
  const from = wait && awaitedMember(store, space, sender, wait);
  if (text.trim() === '') throw badRequest('text', 'a message needs a text');
  requireMembership(store, space, sender);
  const answered = replyTo === undefined ? null : messageNamed(store, space, replyTo).messageId;
  const depth = messageDepth(sender.type, run?.chainDepth ?? null);
  const messageId = newId(store, 'msg', 'spaceMessage', 'messageId');
  store.db.insert('spaceMessage', {
    project: store.project,
    space: space.no,
    seq: newestSeq(store, space.no) + 1,
    messageId,
    sender: sender.no,
    at: store.clock(),
    text,
    replyTo: answered,
    expectsReply: expectsReply ? 1 : 0,
    chainDepth: depth,
    origin: origin && JSON.stringify(origin),
    run: run?.no,
  });
  const row = store.db.one<MessageRow>(`${selectMessage} WHERE m.project = ? AND m.messageId = ?`, store.project, messageId);
  if (!row) throw new Error(`message ${messageId} was written and cannot be read`);

  const waiting = waitingIn(store, space, sender, answered);
  endWaits(store, waitsEndedBy(store, space, sender, answered), messageId);
  const resumed = waiting.map((run) => resumeRun(store, run, { replier: sender.name }));
  const message = toMessage(row);
  const started = triggeredBy(store, space, sender, depth, waiting)
    .filter(({ runs }) => runs)
    .map(({ entityId }) => startRun(store, requireEntity(store, entityId), triggerOfMessage(space, message), space));
  if (wait) openWait(store, sender, messageId, from, wait.timeoutMs ?? defaultWaitMs);
  return { message, started, resumed, ...defined({ waiting: waitOf(store, messageId) }) };
}

/** The waiting runs whose wait a message of this sender in this space ends. */
function waitingIn(store: ReadStore, space: SpaceRow, sender: EntityRow, repliedTo: string | null): RunRow[] {
  const ended = waitsEndedBy(store, space, sender, repliedTo);
  if (!ended.size) return [];
  return store.db
    .all<RunRow>(`${selectRun} WHERE r.waitSpace = ? AND r.status = 'waiting_reply' ORDER BY r.no`, space.no)
    .filter((run) => run.waitMessage !== null && ended.has(run.waitMessage));
}

/** Whether a message would start a run for each member, with the reason. `runId` is the run in which the sender would write. */
export function wouldTrigger(store: ReadStore, input: InputOf<'space.wouldTrigger'>): Triggered[] {
  const [space, sender] = [requireSpace(store, input.spaceId), requireEntity(store, input.senderId)];
  requireMembership(store, space, sender);
  const run = input.runId === undefined ? null : requireRun(store, input.runId);
  const repliedTo = input.replyTo === undefined ? null : messageNamed(store, space, input.replyTo).messageId;
  const waiting = waitingIn(store, space, sender, repliedTo);
  return triggeredBy(store, space, sender, messageDepth(sender.type, run?.chainDepth ?? null), waiting);
}

/** Decides for each member. `waiting`: the runs that the message resumes. Their agents get no second run. */
function triggeredBy(store: ReadStore, space: SpaceRow, sender: EntityRow, depth: number, waiting: readonly RunRow[]): Triggered[] {
  const members = readMembers(store, space);
  const people = members.map(({ entityId: id, type }) => ({ id, type }));
  const agents = new Set(agentsTriggered(people, sender.entityId).map(({ id }) => id));
  const resumed = new Set(waiting.map(({ entityId }) => entityId));
  const limit = readSettings(store).maxChainDepth ?? maxChainDepth;
  return members.map(({ entityId, name, type }) => {
    const verdict = (code: Triggered['code'], reason: string): Triggered => ({ entityId, name, runs: code === 'starts', code, reason });
    if (entityId === sender.entityId) return verdict('sender', 'wrote it');
    if (type !== 'agent' || !agents.has(entityId)) return verdict('no-agent', `is ${type === 'agent' ? 'an' : 'a'} ${type}`);
    if (resumed.has(entityId)) return verdict('resumes', 'has a run waiting here, which resumes instead');
    if (!startsRuns(depth, limit)) return verdict('limit', `the chain is ${depth} deep, and the limit is ${limit}`);
    return verdict('starts', 'is an agent of this space');
  });
}

/** Starts a run. Its context contains the messages of the space up to now. */
export function startRun(store: SpaceStore, agent: EntityRow, trigger: Trigger, space: SpaceRow | null): Run {
  if (agent.type !== 'agent') throw badRequest('entityId', `${agent.name} is ${agent.type}: only agents run`);
  const runId = newId(store, 'run', 'run', 'runId');
  const now = store.clock();
  store.db.insert('run', {
    project: store.project,
    runId,
    entity: agent.no,
    status: 'running',
    trigger: JSON.stringify(trigger),
    chainDepth: trigger.type === 'space_message' ? trigger.chainDepth : 0,
    activeSpace: space?.no,
    createdAt: now,
    invokedAt: now,
    waits: 0,
  });
  if (space) noteSeen(store, requireRun(store, runId), space);
  keepFrame(store, runId);
  return toRun(requireRun(store, runId));
}

/** Resumes a waiting run with a new call, whose context contains the messages since. */
export function resumeRun(store: SpaceStore, waiting: RunRow, how: { readonly replier: string } | { readonly timeoutMs: number }): Run {
  const space = waiting.waitSpaceId === null ? null : requireSpace(store, waiting.waitSpaceId);
  store.db.run(
    `UPDATE run SET status = 'running', resumed = ?, invokedAt = ?, waitMessage = NULL, waitSpace = NULL, waitFor = NULL, waitUntil = NULL, waitMs = NULL WHERE no = ?`,
    [JSON.stringify(how), store.clock(), waiting.no],
  );
  if (space) noteSeen(store, waiting, space);
  keepFrame(store, waiting.runId);
  return toRun(requireRun(store, waiting.runId));
}
