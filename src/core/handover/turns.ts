import { badRequest, type ContextId, conflict, defined, stringAt } from '../base/index.js';
import { addCards, appendToBox, batchCards, cardsInOrder, idsAt, type NewCard } from '../cards/index.js';
import { allReceived, findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { ComposedCall } from '../composer/index.js';
import { type AgentTurn, type Card, type EndStatus, endStatuses, type InputOf, type OutputOf, type TurnStatus } from '../contract/index.js';
import { textOfContent } from '../formats/index.js';
import { allAgents, toAgent } from './agents.js';
import { recordCall, type SentCall, traceOf } from './calls.js';
import { recommitInput } from './commits.js';
import { type DecidedParts, sharedCall, toMemory, toMessages } from './composed.js';
import { end } from './ending.js';
import { pinInput, turnCards } from './pinned.js';
import { answeredCalls, callSettings, dataOf, requestOf, stepBudget } from './request.js';
import { submitted } from './submit.js';
import { type AgentTurnRow, allTurns, openStatuses, toTurn, turnAt, turnNamed, type Waiting, waitingOf } from './turn-rows.js';

interface Named {
  readonly agentTurnId: string;
  readonly turnEpoch?: number | undefined;
}

/** The turn, if it is its agent's current turn and the epoch is current (H13). @throws CONFLICT */
function current(chain: ReadChain, { agentTurnId, turnEpoch }: Named, allowed: readonly TurnStatus[]): AgentTurnRow {
  const row = turnNamed(chain, agentTurnId);
  if (row.headTurn !== row.no || !allowed.includes(row.status))
    throw conflict(`the turn ${agentTurnId} is ${row.status}; this call needs the current turn of its agent, ${allowed.join(' or ')}`, {
      id: agentTurnId,
      status: row.status,
    });
  if (turnEpoch !== undefined && turnEpoch !== row.epoch)
    throw conflict(`epoch ${turnEpoch} of the turn ${agentTurnId} is over: it is in epoch ${row.epoch}`, { id: agentTurnId, turnEpoch: row.epoch });
  return row;
}

function move(chain: WriteChain, row: AgentTurnRow, status: 'running' | 'suspended', waiting: Waiting | null, epochs = 0): AgentTurn {
  chain.db.run('UPDATE agentTurn SET status = ?, waiting = ? WHERE no = ?', status, waiting && JSON.stringify(waiting), row.no);
  chain.db.run('UPDATE agent SET status = ?, epoch = epoch + ? WHERE no = ?', status, epochs, row.agent);
  return toTurn(turnAt(chain, row.no));
}

/** Starts the first step of a turn and pins its input (H18). @throws CONFLICT */
export function beginTurn(chain: WriteChain, named: Named): AgentTurn {
  return chain.db.transaction(() => {
    const row = current(chain, named, ['dispatched']);
    begin(chain, row);
    return move(chain, row, 'running', null);
  });
}

/** Pins the input. If a card was deleted or expired since the dispatch, commits the input again. */
function begin(chain: WriteChain, row: AgentTurnRow): void {
  if (pinInput(chain, row)) recommitInput(chain, row, turnCards(chain, row).context);
}

/** Adds cards to the turn's output box, the only box that can grow during a turn (B9). @throws CONFLICT */
export function writeTurn(chain: WriteChain, input: Named & { cards: readonly NewCard[] }): { turn: AgentTurn; cards: Card[] } {
  return chain.db.transaction(() => {
    const row = current(chain, input, openStatuses);
    const cards = putOut(chain, row, input.cards);
    return { turn: toTurn(turnAt(chain, row.no)), cards };
  });
}

function putOut(chain: WriteChain, row: AgentTurnRow, given: readonly NewCard[]): Card[] {
  begin(chain, row);
  const { agentId, agentTurnId } = row;
  const trace = traceOf(chain, row);
  const drafts = given.map((card) => {
    // A card that is written again keeps its trace, so that it stays the same card.
    const known = card.cardId === undefined ? undefined : batchCards(chain, [card.cardId]).cards[0]?.metadata;
    const own = known ? defined({ step_id: known.step_id, trace_id: known.trace_id }) : trace;
    return { ...card, authorId: card.authorId ?? agentId, metadata: { ...own, ...card.metadata, agent_turn_id: agentTurnId } };
  });
  const cards = addCards(chain, drafts);
  appendToBox(
    chain,
    row.outputBoxId,
    cards.map(({ cardId }) => cardId),
    agentId,
  );
  return cards;
}

/** Suspends a turn until its tool calls have results. @throws CONFLICT */
export function suspendTurn(chain: WriteChain, input: Named & { toolCallIds: readonly string[] }): AgentTurn {
  return chain.db.transaction(() => {
    const row = current(chain, input, ['running']);
    return move(chain, row, 'suspended', { calls: [...new Set(input.toolCallIds)], came: [] });
  });
}

/** Decides how a turn continues after all its results (H13): it resumes, or it ends with the first terminating result. */
export function outcomeOf(results: readonly (readonly [status: string, after: string])[]): { next: 'suspend' | 'terminate'; taskStatus: EndStatus } {
  const ending = results.filter(([, after]) => after === 'terminate');
  const failure = ending.find(([status]) => status !== 'success')?.[0];
  return {
    next: ending.length > 0 ? 'terminate' : 'suspend',
    taskStatus: failure === undefined ? 'success' : (endStatuses.find((each) => each === failure) ?? 'failed'),
  };
}

/** Adds a result to a suspended turn. @throws CONFLICT; BAD_REQUEST if the turn does not wait for this call. */
export function answerTurn(chain: WriteChain, input: Named & { card: NewCard }): { turn: AgentTurn; card: Card } {
  return chain.artifacts.transaction(() => {
    const row = current(chain, input, ['suspended']);
    const { calls, came } = waitingOf(row);
    const id = input.card.toolCallId ?? '';
    if (!calls.includes(id))
      throw badRequest('card.toolCallId', `the turn waits for ${calls.join(', ')}, not for ${JSON.stringify(id)}`, { waiting: [...calls] });
    const [card] = putOut(chain, row, [input.card]) as [Card];
    const data = dataOf(card);
    const rest = {
      calls: calls.filter((call) => call !== id),
      came: [...came, [stringAt(data, 'status') ?? 'success', stringAt(data, 'after_execution') ?? 'suspend'] as const],
    };
    if (rest.calls.length > 0) return { turn: move(chain, row, 'suspended', rest), card };
    const { next, taskStatus } = outcomeOf(rest.came);
    const turn = move(chain, row, 'running', null, 1);
    return { turn: next === 'terminate' ? end(chain, turnAt(chain, row.no), taskStatus) : turn, card };
  });
}

/** Ends a turn and commits its remaining output (H14). @throws CONFLICT */
export function finishTurn(chain: WriteChain, input: Named & { status?: EndStatus | undefined; error?: string | undefined }): AgentTurn {
  return chain.artifacts.transaction(() => end(chain, current(chain, input, openStatuses), input.status ?? 'success', input.error));
}

/** Makes a commit of a performer outside of Stemma the end of the agent's chain. Call it in the transaction that stores the commit. */
export const adoptCommit = (chain: WriteChain, agentTurnId: string, commit: ContextId): void =>
  void chain.db.run('UPDATE agent SET tip = ? WHERE no = ?', findCommit(chain, commit).seq, turnNamed(chain, agentTurnId).agent);

/** Ends a turn with a text as its deliverable. The chain has it already, in the last commit of the performer. */
export function deliver(chain: WriteChain, agentTurnId: string, text: string): AgentTurn {
  return chain.artifacts.transaction(() => {
    writeTurn(chain, { agentTurnId, cards: [{ type: 'task.deliverable', content: { kind: 'text', text }, metadata: { role: 'assistant' } }] });
    const row = turnNamed(chain, agentTurnId);
    chain.db.run('UPDATE agentTurn SET committed = ? WHERE no = ?', idsAt(chain, row.output).length, row.no);
    return finishTurn(chain, { agentTurnId });
  });
}

const shownLength = 200;

/** All agents and their turns, oldest first. They show the delegations of the project. */
export function handoverMap(chain: ReadChain) {
  const received = allReceived(chain, 'agentTurn');
  const turns = allTurns(chain).map((row) => {
    const ids = idsAt(chain, row.context);
    const [first] = cardsInOrder(chain, ids.slice(0, 1));
    const instruction = first?.type === 'task.instruction' ? textOfContent(first.content).slice(0, shownLength).toWellFormed() : undefined;
    return { ...toTurn(row), cards: ids.length, ...defined({ received: received.get(row.no), instruction }) };
  });
  return { agents: allAgents(chain).map(toAgent), turns };
}

/** The model of `model` replaces the model in the parameters. */
export interface InputOptions extends Omit<InputOf<'agent.input'>, 'agentTurnId' | 'preview'>, Pick<DecidedParts, 'sharing' | 'sources'> {
  readonly model?: string | undefined;
}

type TurnInput = OutputOf<'agent.input'>;

/** The model request of a turn (H15, H16). While the turn runs, it is recorded as a call (H19). A preview records nothing. @throws NOT_FOUND */
export function turnInput(chain: WriteChain, input: InputOptions & { agentTurnId: string; preview?: boolean | undefined }): TurnInput {
  const row = turnNamed(chain, input.agentTurnId);
  if (input.preview || row.status !== 'running') return makeTurnInput(chain, row, input).input;
  return chain.db.transaction(() => {
    const { input: request, sent } = makeTurnInput(chain, row, input);
    return { ...request, requestBoxId: recordCall(chain, row, { ...sent, source: 'input' }).requestBoxId };
  });
}

/** The request of a turn and what `recordCall` stores of it. */
export function makeTurnInput(
  chain: ReadChain,
  row: AgentTurnRow,
  options: InputOptions,
): { input: TurnInput; composed: ComposedCall; sent: Omit<SentCall, 'source'> } {
  const { context, output, profile } = turnCards(chain, row);
  const cards = [...context, ...output];
  const { tools = [], appendix, stepCount, maxSteps, sharing, sources } = options;
  const request = requestOf({ cards, profile, agentId: row.agentId, tools, appendix });
  const [prompt, ...memory] = answeredCalls(request.messages);
  const budget = stepCount === undefined || maxSteps === undefined ? undefined : stepBudget(stepCount, maxSteps, request.tools ?? []);
  const note = budget?.message;
  const call = { kind: 'turn', systemPrompt: prompt?.content, memory: memory.map(toMemory), note } as const;
  const composed = sharedCall(chain, { profile, sharing, sources }, call);
  const messages = toMessages(composed, memory);
  const parameters = { ...(options.parameters ?? callSettings(profile)), ...defined({ model: options.model }) };
  const left = budget ? budget.tools : request.tools;
  const offered = left?.length ? left : null;
  const prompts = composed.messages.filter(({ role, layer }) => role === 'system' && layer !== 'checkpoint_messages');
  const layers = composed.messages.map(({ layer }) => layer);
  const input = { messages, tools: offered, parameters, cardIds: cards.map(({ cardId }) => cardId), layers, dropped: composed.dropped };
  const stored = (note === undefined ? prompts : prompts.slice(0, -1)).map(({ layer, content }) => ({ layer, content }));
  const outputs = idsAt(chain, row.output).length;
  return { input, composed, sent: { messages, prompts: stored, tools: offered, parameters, outputs, note } };
}

/** Handles the model's `submit_result` (H16). If fields are missing, the model gets a failed result and the turn continues. */
export function submitTurn(
  chain: WriteChain,
  input: Named & { toolCallId: string; args: Readonly<Record<string, unknown>> },
): { turn: AgentTurn; complete: boolean; cards: Card[] } {
  return chain.artifacts.transaction(() => {
    const row = current(chain, input, ['dispatched', 'running']);
    const asked = turnCards(chain, row).context.findLast((card) => card.type === 'task.result_fields');
    const required = asked?.content.kind === 'fields' ? asked.content.fields.map((field) => field.name) : [];
    const { complete, cards: made } = submitted(input.args, required, input.toolCallId);
    const cards = putOut(chain, row, made);
    return { turn: complete ? end(chain, turnAt(chain, row.no), 'success') : toTurn(turnAt(chain, row.no)), complete, cards };
  });
}
