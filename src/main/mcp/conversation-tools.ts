import { z } from 'zod';
import type { ContractClient } from '../launch/index.js';
import { custom, type McpCaller, NotYours, ownRun } from './tool.js';

const id = z.string().min(1).max(200);
const runId = id.optional().describe('Your run. Outside of a run, leave it out.');
const entityId = id.optional().describe('You, as an entity of spaces.');
const spaceId = id.optional().describe('The space. The default is the space that you are in.');
const wait = z
  .union([
    z.boolean(),
    z.strictObject({
      for: id.optional().describe('The member whose next message ends the wait, by name or id.'),
      timeoutMs: z.number().int().min(0).optional().describe('The longest wait in milliseconds. The default is 5 minutes.'),
    }),
  ])
  .optional()
  .describe('Pause until a reply arrives.');

const sending = z.strictObject({
  text: z.string().min(1).max(1_000_000).describe('The message.'),
  messageId: id.optional().describe('The message that this message replies to.'),
  wait,
  spaceId,
  runId,
  entityId,
});
const reading = z.strictObject({
  spaceId,
  limit: z.number().int().min(1).max(1_000).optional().describe('The most messages. The default is 50.'),
  runId,
  entityId,
});

const defaultMessages = 50;

const ownRunIfAny = async (client: ContractClient, input: Record<string, unknown>, caller: McpCaller): Promise<void> => {
  if (input.runId !== undefined) await ownRun(client, input, caller);
};

/** Outside of a run, a call says who acts, and where. @throws NotYours */
function requirePlace({ entityId: who, spaceId: space }: { readonly entityId?: string | undefined; readonly spaceId?: string | undefined }): {
  readonly entityId: string;
  readonly spaceId: string;
} {
  if (who === undefined) throw new NotYours('Outside of a run, `entityId` says who you are.');
  if (space === undefined) throw new NotYours('You are not in a space. Name one as `spaceId`.');
  return { entityId: who, spaceId: space };
}

/** The tools of an agent in spaces. They have the same names and arguments as for Stemma's own models. */
export const conversationTools = {
  send_message: custom(
    'writes',
    'Sends a message to a space. With `wait`, the run pauses until a reply arrives: end your turn then.',
    sending,
    (client, { runId: run, text, messageId: replyTo, wait: until, ...place }) => {
      if (run !== undefined) return client.run.send({ runId: run, text, replyTo, wait: until, spaceId: place.spaceId });
      const { entityId: senderId, spaceId: space } = requirePlace(place);
      return client.space.post({ spaceId: space, senderId, text, replyTo, ...(until && { wait: until === true ? {} : until }) });
    },
    { who: 'entityId', check: ownRunIfAny },
  ),
  read_messages: custom(
    'writes',
    'Returns the newest messages of a space, oldest first, as lines of its history. Your run counts them as seen.',
    reading,
    async (client, { runId: run, limit = defaultMessages, ...place }) => {
      if (run !== undefined) return { lines: (await client.run.read({ runId: run, spaceId: place.spaceId, limit })).lines };
      return { lines: (await client.space.lines({ ...requirePlace(place), limit })).lines };
    },
    { who: 'entityId', check: ownRunIfAny },
  ),
  enter_space: custom(
    'writes',
    'Goes to another space of yours.',
    z.strictObject({ spaceId: id.describe('The space.'), runId: id.describe('Your run.') }),
    (client, input) => client.run.enterSpace(input),
    { check: ownRun },
  ),
  get_my_runs: custom(
    'reads',
    'Lists your runs, newest first, with those that wait.',
    z.strictObject({ entityId: id.describe('You, as an entity of spaces.') }),
    async (client, input) => ({ runs: (await client.run.list(input)).slice(0, defaultMessages) }),
    { who: 'entityId' },
  ),
};
