import type { Composed, ComposedMessage, ComposeInput, DroppedLayer, MemoryMessage, Process } from '../contract/index.js';
import { type Admission, admission, admitsBlock, type Block, orderedBlocks } from './layers.js';
import { countMessage } from './memory.js';
import { refuse } from './refusals.js';

/** A layer: its messages, and the reason if they are left out. */
interface Offer {
  readonly layer: string;
  readonly messages: readonly MemoryMessage[];
  readonly heldBack?: string;
}

const accepted: readonly string[] = [
  ...['systemPrompt', 'checkpointMessages', 'contexts', 'query', 'queryPath', 'turnId', 'humanMessage', 'process', 'enableShareContext'],
] satisfies (keyof ComposeInput)[];

/**
 * The messages of one model call, always in this order: system prompt, blocks, memory, message of this call, query. A pure function:
 * equal inputs give equal results, and inputs do not change. `dropped` lists every given layer that is not among the messages.
 * @throws BAD_REQUEST with `data.reason` UNEXPECTED_ARGUMENT, INVALID_CONTEXT_KEY, RESERVED_CONTEXT_KEY, DUAL_QUERY_PATH, QUERY_WITHOUT_PATH,
 *   QUERY_NOT_IN_MEMORY, QUERY_DROPPED or SYSTEM_IN_MEMORY.
 */
export function composeMessages(input: ComposeInput): Composed {
  refuseInvalid(input);
  return arranged(input);
}

/** The layers in their order, without the checks of what a caller gives: `composeCall` has made its layers itself. */
export function arranged(input: ComposeInput): Composed {
  const process = input.process ?? 'sequential';
  const sharing = input.enableShareContext ?? true;
  const admitted = admission(process, sharing);

  const offers: readonly Offer[] = [
    { layer: 'system_prompt', messages: [{ role: 'system', content: input.systemPrompt }] },
    ...orderedBlocks(input.contexts).map((block) => offerOfBlock(block, admitted, process, sharing)),
    offerOfMemory(input.checkpointMessages, admitted, process),
    // The message is marked as internal, so that memory does not keep it.
    ...offerOfText('human_message', input.humanMessage, { internal: true }),
    ...offerOfText('query', input.queryPath === 'runtime' ? input.query : null, input.turnId ? { id: input.turnId } : {}),
  ];
  return {
    messages: offers
      .filter((offer) => offer.heldBack === undefined)
      .flatMap(({ layer, messages }) => messages.map((message) => asComposed(message, layer))),
    dropped: offers.flatMap((offer) => (offer.heldBack === undefined ? [] : [droppedOf(offer, offer.heldBack)])),
  };
}

const isGiven = (text: string | null | undefined): boolean => text !== null && text !== undefined && text.trim() !== '';

/** @throws BAD_REQUEST with `data.reason`, as `composeMessages` */
function refuseInvalid(input: ComposeInput): void {
  const unknown = Object.keys(input).find((name) => !accepted.includes(name));
  if (unknown !== undefined) throw refuse('UNEXPECTED_ARGUMENT', unknown, `unknown argument ${unknown}; the composer takes ${accepted.join(', ')}`);
  const { query, humanMessage, queryPath, turnId, checkpointMessages: memory, process = 'sequential' } = input;
  const isNamed = (): boolean => memory.some(({ id }) => id === turnId);
  // A message for this call and a query, or a query that memory has too, are two inputs.
  if (isGiven(humanMessage) && (isGiven(query) || queryPath === 'checkpoint'))
    throw refuse('DUAL_QUERY_PATH', 'humanMessage', 'a call has one input: give `humanMessage`, or a query with its path, not both');
  if (queryPath === 'runtime' && turnId && isNamed())
    throw refuse('DUAL_QUERY_PATH', 'queryPath', `turn ${turnId} is already in memory, so the path of its query is 'checkpoint'`);
  if (queryPath === 'none' && isGiven(query))
    throw refuse('QUERY_WITHOUT_PATH', 'queryPath', "the path 'none' means that the call has no query, and a query was given: choose 'runtime'");
  // The model would never get a query that memory lacks, or one in memory for a process without memory.
  if (queryPath === 'checkpoint' && !(turnId ? isNamed() : memory.some(({ role }) => role === 'human'))) {
    const missing = turnId ? `no message with the id ${turnId}` : 'no message of a human';
    throw refuse('QUERY_NOT_IN_MEMORY', 'queryPath', `memory contains ${missing}, so the path of the query is 'runtime', or 'none' without a query`);
  }
  if (queryPath === 'checkpoint' && !admission(process, true).memory)
    throw refuse('QUERY_DROPPED', 'queryPath', `the query is in memory, which ${process} does not get: its path is 'runtime'`);
  const at = memory.findIndex(({ role }) => role === 'system');
  const wrong = `message ${at + 1} of memory is a system message; give it as systemPrompt or as a block`;
  if (at >= 0) throw refuse('SYSTEM_IN_MEMORY', `checkpointMessages.${at}.role`, wrong);
}

function offerOfBlock({ key, text, problem }: Block, admitted: Admission, process: Process, sharing: boolean): Offer {
  const messages: readonly MemoryMessage[] = [{ role: 'system', content: text }];
  if (problem !== undefined) return { layer: key, messages: [], heldBack: problem };
  if (text === '') return { layer: key, messages: [], heldBack: 'it is empty' };
  if (admitsBlock(admitted, key)) return { layer: key, messages };
  return { layer: key, messages, heldBack: admitsBlock(admission(process, true), key) && !sharing ? 'sharing is off' : `${process} does not get it` };
}

const offerOfMemory = (messages: readonly MemoryMessage[], admitted: Admission, process: Process): Offer => ({
  layer: 'checkpoint_messages',
  messages,
  ...(admitted.memory || messages.length === 0 ? {} : { heldBack: `${process} does not get memory` }),
});

/** A message of this call, if one is given. `marks`: what it has beside its text. */
function offerOfText(layer: string, content: string | null | undefined, marks: Partial<MemoryMessage>): readonly Offer[] {
  if (content === null || content === undefined) return [];
  if (content.trim() === '') return [{ layer, messages: [], heldBack: 'it is empty' }];
  return [{ layer, messages: [{ role: 'human', content, ...marks }] }];
}

/** A message as a composition has it. */
export const asComposed = (message: MemoryMessage, layer: string): ComposedMessage => ({ ...message, layer, tokens: countMessage(message) });

const droppedOf = ({ layer, messages }: Offer, reason: string): DroppedLayer => ({
  layer,
  reason,
  messages: messages.length,
  tokens: messages.reduce((sum, message) => sum + countMessage(message), 0),
});
