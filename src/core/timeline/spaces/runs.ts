import { badRequest, type ContextId, conflict, defined, toTimestamp } from '../../base/index.js';
import { findCommit, readSettings, type WriteChain } from '../../chain/index.js';
import type { InputOf, MessageOrigin, OutputOf, Run, RunStatus, SpaceMessage, Trigger, Triggered } from '../../contract/index.js';
import { agentsTriggered, markAfterRun, maxChainDepth, messageDepth, startsRuns } from '../render/rules.js';
import { commitRun } from './commit.js';
import { nextCron } from './cron.js';
import { keepFrame, messageLines, noteSeen } from './input.js';
import {
  agentOf,
  type EntityRow,
  type MembershipRow,
  type MessageRow,
  newestSeq,
  newId,
  parseTrigger,
  type ReadStore,
  type RunRow,
  readMembers,
  requireAgent,
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
import { messageNamed, newestBefore } from './spaces.js';
import { awaitedMember, defaultWaitMs, endWaits, expireWaits, openWait, type WaitFor, waitOf, waitsEndedBy } from './waits.js';

const waitsPerRun = 10;
const waitingPerAgent = 5;

/** The newest 1,000 runs, newest first. */
export const listRuns = ({ db, project }: ReadStore, filter: InputOf<'run.list'>): Run[] =>
  db
    .all<RunRow>(
      `${selectRun} WHERE r.project = :project AND (:entityId IS NULL OR e.entityId = :entityId) AND (:status IS NULL OR r.status = :status)
        ORDER BY r.no DESC LIMIT 1000`,
      { project, entityId: filter.entityId ?? null, status: filter.status ?? null },
    )
    .map(toRun);

/** @throws NOT_FOUND for an unknown run. */
export const getRun = (store: ReadStore, runId: string): Run => toRun(requireRun(store, runId));

/** Starts a run for a plan or a service. Posting a message starts its runs. */
export function startByTrigger(store: SpaceStore, entityId: string, trigger: Trigger): Run {
  if (trigger.type === 'space_message') throw badRequest('trigger', 'posting a message starts its runs: call space.post');
  return store.db.transaction(() => startRun(store, requireAgent(store, entityId), trigger, null));
}

/** Makes a space the active one of a run. */
export function enterSpace(store: SpaceStore, runId: string, spaceId: string): Run {
  return store.db.transaction(() => {
    const run = runningOrThrow(store, runId);
    const space = requireSpace(store, spaceId);
    noteSeen(store, run, space);
    store.db.run('UPDATE run SET activeSpace = ? WHERE no = ?', space.no, run.no);
    return getRun(store, runId);
  });
}

/** The newest messages of a space of the agent. They count as seen by the run from now on. */
export function readMessages(store: SpaceStore, input: InputOf<'run.read'>): OutputOf<'run.read'> {
  return store.db.transaction(() => {
    const run = runningOrThrow(store, input.runId);
    const space = spaceFor(store, run, input.spaceId);
    noteSeen(store, run, space);
    const rows = newestBefore(store, space.no, Number.MAX_SAFE_INTEGER, input.limit ?? 50);
    return { messages: rows.map(toMessage), lines: messageLines(store, space, requireEntity(store, run.entityId), run, rows) };
  });
}

/** The newest messages of a space as lines of its history, for a member that works outside of a run. @throws BAD_REQUEST for no member */
export function spaceLines(store: ReadStore, spaceId: string, entityId: string, limit: number): string[] {
  const space = requireSpace(store, spaceId);
  return messageLines(store, space, requireEntity(store, entityId), undefined, newestBefore(store, space.no, Number.MAX_SAFE_INTEGER, limit));
}

/** Posts a message of a run's agent. With `wait`, the run pauses until its next call. @throws CONFLICT if it ended, waits, or waits too often */
export function send(store: SpaceStore, input: InputOf<'run.send'>): Posted & { run: Run } {
  return store.db.transaction(() => {
    const run = runningOrThrow(store, input.runId);
    const space = spaceFor(store, run, input.spaceId);
    const wait = waitIn(input.wait);
    if (wait) refuseWaits(store, run);
    const sender = requireEntity(store, run.entityId);
    const posted = postDraft(store, { space, sender, text: input.text, replyTo: input.replyTo, wait, run, origin: findOrigin(run, space) });
    // The run has seen its own message at once, but not what others wrote since its last call.
    const seen = store.db.value<number>('SELECT seq FROM runSeen WHERE run = ? AND space = ?', run.no, space.no);
    if (seen === undefined || seen === posted.message.seq - 1) noteSeen(store, run, space);
    if (wait) {
      const waitMs = wait.timeoutMs ?? defaultWaitMs;
      const waitFor = posted.waiting?.for ?? expectedReplier(store, space, run, posted.message);
      store.db.run(
        `UPDATE run SET status = 'waiting_reply', waitMessage = :messageId, waitSpace = :space, waitFor = :waitFor, waitUntil = :waitUntil, waitMs = :waitMs,
           waits = waits + 1, activeSpace = :space WHERE no = :no`,
        { messageId: posted.message.messageId, space: space.no, waitFor, waitUntil: store.clock() + waitMs, waitMs, no: run.no },
      );
    }
    return { ...posted, run: getRun(store, input.runId) };
  });
}

function refuseWaits(store: ReadStore, run: RunRow): void {
  if (run.waits >= waitsPerRun)
    throw conflict(`${run.runId} has waited ${waitsPerRun} times, which is the limit; start a new run`, { id: run.runId });
  const waiting = store.db.value<number>("SELECT COUNT(*) FROM run WHERE entity = ? AND status = 'waiting_reply'", run.entity) ?? 0;
  if (waiting >= waitingPerAgent)
    throw conflict(`${run.entityName} already has ${waiting} waiting runs, which is the limit; resume or end one of them`, { id: run.runId });
}

/** The expected replier, if known: the author of the message replied to, a member named with `@`, or the only other member. */
function expectedReplier(store: ReadStore, space: SpaceRow, run: RunRow, message: SpaceMessage): string | null {
  const others = readMembers(store, space).filter((member) => member.no !== run.entity);
  const [replied] = store.db.column('SELECT sender FROM spaceMessage WHERE project = ? AND messageId = ?', store.project, message.replyTo);
  const named = others.filter((member) => member.no === replied || message.text.includes(`@${member.name}`));
  const [only, ...more] = named.length > 0 ? named : others;
  return only && more.length === 0 ? only.name : null;
}

/** The reason why the agent writes in this space: the trigger of its run. Null if a message of this space started the run. */
function findOrigin(run: RunRow, space: SpaceRow): MessageOrigin | null {
  const trigger = parseTrigger(run);
  if (trigger.type === 'plan') return { type: 'plan', planName: trigger.plan.name ?? trigger.plan.id };
  if (trigger.type === 'service') return { type: 'service', service: trigger.service };
  const { type, sender, message, space: of } = trigger;
  return of.id === space.spaceId ? null : { type, senderName: sender.name, message: message ?? '', spaceName: of.name ?? of.id };
}

/** An older version stored plans of people, which start nothing. */
const ofAgent = "JOIN entity e ON e.no = p.entity AND e.type = 'agent'";

/** Whether a wait has timed out or a plan is due, so that `tick` has something to do. */
export const isDue = (store: ReadStore): boolean =>
  store.db.one(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM run WHERE project = :project AND status = 'waiting_reply' AND waitUntil <= :now)
      OR EXISTS (SELECT 1 FROM spaceWait WHERE project = :project AND endedAt IS NULL AND until <= :now)
      OR EXISTS (SELECT 1 FROM plan p ${ofAgent} WHERE p.project = :project AND p.dueAt <= :now)`,
    { project: store.project, now: store.clock() },
  ) !== undefined;

/** Resumes runs whose wait has timed out, and starts runs of plans that are due. */
export function tick(store: SpaceStore): { started: Run[]; resumed: Run[] } {
  return store.db.transaction(() => {
    const select = `${selectRun} WHERE r.project = ? AND r.status = 'waiting_reply' AND r.waitUntil <= ? ORDER BY r.no`;
    const now = store.clock();
    const over = store.db.all<RunRow>(select, store.project, now);
    expireWaits(store);
    const resumed = over.map((run) => resumeRun(store, run, { timeoutMs: run.waitMs ?? defaultWaitMs }));
    const due = store.db.all<DuePlan>(
      `SELECT p.no, p.planId, p.name, p.instruction, p.cron, p.dueAt, e.entityId FROM plan p ${ofAgent} WHERE p.project = ? AND p.dueAt <= ? ORDER BY p.no`,
      [store.project, now],
    );
    const started = due.map((plan) => {
      store.db.run('UPDATE plan SET dueAt = ? WHERE no = ?', nextDue(plan, now), plan.no);
      const { planId: id, name, instruction, dueAt } = plan;
      const trigger: Trigger = { type: 'plan', plan: { id, name }, instruction, scheduledAt: toTimestamp(dueAt) };
      return startRun(store, requireEntity(store, plan.entityId), trigger, null);
    });
    return { started, resumed };
  });
}

/** When a plan is due again; null for the last time. */
function nextDue({ cron }: DuePlan, now: number): number | null {
  try {
    return cron === null ? null : nextCron(cron, now);
  } catch {
    // An older version accepted lines that this one refuses, such as a step of 100 minutes. Such a plan must not stop the others.
    return null;
  }
}

interface DuePlan extends Readonly<Record<'no' | 'dueAt', number>>, Readonly<Record<'planId' | 'name' | 'instruction' | 'entityId', string>> {
  readonly cron: string | null;
}

/** Ends a run and commits its context. A completed run moves its agent's marks to what it has seen. @throws CONFLICT if it has ended. */
export function finishRun(
  chain: WriteChain,
  input: {
    readonly runId: string;
    readonly status: 'completed' | 'failed' | 'canceled';
    readonly output?: string | undefined;
    /** The commit that holds the whole run, if its performer made one. */
    readonly context?: ContextId | undefined;
  },
): Run {
  return chain.db.transaction(() => {
    const run = requireRun(chain, input.runId);
    if (run.endedAt !== null) throw conflict(`${run.runId} has already ended: it is ${run.status}`, { id: run.runId });
    const context = input.context === undefined ? commitRun(chain, run, input.output) : findCommit(chain, input.context).seq;
    chain.db.run(
      `UPDATE run SET status = ?, endedAt = ?, context = ?, waitMessage = NULL, waitSpace = NULL, waitFor = NULL, waitUntil = NULL, waitMs = NULL WHERE no = ?`,
      [input.status, chain.clock(), context, run.no],
    );
    moveMarks(chain, run, input.status);
    return getRun(chain, input.runId);
  });
}

function moveMarks(store: SpaceStore, run: RunRow, status: RunStatus): void {
  const seen = store.db.all<{ space: number; seq: number }>('SELECT space, seq FROM runSeen WHERE run = ?', run.no);
  for (const { space, seq } of seen) {
    const membership = store.db.one<MembershipRow>('SELECT * FROM membership WHERE space = ? AND entity = ?', space, run.entity);
    const newest = store.db.one<{ messageId: string; seq: number }>(
      'SELECT messageId, seq FROM spaceMessage WHERE space = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
      [space, seq],
    );
    if (!membership || !newest) continue;
    const current = membership.processedMessage === null ? null : { messageId: membership.processedMessage, seq: membership.processedSeq };
    const mark = markAfterRun(current, status, [newest]);
    if (mark) store.db.run('UPDATE membership SET processedSeq = ?, processedMessage = ? WHERE no = ?', mark.seq, mark.messageId, membership.no);
  }
}

/** @throws CONFLICT unless the run is running. */
function runningOrThrow(store: ReadStore, runId: string): RunRow {
  const run = requireRun(store, runId);
  if (run.status === 'running') return run;
  throw conflict(`${runId} is ${run.status}: only a running run can act`, { id: runId });
}

function spaceFor(store: ReadStore, run: RunRow, spaceId: string | undefined): SpaceRow {
  const meant = spaceId ?? run.activeSpaceId;
  if (meant === null || meant === undefined) throw badRequest('spaceId', `${run.runId} has no active space: name a space, or enter one first`);
  const space = requireSpace(store, meant);
  requireMembership(store, space, agentOf(run));
  return space;
}

/** A stored message, the runs that it started and the runs whose wait it ended. */
type Posted = OutputOf<'space.post'>;

interface MessageDraft {
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
const waitIn = (wait: boolean | WaitFor | undefined): WaitFor | undefined => (wait === true ? {} : wait || undefined);

/** Stores a message and its wait, ends the waits that it answers and starts the runs that it triggers. Call it within a transaction. */
function postDraft(store: SpaceStore, { space, sender, text, replyTo, wait, expectsReply = wait !== undefined, run, origin }: MessageDraft): Posted {
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
function startRun(store: SpaceStore, agent: EntityRow, trigger: Trigger, space: SpaceRow | null): Run {
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
function resumeRun(store: SpaceStore, waiting: RunRow, how: { readonly replier: string } | { readonly timeoutMs: number }): Run {
  const space = waiting.waitSpaceId === null ? null : requireSpace(store, waiting.waitSpaceId);
  store.db.run(
    `UPDATE run SET status = 'running', resumed = ?, invokedAt = ?, waitMessage = NULL, waitSpace = NULL, waitFor = NULL, waitUntil = NULL, waitMs = NULL WHERE no = ?`,
    [JSON.stringify(how), store.clock(), waiting.no],
  );
  if (space && readMembers(store, space).some(({ no }) => no === waiting.entity)) noteSeen(store, waiting, space);
  keepFrame(store, waiting.runId);
  return toRun(requireRun(store, waiting.runId));
}
