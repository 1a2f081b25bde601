import { badRequest, conflict } from '../../base/index.js';
import { readSettings } from '../../chain/index.js';
import type { InputOf } from '../../contract/index.js';
import { maxChainDepth, startsRuns } from '../render/rules.js';
import {
  type EntityRow,
  type MessageRow,
  type ReadStore,
  type RunRow,
  requireEntity,
  requireMembership,
  requireSpace,
  type SpaceRow,
  selectMessage,
  selectRun,
} from './rows.js';
import { messageNamed } from './spaces.js';

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
  const [space, agent] = [requireSpace(store, input.spaceId), requireEntity(store, input.entityId)];
  if (agent.type !== 'agent') throw badRequest('entityId', `${agent.name} is ${agent.type}: only agents run`);
  requireMembership(store, space, agent);
  const given = input.messageId === undefined ? undefined : startingMessage(store, space, agent, input.messageId);
  const runs = runsHere(store, space, agent);
  const running = runs.find(({ status, trigger }) => status === 'running' && (given === undefined || startedBy(trigger) === given.messageId));
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
  return runs.some(({ trigger }) => startedBy(trigger) === messageId)
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

const startedBy = (trigger: string): string | undefined => (JSON.parse(trigger) as { messageId?: string }).messageId;

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
