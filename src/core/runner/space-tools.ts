import { badRequest } from '../base/index.js';
import { type Run, z } from '../contract/index.js';
import { enterSpace, listRuns, post, readMessages, send, spaceLines } from '../timeline/index.js';
import { type Actor, maxResults, type Tool, text, tool } from './tool.js';

const spaceId = z.string().optional().describe('The space. The default is the space that you are in.');
const limit = z.number().int().min(1).max(maxResults).optional().describe('The most messages.');

const wait = z
  .union([
    z.boolean(),
    z.strictObject({
      for: z.string().optional().describe('The member whose next message ends the wait, by name or id.'),
      timeoutMs: z.number().int().min(0).max(2_592_000_000).optional().describe('The longest wait in milliseconds. The default is 5 minutes.'),
    }),
  ])
  .optional()
  .describe('Pause until a reply arrives.');

const shownRun = ({ runId, status, trigger, activeSpaceId, createdAt, waiting }: Run) => ({
  runId,
  status,
  startedBy: trigger.type,
  spaceId: activeSpaceId,
  createdAt,
  waitingFor: waiting?.for ?? null,
});

/** @throws BAD_REQUEST outside of a run */
function requireRun({ runId }: Actor, name: string): string {
  if (runId === null) throw badRequest('run', `${name} needs a run in a space, and this work has none.`);
  return runId;
}

/** @throws BAD_REQUEST if no space is named outside of a run */
function named(space: string | undefined): string {
  if (space === undefined) throw badRequest('spaceId', 'You are not in a space. Name a space.');
  return space;
}

/** Tools of an agent that works in spaces. They have the same names and arguments at every door. */
export const spaceTools: readonly Tool[] = [
  tool(
    'send_message',
    'Sends a message to a space. With `wait`, the run pauses until somebody replies, and continues with the reply.',
    z.strictObject({
      text: text('The message.'),
      messageId: z.string().optional().describe('The message that this message replies to.'),
      wait,
      spaceId,
    }),
    (chain, actor, { text: said, messageId: replyTo, wait: until, spaceId: space }) => {
      const waits = until === true ? {} : until || undefined;
      if (actor.runId === null) {
        if (waits) requireRun(actor, 'send_message with wait');
        const { message } = post(chain, { spaceId: named(space), senderId: actor.who, text: said, replyTo });
        return { result: { messageId: message.messageId } };
      }
      const { message, run } = send(chain, { runId: actor.runId, spaceId: space, text: said, replyTo, wait: waits });
      return { result: { messageId: message.messageId, runStatus: run.status }, pauses: run.status === 'waiting_reply' };
    },
  ),
  tool(
    'read_messages',
    'Returns the newest messages of a space, oldest first, as lines of its history.',
    z.strictObject({ spaceId, limit }),
    (chain, actor, { spaceId: space, limit: newest = maxResults }) => {
      const lines =
        actor.runId === null
          ? spaceLines(chain, named(space), actor.who, newest)
          : readMessages(chain, { runId: actor.runId, spaceId: space, limit: newest }).lines;
      return { result: lines.length === 0 ? '(no messages)' : lines.join('\n') };
    },
  ),
  tool('enter_space', 'Goes to another space of yours.', z.strictObject({ spaceId: text('The space.') }), (chain, actor, { spaceId: space }) => ({
    result: shownRun(enterSpace(chain, requireRun(actor, 'enter_space'), space)),
  })),
  tool('get_my_runs', 'Lists your runs, newest first, with those that wait.', z.strictObject({}), (chain, { who }) => ({
    result: { runs: listRuns(chain, { entityId: who }).slice(0, maxResults).map(shownRun) },
  })),
];
