import { z } from 'zod';
import { badRequest } from '../base/index.js';
import type { Run, SpaceMessage } from '../contract/index.js';
import { enterSpace, listRuns, post, readMessages, send, spaceMessages } from '../timeline/index.js';
import { type Actor, maxResults, type Tool, text, tool } from './tool.js';

const spaceId = z.string().optional().describe('The space. The default is the space that you are in.');
const limit = z.number().int().min(1).max(maxResults).optional().describe('The most messages.');

const shownMessage = ({ messageId, at, sender, text: said, replyTo, expectsReply }: SpaceMessage) => ({
  message_id: messageId,
  at,
  sender: sender.name,
  text: said,
  reply_to: replyTo,
  expects_reply: expectsReply,
});

const shownRun = ({ runId, status, trigger, activeSpaceId, createdAt, waiting }: Run) => ({
  run_id: runId,
  status,
  started_by: trigger.type,
  space_id: activeSpaceId,
  created_at: createdAt,
  waiting_for: waiting?.for ?? null,
});

/** @throws BAD_REQUEST outside of a run */
function runOf({ runId }: Actor, name: string): string {
  if (runId === null) throw badRequest('run', `${name} needs a run in a space, and this work has none.`);
  return runId;
}

/** @throws BAD_REQUEST if no space is named outside of a run */
function named(space: string | undefined): string {
  if (space === undefined) throw badRequest('space_id', 'You are not in a space. Name a space.');
  return space;
}

/** Tools of an agent that works in spaces. */
export const spaceTools: readonly Tool[] = [
  tool(
    'send_message',
    'Sends a message to a space. With `wait`, the run pauses until somebody answers, and continues with the answer.',
    z.strictObject({
      text: text('The message.'),
      space_id: spaceId,
      reply_to: z.string().optional().describe('The message that this message replies to.'),
      wait: z.boolean().optional().describe('Wait for an answer.'),
      wait_for: z.string().optional().describe('Wait for the next message of this member, by name or id.'),
      timeout_seconds: z.number().positive().max(2_592_000).optional().describe('The longest wait. The default is 5 minutes.'),
    }),
    (chain, actor, { text: said, space_id: space, reply_to: replyTo, ...input }) => {
      const isWait = input.wait === true || input.wait_for !== undefined;
      const timeoutMs = input.timeout_seconds === undefined ? undefined : Math.round(input.timeout_seconds * 1_000);
      const wait = isWait ? { for: input.wait_for, timeoutMs } : undefined;
      if (actor.runId === null) {
        if (isWait) runOf(actor, 'send_message with wait');
        const { message } = post(chain, { spaceId: named(space), senderId: actor.who, text: said, replyTo });
        return { result: { message_id: message.messageId } };
      }
      const { message, run } = send(chain, { runId: actor.runId, spaceId: space, text: said, replyTo, wait });
      return { result: { message_id: message.messageId, run_status: run.status }, pauses: run.status === 'waiting_reply' };
    },
  ),
  tool(
    'read_messages',
    'Returns the newest messages of a space, oldest first.',
    z.strictObject({ space_id: spaceId, limit }),
    (chain, actor, { space_id: space, limit: newest = maxResults }) => {
      const { messages } =
        actor.runId === null
          ? spaceMessages(chain, { spaceId: named(space), limit: newest })
          : readMessages(chain, { runId: actor.runId, spaceId: space, limit: newest });
      return { result: { messages: messages.map(shownMessage) } };
    },
  ),
  tool('enter_space', 'Goes to another space of yours.', z.strictObject({ space_id: text('The space.') }), (chain, actor, { space_id: space }) => ({
    result: shownRun(enterSpace(chain, runOf(actor, 'enter_space'), space)),
  })),
  tool('get_my_runs', 'Lists your runs, newest first, with those that wait.', z.strictObject({}), (chain, { who }) => ({
    result: { runs: listRuns(chain, { entityId: who }).slice(0, maxResults).map(shownRun) },
  })),
];
