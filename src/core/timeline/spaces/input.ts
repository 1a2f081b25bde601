import { badRequest, conflict, defined, notFound, toTimestamp } from '../../base/index.js';
import { readSettings } from '../../chain/index.js';
import type { ActiveRun, History, InputOf, MemberSpace, OutputOf, Resume, TimelineInput, TimelineMessage, Trigger } from '../../contract/index.js';
import { invocationMessage, type WaitEnd } from '../render/conversion.js';
import { defaultBudget, messageLine, quotedAtEachEnd, summarizeEarlier } from '../render/history.js';
import { maxChainDepth, startsRuns } from '../render/rules.js';
import { renderTimeline } from '../render/timeline.js';
import { goalsOf, memoriesOf, plansOf } from './agent.js';
import {
  agentOf,
  type EntityRow,
  type MessageRow,
  newestSeq,
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
  triggerOfMessage,
} from './rows.js';
import { messageNamed, newestBefore } from './spaces.js';

export type RunTimeline = Pick<OutputOf<'run.timeline'>, 'input' | 'rendered'>;

/** The messages of a space that an agent's context contains when a call starts. */
interface Reach {
  /** The position of the newest message in the agent's context. */
  readonly seq: number;
  readonly markSeq: number;
  readonly markMessage: string | null;
}

/** A history in the context of a call. `reach` says which stored messages it contained. */
interface FramedHistory {
  readonly spaceId: string;
  readonly reach: Reach;
  readonly resume: Resume | null;
}

/** The context of one call of a run, without its messages. */
interface Frame {
  readonly input: Omit<TimelineInput, 'history' | 'histories'>;
  readonly histories: readonly FramedHistory[];
  /** The one history of frames that earlier versions stored. */
  readonly history?: FramedHistory | null;
}

/** A run, or one that a message would start. */
type Framed = Pick<RunRow, 'no' | 'runId' | 'entity' | 'entityId' | 'trigger' | 'activeSpaceId' | 'resumed'>;

/** The context of the next call of a run, from what the project holds now. */
function frameOf(store: ReadStore, run: Framed): Frame {
  const agent = requireEntity(store, run.entityId);
  const trigger = parseTrigger(run);
  const spaces = spacesOf(store, agent);
  const isMember = (id: string): boolean => spaces.some((space) => space.id === id);
  const active = run.activeSpaceId !== null && isMember(run.activeSpaceId) ? requireSpace(store, run.activeSpaceId) : null;
  const ended = run.resumed === null ? undefined : endedWait(store, run);
  const shown = [trigger.type === 'space_message' ? trigger.space.id : null, ended?.spaceId, active?.spaceId];
  const ids = [...new Set(shown)].filter((id) => typeof id === 'string').filter(isMember);
  return {
    input: {
      identity: { name: agent.name, entityId: agent.entityId },
      trigger,
      activeSpace: { space: active && { id: active.spaceId, name: active.name } },
      spaces,
      activeRuns: activeRuns(store, run),
      ...presentFacts(store, agent),
    },
    histories: ids.map((spaceId) => ({
      spaceId,
      reach: reachOf(store, run, agent, requireSpace(store, spaceId)),
      resume: run.resumed !== null && (ended?.spaceId ?? run.activeSpaceId) === spaceId ? (JSON.parse(run.resumed) as Resume) : null,
    })),
  };
}

/** All messages of a space, with the agent's mark at the time when the run first saw the space. */
function reachOf(store: ReadStore, run: Pick<RunRow, 'no'>, agent: EntityRow, space: SpaceRow): Reach {
  const seen = store.db.one<Omit<Reach, 'seq'>>('SELECT markSeq, markMessage FROM runSeen WHERE run = ? AND space = ?', run.no, space.no);
  const { processedSeq, processedMessage } = requireMembership(store, space, agent);
  return { seq: newestSeq(store, space.no), markSeq: seen?.markSeq ?? processedSeq, markMessage: seen ? seen.markMessage : processedMessage };
}

/** The space and the answer of the run's last wait that ended. */
const endedWait = (store: ReadStore, run: Pick<RunRow, 'no'>): { readonly spaceId: string; readonly answer: number | null } | undefined =>
  store.db.one(
    `SELECT s.spaceId, w.answer FROM spaceWait w JOIN spaceMessage m ON m.no = w.message JOIN space s ON s.no = w.space
      WHERE m.run = ? AND w.endedAt IS NOT NULL ORDER BY w.message DESC LIMIT 1`,
    run.no,
  );

/** Stores the context of a call when it starts. Call it within the transaction that starts the run or makes the call. */
export function keepFrame(store: SpaceStore, runId: string): void {
  const run = requireRun(store, runId);
  store.db.run('UPDATE run SET frame = ? WHERE no = ?', JSON.stringify(frameOf(store, run)), run.no);
}

/** Begins a model call of a run, which now has seen the messages of this moment. Call it within a transaction. @throws NOT_FOUND */
export function invokeRun(store: SpaceStore, runId: string): void {
  const run = requireRun(store, runId);
  for (const { spaceId } of frameOf(store, run).histories) noteSeen(store, run, requireSpace(store, spaceId));
  keepFrame(store, runId);
}

/** Records that the run has seen all messages of the space, and the agent's mark when the run first saw the space. */
export function noteSeen(store: SpaceStore, run: RunRow, space: SpaceRow): void {
  const { processedSeq, processedMessage } = requireMembership(store, space, agentOf(run));
  store.db.run(
    `INSERT INTO runSeen (run, space, project, seq, markSeq, markMessage) VALUES (:run, :space, :project, :seq, :processedSeq, :processedMessage)
     ON CONFLICT (run, space) DO UPDATE SET seq = MAX(seq, excluded.seq)`,
    { run: run.no, space: space.no, project: store.project, seq: newestSeq(store, space.no), processedSeq, processedMessage },
  );
}

/** How a context is shown: the number of messages in a history, and the tools that the agent is offered. */
export interface TimelineChoices {
  readonly budget?: number | undefined;
  readonly tools?: readonly string[] | undefined;
  /** True for the context of the last call, also of a run that still runs. */
  readonly isLast?: boolean | undefined;
}

/** The context of a run's next call, or of its last one if it waits or has ended. @throws NOT_FOUND for a run of another machine. */
export function runTimeline(store: ReadStore, runId: string, choices: TimelineChoices = {}): RunTimeline {
  const run = requireRun(store, runId);
  if (run.frame === null) {
    const where = run.contextId === null ? '' : ` The commit ${run.contextId} holds what it read.`;
    throw notFound(runId, `The timeline of ${runId} is on the machine where it ran.${where}`, { field: 'runId' });
  }
  const frame = run.status === 'running' && !choices.isLast ? frameOf(store, run) : (JSON.parse(run.frame) as Frame);
  return framedTimeline(store, run, frame, choices);
}

/** A frame with the messages of its histories. */
function framedTimeline(
  store: ReadStore,
  run: Framed,
  { input: frame, histories, history: old }: Frame,
  { budget = readSettings(store).historyBudget, tools }: TimelineChoices,
): RunTimeline {
  const [history, ...others] = (histories ?? (old ? [old] : [])).map((each) => historyOf(store, run, each, budget));
  const given = { history, histories: others.length > 0 ? others : undefined, budget, tools: tools && [...tools] };
  const input = asInput({ ...frame, ...defined(given) });
  return { input, rendered: renderTimeline(input) };
}

/** The user message of a run's call: what started the run, or what ended its wait. */
export function runMessage(store: ReadStore, runId: string): string {
  const run = requireRun(store, runId);
  return invocationMessage(parseTrigger(run), waitEndOf(store, run));
}

function waitEndOf(store: ReadStore, run: RunRow): WaitEnd | undefined {
  if (run.resumed === null) return undefined;
  const resume = JSON.parse(run.resumed) as Resume;
  if ('timeoutMs' in resume) return resume;
  const answer = endedWait(store, run)?.answer;
  const row = answer == null ? undefined : store.db.one<MessageRow>(`${selectMessage} WHERE m.no = ?`, answer);
  return row ? { sender: toMessage(row).sender, text: row.text } : { sender: { id: '', name: resume.replier, type: 'human' }, text: '' };
}

/** The context that an agent would get if the message started a run now. Writes nothing. */
export function previewTimeline(
  store: ReadStore,
  { space, agent, message }: Exclude<NextCall, { readonly runId: string }>,
  choices: TimelineChoices = {},
): RunTimeline & { readonly message: string } {
  const trigger = triggerOfMessage(space, toMessage(message));
  const { no: entity, entityId } = agent;
  const run = { no: -1, runId: 'preview', entity, entityId, trigger: JSON.stringify(trigger), activeSpaceId: space.spaceId, resumed: null };
  const { input, histories } = frameOf(store, run);
  const activeSpace = { ...input.activeSpace, autoSetFromTrigger: true };
  return { ...framedTimeline(store, run, { input: { ...input, activeSpace }, histories }, choices), message: invocationMessage(trigger) };
}

/** Messages as lines of a space history. What is seen is decided by the agent's mark when its run first saw the space. */
export function messageLines(store: ReadStore, space: SpaceRow, agent: EntityRow, run: RunRow | undefined, rows: readonly MessageRow[]): string[] {
  const reach = run ? reachOf(store, run, agent, space) : undefined;
  const { processedSeq, seenSeq } = requireMembership(store, space, agent);
  const mark = reach?.markSeq ?? (agent.type === 'human' ? seenSeq : processedSeq);
  const trigger = run && parseTrigger(run);
  const triggerId = trigger?.type === 'space_message' ? trigger.messageId : null;
  return rows.map((row) =>
    messageLine(
      timelineMessage(row, run !== undefined && row.runId === run.runId && row.expectsReply === 1),
      agent.entityId,
      row.seq <= mark || row.senderId === agent.entityId,
      row.messageId === triggerId,
    ).trimStart(),
  );
}

/** Removes the ids of rows, because an agent never reads them. */
const asInput = (input: TimelineInput): TimelineInput => ({
  ...input,
  ...(input.goals && { goals: input.goals.map(({ description, priority, longTerm }) => ({ description, priority, longTerm })) }),
  ...(input.memories && { memories: input.memories.map(({ topic, content, updatedAt }) => ({ topic, content, updatedAt })) }),
  ...(input.plans && {
    plans: input.plans.map(({ name, cron, nextRunAt, scheduledAt, runAfter }) => ({ name, cron, nextRunAt, scheduledAt, runAfter })),
  }),
});

const presentFacts = (store: ReadStore, { entityId }: EntityRow) => ({
  goals: goalsOf(store, entityId),
  memories: memoriesOf(store, entityId),
  plans: plansOf(store, entityId),
  now: toTimestamp(store.clock()),
});

/** Reads only the window, and the first and last messages before it, from the store. */
function historyOf(store: ReadStore, run: Framed, { spaceId, reach, resume }: FramedHistory, limit = defaultBudget): History {
  const space = requireSpace(store, spaceId);
  const trigger = parseTrigger(run);
  const shown = newestBefore(store, space.no, reach.seq + 1, limit);
  const triggerId = trigger.type === 'space_message' && trigger.space.id === space.spaceId ? trigger.messageId : null;
  const old =
    triggerId !== null && !shown.some((row) => row.messageId === triggerId)
      ? store.db.all<MessageRow>(`${selectMessage} WHERE m.project = ? AND m.messageId = ?`, store.project, triggerId)
      : [];
  const summary = earlierSummary(store, space, shown[old.length]?.seq ?? reach.seq + 1, old[0]?.seq);
  return {
    space: { id: space.spaceId, name: space.name },
    messages: [...old, ...shown].map((row) => timelineMessage(row, row.runId === run.runId && row.expectsReply === 1)),
    lastProcessedMessageId: reach.markMessage,
    lastProcessedSeq: reach.markSeq,
    triggerMessageId: triggerId,
    limit,
    ...defined({ summary, resume: resume ?? undefined }),
    selfEntityId: run.entityId,
  };
}

/** A summary of the messages before a position, without the trigger, which is always shown (B-20). */
function earlierSummary(store: ReadStore, space: SpaceRow, before: number, trigger: number | undefined): ReturnType<typeof summarizeEarlier> {
  const rows = (order: 'ASC' | 'DESC'): { name: string; text: string }[] =>
    store.db.all(
      `SELECT e.name, substr(m.text, 1, 1000) AS text FROM spaceMessage m JOIN entity e ON e.no = m.sender
        WHERE m.space = ? AND m.seq < ? AND m.seq <> ? ORDER BY m.seq ${order} LIMIT ${quotedAtEachEnd}`,
      [space.no, before, trigger ?? -1],
    );
  // Positions start at 1 and have no gaps.
  const count = before - 1 - (trigger === undefined ? 0 : 1);
  return summarizeEarlier(count, rows('ASC'), rows('DESC').reverse());
}

/** `isWait`: the agent paused its run with this message. A resumed run reads it as its own call. */
function timelineMessage(row: MessageRow, isWait: boolean): TimelineMessage {
  const { messageId, seq, at, sender, text, origin } = toMessage(row);
  return { id: messageId, seq, at, sender, text, ...(origin ? { origin } : {}), ...(isWait ? { wait: true } : {}) };
}

const spacesOf = (store: ReadStore, agent: EntityRow): MemberSpace[] =>
  store.db.all<SpaceRow>('SELECT s.* FROM membership m JOIN space s ON s.no = m.space WHERE m.entity = ? ORDER BY m.no', agent.no).map((space) => ({
    id: space.spaceId,
    name: space.name,
    members: readMembers(store, space).map(({ entityId, name, type }) => ({ id: entityId, name, type })),
  }));

/** The run itself, then the agent's other runs that have not ended, oldest first. */
function activeRuns(store: ReadStore, current: Framed): ActiveRun[] {
  const trigger = parseTrigger(current);
  const open = "r.status IN ('running', 'waiting_reply')";
  const others = store.db.all<RunRow>(`${selectRun} WHERE r.entity = ? AND r.no <> ? AND ${open} ORDER BY r.no LIMIT 50`, current.entity, current.no);
  return [
    { id: current.runId, isCurrent: true, triggeredBy: startedBy(trigger), space: spaceNameOf(trigger) },
    ...others.map((run) => {
      const id = run.waitSpaceId ?? run.activeSpaceId;
      const space = id === null ? spaceNameOf(parseTrigger(run)) : (requireSpace(store, id).name ?? id);
      return { id: run.runId, status: run.status, space, waitingFor: run.waitFor };
    }),
  ];
}

const startedBy = (trigger: Trigger): string | null => {
  if (trigger.type === 'space_message') return trigger.sender.name;
  return trigger.type === 'plan' ? (trigger.plan.name ?? trigger.plan.id) : trigger.service;
};

const spaceNameOf = (trigger: Trigger): string | null => (trigger.type === 'space_message' ? (trigger.space.name ?? trigger.space.id) : null);

/** The next model call of an agent in a space: that of a run which waits for its performer, or the one that a message would start. */
export type NextCall =
  | { readonly runId: string }
  | {
      readonly space: SpaceRow;
      readonly agent: EntityRow;
      readonly message: MessageRow;
      readonly note: string;
    };

/** An agent's next call in a space: for `messageId`, else the newest message of others. @throws BAD_REQUEST; CONFLICT if none can start it */
export function nextCall(store: ReadStore, input: Pick<InputOf<'run.preview'>, 'spaceId' | 'entityId' | 'messageId'>): NextCall {
  const [space, agent] = [requireSpace(store, input.spaceId), requireAgent(store, input.entityId)];
  requireMembership(store, space, agent);
  const given = input.messageId === undefined ? undefined : startingMessage(store, space, agent, input.messageId);
  const runs = runsHere(store, space, agent);
  const running = runs.find(({ status, trigger }) => status === 'running' && (given === undefined || messageOf(trigger) === given.messageId));
  if (running) return { runId: running.runId };
  const message = given ?? newestStarting(store, space, agent);
  const name = space.name ?? space.spaceId;
  if (!message)
    throw conflict(`Nothing would start a run of ${agent.name}: no other member of ${name} has written a message that starts runs.`, {
      spaceId: space.spaceId,
      entityId: agent.entityId,
    });
  return { space, agent, message, note: `Nothing starts this call now: ${whyNot(runs, space, agent, message)}.` };
}

function whyNot(runs: readonly RunRow[], space: SpaceRow, { name }: EntityRow, { messageId, senderName }: MessageRow): string {
  if (runs.some(({ status, waitSpace }) => status === 'waiting_reply' && waitSpace === space.no))
    return `${name} waits here for an answer, which resumes its run`;
  const said = `the message of ${senderName}`;
  return runs.some(({ trigger }) => messageOf(trigger) === messageId)
    ? `${said} has already started a run`
    : `${said} came before it could start a run`;
}

/** The agent's runs of this machine that began in the space or are in it, newest first. */
const runsHere = (store: ReadStore, space: SpaceRow, agent: EntityRow): RunRow[] =>
  store.db.all<RunRow>(
    `${selectRun} WHERE r.entity = ? AND r.frame IS NOT NULL AND (r.activeSpace = ? OR r.waitSpace = ? OR r."trigger" ->> '$.space.id' = ?)
      ORDER BY r.no DESC LIMIT 1000`,
    [agent.no, space.no, space.no, space.spaceId],
  );

const messageOf = (trigger: string): string | undefined => (JSON.parse(trigger) as { messageId?: string }).messageId;

function startingMessage(store: ReadStore, space: SpaceRow, agent: EntityRow, reference: string): MessageRow {
  const message = messageNamed(store, space, reference);
  if (message.senderId === agent.entityId)
    throw badRequest(
      'messageId',
      `${agent.name} wrote the message ${message.messageId} itself, and an agent's own message starts no run of it. Name a message of another member.`,
    );
  const limit = readSettings(store).maxChainDepth ?? maxChainDepth;
  if (!startsRuns(message.chainDepth, limit))
    throw badRequest('messageId', `The message ${message.messageId} is ${message.chainDepth} deep and starts no run: the limit is ${limit}.`);
  return message;
}

const newestStarting = (store: ReadStore, space: SpaceRow, agent: EntityRow): MessageRow | undefined =>
  store.db.one<MessageRow>(`${selectMessage} WHERE m.space = ? AND m.sender <> ? AND m.chainDepth < ? ORDER BY m.seq DESC LIMIT 1`, [
    space.no,
    agent.no,
    readSettings(store).maxChainDepth ?? maxChainDepth,
  ]);
