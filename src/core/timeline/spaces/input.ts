import { notFound, type Timestamp, timestampOf } from '../../base/index.js';
import type { ActiveRun, InputOf, MemberSpace, OutputOf, Resume, TimelineInput, TimelineMessage, Trigger } from '../../contract/index.js';
import { defaultBudget } from '../render/history.js';
import { quotedAtEachEnd, summaryOf } from '../render/summary.js';
import { renderTimeline } from '../render/timeline.js';
import { goalsOf, memoriesOf, plansOf } from './agent.js';
import {
  type EntityRow,
  entityOf,
  type MessageRow,
  membershipOf,
  membersOf,
  newestSeq,
  type ReadStore,
  type RunRow,
  runOf,
  type SpaceRow,
  type Store,
  selectMessage,
  selectRun,
  spaceOf,
  toMessage,
  triggerOf,
  triggerOfMessage,
} from './rows.js';
import { messageNamed, newestBefore } from './spaces.js';

export type RunTimeline = OutputOf<'run.timeline'>;

/** The messages of a space that an agent's context contains when a call starts. */
interface Reach {
  /** The position of the newest message in the agent's context. */
  readonly seq: number;
  readonly markSeq: number;
  readonly markMessage: string | null;
}

/** The context of one call of a run, without its messages. `reach` says which stored messages it contained. */
interface Frame {
  readonly input: Omit<TimelineInput, 'history'>;
  readonly history: { readonly spaceId: string; readonly reach: Reach; readonly resume: Resume | null } | null;
}

/** Stores the context of a call when it starts. Call it within the transaction that starts or resumes the run. */
export function keepFrame(store: Store, runId: string): void {
  const run = runOf(store, runId);
  const agent = entityOf(store, run.entityId);
  const space = run.activeSpaceId === null ? null : spaceOf(store, run.activeSpaceId);
  const reach = space && store.db.one<Reach>('SELECT seq, markSeq, markMessage FROM runSeen WHERE run = ? AND space = ?', run.no, space.no);
  const frame: Frame = {
    input: withTimes(
      {
        identity: { name: agent.name, entityId: agent.entityId },
        trigger: triggerOf(run),
        activeSpace: { space: space && { id: space.spaceId, name: space.name } },
        spaces: spacesOf(store, agent),
        activeRuns: activeRuns(store, run),
      },
      store,
      agent,
      run.invokedAt,
    ),
    history: space && reach ? { spaceId: space.spaceId, reach, resume: run.resumed === null ? null : (JSON.parse(run.resumed) as Resume) } : null,
  };
  store.db.run('UPDATE run SET frame = ? WHERE no = ?', JSON.stringify(frame), run.no);
}

/** The context of the run's last call. Later messages do not change it. @throws NOT_FOUND for a run of another machine. */
export function runTimeline(store: ReadStore, runId: string, budget?: number): RunTimeline {
  const run = runOf(store, runId);
  if (run.frame === null) {
    const where = run.contextId === null ? '' : ` The commit ${run.contextId} holds what it read.`;
    throw notFound(runId, `The timeline of ${runId} is on the machine where it ran.${where}`, { field: 'runId' });
  }
  const { input, history } = JSON.parse(run.frame) as Frame;
  const agent = entityOf(store, run.entityId);
  const shown = history && { ...history, space: spaceOf(store, history.spaceId), agent, trigger: input.trigger, budget, runId };
  return rendered({ ...input, ...(shown ? { history: historyOf(store, shown) } : {}), ...(budget === undefined ? {} : { budget }) });
}

/** The context that an agent would get if a message of the space (by default the newest) started a run now. Writes nothing. */
export function previewTimeline(store: ReadStore, input: InputOf<'run.preview'>): RunTimeline {
  const [space, agent] = [spaceOf(store, input.spaceId), entityOf(store, input.entityId)];
  const { processedSeq, processedMessage } = membershipOf(store, space, agent);
  const newest = newestSeq(store, space.no);
  const started = input.messageId === undefined ? newestBefore(store, space.no, newest + 1, 1)[0] : messageNamed(store, space, input.messageId);
  const message = started && toMessage(started);
  const trigger: Trigger = message ? triggerOfMessage(space, message) : { type: 'service', service: 'preview', payload: {} };
  const reach = { seq: newest, markSeq: processedSeq, markMessage: processedMessage };
  return rendered(
    withTimes(
      {
        identity: { name: agent.name, entityId: agent.entityId },
        trigger,
        activeSpace: { space: { id: space.spaceId, name: space.name }, autoSetFromTrigger: true },
        spaces: spacesOf(store, agent),
        history: historyOf(store, { space, agent, trigger, reach, budget: input.budget, resume: null }),
        activeRuns: [
          { id: 'preview', isCurrent: true, triggeredBy: message?.sender.name ?? null, space: space.name ?? space.spaceId },
          ...otherRuns(store, agent, -1),
        ],
        ...(input.budget === undefined ? {} : { budget: input.budget }),
      },
      store,
      agent,
      store.clock(),
    ),
  );
}

const rendered = (given: TimelineInput): RunTimeline => {
  const input = asInput(given);
  return { input, rendered: renderTimeline(input) };
};

/** Removes the ids of rows, because an agent never reads them. */
const asInput = (input: TimelineInput): TimelineInput => ({
  ...input,
  ...(input.goals && { goals: input.goals.map(({ description, priority, longTerm }) => ({ description, priority, longTerm })) }),
  ...(input.memories && { memories: input.memories.map(({ topic, content, updatedAt }) => ({ topic, content, updatedAt })) }),
  ...(input.plans && {
    plans: input.plans.map(({ name, cron, nextRunAt, scheduledAt, runAfter }) => ({ name, cron, nextRunAt, scheduledAt, runAfter })),
  }),
});

const withTimes = <Input extends object>(input: Input, store: ReadStore, agent: EntityRow, at: number) => ({
  ...input,
  goals: goalsOf(store, agent.entityId),
  memories: memoriesOf(store, agent.entityId),
  plans: plansOf(store, agent.entityId),
  now: timestampOf(at) satisfies Timestamp,
});

interface HistoryRequest {
  readonly space: SpaceRow;
  readonly agent: EntityRow;
  readonly trigger: Trigger;
  readonly reach: Reach;
  readonly budget: number | undefined;
  readonly resume: Resume | null;
  /** The run that reads. */
  readonly runId?: string | undefined;
}

/** Reads only the window, and the first and last messages before it, from the store. */
function historyOf(store: ReadStore, { space, agent, trigger, reach, budget, resume, runId }: HistoryRequest): TimelineInput['history'] {
  const limit = budget ?? defaultBudget;
  const shown = newestBefore(store, space.no, reach.seq + 1, limit);
  const triggerId = trigger.type === 'space_message' && trigger.space.id === space.spaceId ? trigger.messageId : null;
  const old =
    triggerId !== null && !shown.some((row) => row.messageId === triggerId)
      ? store.db.all<MessageRow>(`${selectMessage} WHERE m.project = ? AND m.messageId = ?`, store.project, triggerId)
      : [];
  const summary = earlierSummary(store, space, shown[old.length]?.seq ?? reach.seq + 1, old[0]?.seq);
  return {
    messages: [...old, ...shown].map((row) => timelineMessage(row, resume !== null && row.runId === runId && row.expectsReply === 1)),
    lastProcessedMessageId: reach.markMessage,
    lastProcessedSeq: reach.markSeq,
    triggerMessageId: triggerId,
    limit,
    ...(summary ? { summary } : {}),
    ...(resume ? { resume } : {}),
    selfEntityId: agent.entityId,
  };
}

/** A summary of the messages before a position, without the trigger, which is always shown. */
function earlierSummary(store: ReadStore, space: SpaceRow, before: number, trigger: number | undefined): ReturnType<typeof summaryOf> {
  const rows = (order: 'ASC' | 'DESC'): { name: string; text: string }[] =>
    store.db.all(
      `SELECT e.name, substr(m.text, 1, 1000) AS text FROM spaceMessage m JOIN entity e ON e.no = m.sender
        WHERE m.space = ? AND m.seq < ? AND m.seq <> ? ORDER BY m.seq ${order} LIMIT ${quotedAtEachEnd}`,
      space.no,
      before,
      trigger ?? -1,
    );
  // Positions start at 1 and have no gaps.
  const count = before - 1 - (trigger === undefined ? 0 : 1);
  return summaryOf(count, rows('ASC'), rows('DESC').reverse());
}

/** `isWait`: the agent paused its run with this message. A resumed run reads it as its own call. */
function timelineMessage(row: MessageRow, isWait: boolean): TimelineMessage {
  const { messageId, seq, at, sender, text, origin } = toMessage(row);
  return { id: messageId, seq, at, sender, text, ...(origin ? { origin } : {}), ...(isWait ? { wait: true } : {}) };
}

const spacesOf = (store: ReadStore, agent: EntityRow): MemberSpace[] =>
  store.db
    .all<SpaceRow>(
      'SELECT s.no, s.spaceId, s.name, s.createdAt FROM membership m JOIN space s ON s.no = m.space WHERE m.entity = ? ORDER BY m.no',
      agent.no,
    )
    .map((space) => ({
      id: space.spaceId,
      name: space.name,
      members: membersOf(store, space).map(({ entityId, name, type }) => ({ id: entityId, name, type })),
    }));

/** The run itself, then the agent's other runs that have not ended, oldest first. */
const activeRuns = (store: ReadStore, run: RunRow): ActiveRun[] => [
  { id: run.runId, isCurrent: true, triggeredBy: startedBy(triggerOf(run)), space: spaceNameOf(triggerOf(run)) },
  ...otherRuns(store, { no: run.entity }, run.no),
];

const otherRuns = (store: ReadStore, agent: Pick<EntityRow, 'no'>, current: number): ActiveRun[] =>
  store.db
    .all<RunRow>(
      `${selectRun} WHERE r.entity = ? AND r.no <> ? AND r.status IN ('running', 'waiting_reply') ORDER BY r.no LIMIT 50`,
      agent.no,
      current,
    )
    .map((run) => ({ id: run.runId, status: run.status, space: nameIn(store, run) ?? spaceNameOf(triggerOf(run)), waitingFor: run.waitFor }));

const nameIn = (store: ReadStore, run: RunRow): string | null => {
  const id = run.waitSpaceId ?? run.activeSpaceId;
  return id === null ? null : (spaceOf(store, id).name ?? id);
};

const startedBy = (trigger: Trigger): string | null => {
  if (trigger.type === 'space_message') return trigger.sender.name;
  return trigger.type === 'plan' ? (trigger.plan.name ?? trigger.plan.id) : trigger.service;
};

const spaceNameOf = (trigger: Trigger): string | null => (trigger.type === 'space_message' ? (trigger.space.name ?? trigger.space.id) : null);
