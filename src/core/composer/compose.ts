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
  refuseUnknownArguments(input);
  refuseBothPaths(input);
  refuseWithoutPath(input);
  refuseMissingQuery(input);
  refuseDroppedQuery(input);
  refuseSystemInMemory(input);
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
    ...offerOfHumanMessage(input.humanMessage),
    ...offerOfQuery(input),
  ];
  return {
    messages: offers.filter((offer) => offer.heldBack === undefined).flatMap(composedOf),
    dropped: offers.flatMap((offer) => (offer.heldBack === undefined ? [] : [droppedOf(offer, offer.heldBack)])),
  };
}

function refuseUnknownArguments(input: ComposeInput): void {
  const unknown = Object.keys(input).find((name) => !accepted.includes(name));
  if (unknown !== undefined) throw refuse('UNEXPECTED_ARGUMENT', unknown, `unknown argument ${unknown}; the composer takes ${accepted.join(', ')}`);
}

/** A message for this call and a query, or a query that memory has too, are two inputs. @throws BAD_REQUEST */
function refuseBothPaths({ query, humanMessage, queryPath, turnId, checkpointMessages }: ComposeInput): void {
  if (isGiven(humanMessage) && (isGiven(query) || queryPath === 'checkpoint'))
    throw refuse('DUAL_QUERY_PATH', 'humanMessage', 'a call has one input: give `humanMessage`, or a query with its path, not both');
  if (queryPath !== 'runtime' || !turnId || !checkpointMessages.some((message) => message.id === turnId)) return;
  throw refuse('DUAL_QUERY_PATH', 'queryPath', `turn ${turnId} is already in memory, so the path of its query is 'checkpoint'`);
}

const isGiven = (text: string | null | undefined): boolean => text !== null && text !== undefined && text.trim() !== '';

/** @throws BAD_REQUEST */
function refuseWithoutPath({ query, queryPath }: ComposeInput): void {
  if (queryPath === 'none' && isGiven(query))
    throw refuse('QUERY_WITHOUT_PATH', 'queryPath', "the path 'none' means that the call has no query, and a query was given: choose 'runtime'");
}

/** Refuses a query in memory for a process without memory: the model would never get it. @throws BAD_REQUEST */
function refuseDroppedQuery({ queryPath, process = 'sequential' }: ComposeInput): void {
  if (queryPath === 'checkpoint' && !admission(process, true).memory)
    throw refuse('QUERY_DROPPED', 'queryPath', `the query is in memory, which ${process} does not get: its path is 'runtime'`);
}

/** Refuses a query that the caller declares as part of memory and that memory lacks: the model would never get it. @throws BAD_REQUEST */
function refuseMissingQuery({ queryPath, turnId, checkpointMessages }: ComposeInput): void {
  if (queryPath !== 'checkpoint') return;
  if (turnId ? checkpointMessages.some(({ id }) => id === turnId) : checkpointMessages.some(({ role }) => role === 'human')) return;
  const missing = turnId ? `no message with the id ${turnId}` : 'no message of a human';
  throw refuse('QUERY_NOT_IN_MEMORY', 'queryPath', `memory contains ${missing}, so the path of the query is 'runtime', or 'none' without a query`);
}

/** Refuses system messages in memory, which holds dialogue only. @throws BAD_REQUEST */
function refuseSystemInMemory({ checkpointMessages }: ComposeInput): void {
  const at = checkpointMessages.findIndex(({ role }) => role === 'system');
  if (at >= 0)
    throw refuse(
      'SYSTEM_IN_MEMORY',
      `checkpointMessages.${at}.role`,
      `message ${at + 1} of memory is a system message; give it as systemPrompt or as a block`,
    );
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

/** A message of this call. `marks`: what it has beside its text. */
const offerOfText = (layer: string, content: string, marks: Partial<MemoryMessage>): Offer =>
  content.trim() === '' ? { layer, messages: [], heldBack: 'it is empty' } : { layer, messages: [{ role: 'human', content, ...marks }] };

/** The message is marked as internal, so that memory does not keep it. */
const offerOfHumanMessage = (text: string | null | undefined): readonly Offer[] =>
  text === null || text === undefined ? [] : [offerOfText('human_message', text, { internal: true })];

function offerOfQuery({ query, queryPath, turnId }: ComposeInput): readonly Offer[] {
  if (query === null || query === undefined || queryPath !== 'runtime') return [];
  return [offerOfText('query', query, turnId ? { id: turnId } : {})];
}

/** A message of memory as a composition has it. */
export const asCheckpoint = (given: MemoryMessage): ComposedMessage => ({ ...given, layer: 'checkpoint_messages', tokens: countMessage(given) });

const composedOf = ({ layer, messages }: Offer): readonly ComposedMessage[] =>
  messages.map((message) => ({ ...message, layer, tokens: countMessage(message) }));

const droppedOf = ({ layer, messages }: Offer, reason: string): DroppedLayer => ({
  layer,
  reason,
  messages: messages.length,
  tokens: messages.reduce((sum, message) => sum + countMessage(message), 0),
});
