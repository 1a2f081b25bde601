import { badRequest, isObject, StemmaError, stringAt } from '../base/index.js';
import { addCards, appendToBox, boxAt, cardsInOrder, idsAt, type NewCard, profileInBox, seenByModel } from '../cards/index.js';
import type { Chain } from '../chain/index.js';
import { type AgentTurn, type Card, type EndStatus, endStatuses, type TurnStatus } from '../contract/index.js';
import { end } from './ending.js';
import { type Request, requestOf, stepBudget } from './request.js';
import { submitted } from './submit.js';
import { type TurnRow, toTurn, turnAt, turnNamed, type Waiting, waitingOf } from './turn-rows.js';

interface Named {
  readonly agentTurnId: string;
  readonly turnEpoch?: number | undefined;
}

/**
 * The turn, if its agent does it now and the answer is not of an epoch that is over (H13).
 * @throws CONFLICT, and nothing changes.
 */
function current(chain: Chain, { agentTurnId, turnEpoch }: Named, allowed: readonly TurnStatus[]): TurnRow {
  const row = turnNamed(chain, agentTurnId);
  if (row.headTurn !== row.no || !allowed.includes(row.status))
    throw new StemmaError('CONFLICT', `the turn ${agentTurnId} is ${row.status}; this is for one that is ${allowed.join(' or ')}`, {
      id: agentTurnId,
      status: row.status,
    });
  if (turnEpoch !== undefined && turnEpoch !== row.epoch)
    throw new StemmaError('CONFLICT', `epoch ${turnEpoch} of the turn ${agentTurnId} is over: it is in epoch ${row.epoch}`, {
      id: agentTurnId,
      turnEpoch: row.epoch,
    });
  return row;
}

function move(chain: Chain, row: TurnRow, status: 'running' | 'suspended', waiting: Waiting | null, epochs = 0): void {
  chain.db.run('UPDATE agentTurn SET status = ?, waiting = ? WHERE no = ?', status, waiting && JSON.stringify(waiting), row.no);
  chain.db.run('UPDATE agent SET status = ?, epoch = epoch + ? WHERE no = ?', status, epochs, row.agent);
}

/** The turn's first step begins. @throws CONFLICT */
export function beginTurn(chain: Chain, named: Named): AgentTurn {
  return chain.db.transaction(() => {
    const row = current(chain, named, ['dispatched']);
    move(chain, row, 'running', null);
    return toTurn(turnAt(chain, row.no));
  });
}

const open: readonly TurnStatus[] = ['dispatched', 'running', 'suspended'];

/** Adds cards to the turn's output box: the only box that grows during a turn (B9). @throws CONFLICT */
export function writeTurn(chain: Chain, input: Named & { cards: readonly NewCard[] }): { turn: AgentTurn; cards: Card[] } {
  return chain.db.transaction(() => {
    const row = current(chain, input, open);
    const cards = putOut(chain, row, input.cards);
    return { turn: toTurn(turnAt(chain, row.no)), cards };
  });
}

function putOut(chain: Chain, row: TurnRow, given: readonly NewCard[]): Card[] {
  const author = row.agentId;
  const cards = addCards(
    chain,
    given.map((card) => ({ ...card, authorId: card.authorId ?? author, metadata: { ...card.metadata, agent_turn_id: row.agentTurnId } })),
  );
  appendToBox(
    chain,
    row.outputBoxId,
    cards.map((card) => card.cardId),
  );
  return cards;
}

/** @throws CONFLICT */
export function suspendTurn(chain: Chain, input: Named & { toolCallIds: readonly string[] }): AgentTurn {
  return chain.db.transaction(() => {
    const row = current(chain, input, ['running']);
    move(chain, row, 'suspended', { calls: [...new Set(input.toolCallIds)], came: [] });
    return toTurn(turnAt(chain, row.no));
  });
}

/** Where a turn goes when the results that it waited for are there (H13): on, or to its end in the first failure that ends it. */
export function outcomeOf(results: readonly (readonly [status: string, after: string])[]): { next: 'suspend' | 'terminate'; taskStatus: EndStatus } {
  const ending = results.filter(([, after]) => after === 'terminate');
  const failure = ending.find(([status]) => status !== 'success')?.[0];
  return {
    next: ending.length > 0 ? 'terminate' : 'suspend',
    taskStatus: failure === undefined ? 'success' : (endStatuses.find((each) => each === failure) ?? 'failed'),
  };
}

/** A result for a call that the turn waits for. @throws CONFLICT; BAD_REQUEST where no such call is waited for. */
export function answerTurn(chain: Chain, input: Named & { card: NewCard }): { turn: AgentTurn; card: Card } {
  return chain.artifacts.transaction(() => {
    const row = current(chain, input, ['suspended']);
    const { calls, came } = waitingOf(row);
    const id = input.card.toolCallId ?? '';
    if (!calls.includes(id))
      throw badRequest('card.toolCallId', `the turn waits for ${calls.join(', ')}, not for ${JSON.stringify(id)}`, { waiting: [...calls] });
    const [card] = putOut(chain, row, [input.card]) as [Card];
    const data = card.content.kind === 'json' && isObject(card.content.data) ? card.content.data : {};
    const rest = {
      calls: calls.filter((call) => call !== id),
      came: [...came, [stringAt(data, 'status') ?? 'success', stringAt(data, 'after_execution') ?? 'suspend'] as const],
    };
    if (rest.calls.length > 0) {
      move(chain, row, 'suspended', rest);
      return { turn: toTurn(turnAt(chain, row.no)), card };
    }
    const { next, taskStatus } = outcomeOf(rest.came);
    move(chain, row, 'running', null, 1);
    return { turn: next === 'terminate' ? end(chain, turnAt(chain, row.no), taskStatus) : toTurn(turnAt(chain, row.no)), card };
  });
}

/** Ends a turn: what it put out and is not committed yet becomes a commit of its agent's chain (H14). @throws CONFLICT */
export function finishTurn(chain: Chain, input: Named & { status?: EndStatus | undefined; error?: string | undefined }): AgentTurn {
  return chain.artifacts.transaction(() => end(chain, current(chain, input, open), input.status ?? 'success', input.error));
}

/** The ids that a model gets: the context as it is, then what the output adds (H15). */
export function modelCards(context: readonly string[], output: readonly string[]): string[] {
  const present = new Set(context);
  return [...context, ...new Set(output.filter((id) => !present.has(id)))];
}

/** What the turn's model sees now, as a request (H15, H16). @throws NOT_FOUND */
export function turnInput(
  chain: Chain,
  input: {
    agentTurnId: string;
    tools?: readonly Record<string, unknown>[] | undefined;
    appendix?: string | undefined;
    stepCount?: number | undefined;
    maxSteps?: number | undefined;
  },
): Request & { cardIds: string[] } {
  const row = turnNamed(chain, input.agentTurnId);
  const cards = seenCards(chain, row);
  const profile = row.profileBoxId === null ? undefined : profileInBox(chain, row.profileBoxId);
  const request = requestOf({ cards, profile, agentId: row.agentId, tools: input.tools ?? [], appendix: input.appendix });
  const budget =
    input.stepCount === undefined || input.maxSteps === undefined ? undefined : stepBudget(input.stepCount, input.maxSteps, request.tools ?? []);
  return {
    messages: budget?.message === undefined ? request.messages : [...request.messages, { role: 'system', content: budget.message }],
    tools: budget ? budget.tools : request.tools,
    cardIds: cards.map((card) => card.cardId),
  };
}

const seenCards = (chain: Chain, row: TurnRow): Card[] =>
  cardsInOrder(chain, modelCards(idsAt(chain, row.context), idsAt(chain, row.output))).filter(seenByModel);

/** The turn's model says that it is done (H16); what is missing goes back to it as a failed result, and the turn goes on. */
export function submitTurn(
  chain: Chain,
  input: Named & { toolCallId: string; args: Readonly<Record<string, unknown>> },
): { turn: AgentTurn; complete: boolean; cards: Card[] } {
  return chain.artifacts.transaction(() => {
    const row = current(chain, input, ['dispatched', 'running']);
    const asked = cardsInOrder(chain, idsAt(chain, boxAt(chain, row.contextBoxId).no))
      .filter(seenByModel)
      .findLast((card) => card.type === 'task.result_fields');
    const required = asked?.content.kind === 'fields' ? asked.content.fields.map((field) => field.name) : [];
    const { complete, cards: made } = submitted(input.args, required, input.toolCallId);
    const cards = putOut(chain, row, made);
    return { turn: complete ? end(chain, turnAt(chain, row.no), 'success') : toTurn(turnAt(chain, row.no)), complete, cards };
  });
}
