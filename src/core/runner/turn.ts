import { badRequest, conflict, isObject, parseJson, stringAt } from '../base/index.js';
import { boxAt, cardsInOrder, idsAt } from '../cards/index.js';
import { isWaiting, type ReadChain } from '../chain/index.js';
import type { AgentTurn, Card, EntryDraft } from '../contract/index.js';
import {
  type AgentTurnRow,
  answerTurn,
  batchOf,
  beginTurn,
  dataOf,
  endIfDue,
  finalTool,
  finishTurn,
  handoverMap,
  type InputOptions,
  isOpen,
  makeTurnInput,
  recordCall,
  recordReply,
  submitTurn,
  suspendTurn,
  toTurn,
  turnCards,
  turnNamed,
  writeTurn,
} from '../handover/index.js';
import { type CalledTool, type CallParts, callModel, cardsOf } from './call.js';
import { waitsFor } from './handover-tools.js';
import { GivenBack } from './jobs.js';
import { LimitReached } from './limits.js';
import { mayReadProject, offeredTo } from './offered.js';
import type { RunnerParts } from './parts.js';
import { inWhole } from './telling.js';
import { type Actor, type Handed, quoted } from './tool.js';
import { answered, definitions, type ToolAnswer } from './tools.js';

export interface TurnCallParts extends CallParts {
  readonly model: string | undefined;
  /** The tools of Stemma to offer; without it, all. */
  readonly tools: readonly string[] | undefined;
  /** What the profile of an agent can permit from the rest of the project. */
  readonly layers?: RunnerParts['layers'];
  /** Whether blocks are sent, in place of the profile's and the project's setting. */
  readonly sharing?: boolean | undefined;
  /** Asks a person to answer a call of a tool that Stemma does not have. */
  ask(call: CalledTool): Promise<{ readonly allow: boolean; readonly note: string | undefined }>;
  /** Called in each transaction that stores a reply or a result. @throws GivenBack if another job has taken the work over */
  held?(): void;
  made(turn: AgentTurn): void;
}

const read = (chain: ReadChain, agentTurnId: string): AgentTurn => toTurn(turnNamed(chain, agentTurnId));

/**
 * Carries out a turn: model calls and tool calls until the model ends the turn. A turn that an earlier job left unfinished continues from its last
 * card. The turns that it hands out are also carried out, within the same limits. The turn ends (U1): `partial` at a limit, `canceled` when it is
 * stopped, `failed` at an error. @throws the error that ended it, unless the turn was ended from elsewhere
 */
export async function performTurn(parts: TurnCallParts, agentTurnId: string): Promise<AgentTurn> {
  const { chain } = parts;
  const left: Promise<unknown>[] = [];
  try {
    const model = await chooseModel(parts, agentTurnId);
    if (read(chain, agentTurnId).status === 'dispatched') beginTurn(chain, { agentTurnId });
    else await takeOver(parts, agentTurnId, left);
    while (read(chain, agentTurnId).status === 'running') await step(parts, agentTurnId, model, left);
    await Promise.all(left);
  } catch (error) {
    if (!isOpen(read(chain, agentTurnId))) return read(chain, agentTurnId);
    const why = parts.signal.aborted ? parts.signal.reason : error;
    if (why instanceof GivenBack) throw why;
    const status = why instanceof LimitReached ? 'partial' : parts.signal.aborted ? 'canceled' : 'failed';
    parts.made(finishTurn(chain, { agentTurnId, status, error: why instanceof Error ? why.message : String(why) }));
    throw error;
  } finally {
    await Promise.allSettled(left);
  }
  const turn = read(chain, agentTurnId);
  parts.made(turn);
  return turn;
}

/** Continues after the last card of an earlier job: with its open calls, the turns that it handed out, and its last reply. */
async function takeOver(parts: TurnCallParts, agentTurnId: string, left: Promise<unknown>[]): Promise<void> {
  const { chain } = parts;
  for (const turn of leftBy(chain, agentTurnId)) left.push(carryOut(parts, { turns: [turn], wait: false }));
  // Earlier versions of Stemma stored the last reply of a turn before its end.
  if (outputOf(chain, agentTurnId).at(-1)?.type === 'task.deliverable') finishTurn(chain, { agentTurnId });
  else await answerOpenCalls(parts, agentTurnId, left);
}

/** The model of the job, else of the agent's profile, else the first model of the provider. @throws BAD_REQUEST if the provider has no model */
async function chooseModel({ chain, provider, model }: TurnCallParts, agentTurnId: string): Promise<string> {
  const named = model ?? stringAt(makeTurnInput(chain, turnNamed(chain, agentTurnId), {}).input.parameters, 'model');
  if (named !== undefined) return named;
  const [first] = (await provider.models()).models;
  if (first === undefined) throw badRequest('performer.model', `${provider.title} does not list its models: name the one that answers.`);
  return first;
}

/**
 * One model call of a running turn, and the answers to its tool calls. The reply is stored in the same transaction as its consequences: after its
 * last reply, a turn has ended. So after a kill, the state of the turn matches its recorded replies (U4).
 */
async function step(parts: TurnCallParts, agentTurnId: string, model: string, left: Promise<unknown>[]): Promise<void> {
  const { chain } = parts;
  const row = turnNamed(chain, agentTurnId);
  const { callNo, call } = chain.db.transaction(() => {
    const { composed, sent } = makeTurnInput(chain, row, { ...optionsOf(parts, row), model });
    const { callNo } = recordCall(chain, row, { ...sent, source: 'stemma' });
    return { callNo, call: { messages: composed.messages, tools: sent.tools, parameters: sent.parameters, model } };
  });
  const { entries, counted } = await callModel(parts, call);
  chain.artifacts.transaction(() => {
    parts.held?.();
    const reply = withOwnIds(chain, entries);
    recordReply(chain, callNo, counted);
    writeTurn(chain, { agentTurnId, cards: cardsOf(reply) });
    const mayEnd = offered(parts, agentTurnId).includes(finalTool);
    const calls = reply.filter(({ kind }) => kind === 'tool_call');
    const toolCallIds = calls.flatMap(({ toolName, toolCallId }) => (toolName === finalTool && mayEnd ? [] : (toolCallId ?? [])));
    if (toolCallIds.length > 0) suspendTurn(chain, { agentTurnId, toolCallIds });
    if (calls.length === 0) finishTurn(chain, { agentTurnId });
  });
  await answerOpenCalls(parts, agentTurnId, left);
}

/** A reply whose calls have ids that no other call with a stored or awaited result has: some models count from zero again in each reply. */
function withOwnIds(chain: ReadChain, reply: readonly EntryDraft[]): EntryDraft[] {
  const open = chain.db.column<string>(
    "SELECT waiting FROM agentTurn WHERE project = ? AND status = 'suspended' AND waiting IS NOT NULL",
    chain.project,
  );
  const used = new Set<string>();
  const isUsed = (id: string): boolean =>
    used.has(id) ||
    open.some((waiting) => waiting.includes(JSON.stringify(id))) ||
    chain.db.one("SELECT 1 FROM card WHERE project = ? AND toolCallId = ? AND type = 'tool.result' AND entryKey IS NULL", chain.project, id) !==
      undefined;
  return reply.map((entry) => {
    const { kind, toolCallId } = entry;
    if (kind !== 'tool_call' || toolCallId === undefined) return entry;
    const id = isUsed(toolCallId) ? `${toolCallId}-${chain.newId().slice(-8)}` : toolCallId;
    used.add(id);
    return { ...entry, toolCallId: id };
  });
}

/** The options of the next model call of a turn, for the call and for its preview. */
export const optionsOf = (
  { chain, tools, layers, sharing }: Partial<Pick<TurnCallParts, 'tools' | 'layers' | 'sharing'>> & { chain: ReadChain },
  row: AgentTurnRow,
) =>
  ({
    tools: definitions(offeredTo(turnCards(chain, row).profile, 'turn', tools)),
    sharing,
    sources: layers && (() => layers(row.tipId)),
  }) satisfies InputOptions;

/** Answers the open calls of the last reply in order, also those an earlier job left. `submit_result` comes last, as it may end the turn. */
async function answerOpenCalls(parts: TurnCallParts, agentTurnId: string, left: Promise<unknown>[]): Promise<void> {
  const { chain, tell } = parts;
  const { status, waiting = [] } = read(chain, agentTurnId);
  if (status !== 'suspended' && status !== 'running') return;
  const cards = outputOf(chain, agentTurnId);
  for (const id of waiting) await answerCall(parts, agentTurnId, calledIn(cards, id), left);
  for (const call of offered(parts, agentTurnId).includes(finalTool) ? openResults(cards) : []) {
    if (!isOpen(read(chain, agentTurnId))) return;
    const { complete } = submitTurn(chain, { agentTurnId, toolCallId: call.id, args: isObject(call.arguments) ? call.arguments : {} });
    tell({ kind: 'result', text: complete ? 'The turn ended with this result.' : 'The result lacks required fields.', toolName: call.name });
  }
}

const outputOf = (chain: ReadChain, agentTurnId: string): readonly Card[] =>
  cardsInOrder(chain, idsAt(chain, boxAt(chain, read(chain, agentTurnId).outputBoxId).no));

/** Finds a call by its id. Projects of earlier versions can contain an id twice; then the last call counts. */
function calledIn(cards: readonly Card[], id: string): CalledTool {
  const card = cards.findLast((each) => each.type === 'tool.call' && each.toolCallId === id);
  const data = dataOf(card);
  return { id, name: stringAt(data, 'tool_name') ?? '', arguments: data.arguments ?? {} };
}

/** The calls of `submit_result` in the last reply that have no result. */
function openResults(cards: readonly Card[]): CalledTool[] {
  const since = cards.slice(cards.findLastIndex((card) => card.toolCalls?.length) + 1);
  const results = new Set(since.flatMap(({ type, toolCallId }) => (type === 'tool.result' ? [toolCallId] : [])));
  return since
    .flatMap(({ type, toolCallId }) => (type === 'tool.call' && toolCallId !== undefined && !results.has(toolCallId) ? [toolCallId] : []))
    .map((id) => calledIn(cards, id))
    .filter(({ name }) => name === finalTool);
}

/** Answers a call. The effect of a tool of Stemma is stored in the same transaction as its result, so that it happens only once. */
async function answerCall(parts: TurnCallParts, agentTurnId: string, call: CalledTool, left: Promise<unknown>[]): Promise<void> {
  const { chain, signal } = parts;
  signal.throwIfAborted();
  let isKept = false;
  const keep = ({ status, result }: ToolAnswer): void => {
    parts.held?.();
    const error = status === 'success' ? null : { code: 'refused', message: String(result) };
    answerTurn(chain, {
      agentTurnId,
      card: {
        type: 'tool.result',
        toolCallId: call.id,
        content: { kind: 'json', data: { status, after_execution: 'suspend', result: error ? null : plain(result), error } },
        metadata: { role: 'tool', function_name: call.name },
      },
    });
    isKept = true;
  };
  const answer = await giveAnswer(parts, call, left, {
    actor: actorOf(chain, agentTurnId),
    offered: offered(parts, agentTurnId),
    handed: () => handedBy(chain, agentTurnId, call),
    keep,
  });
  signal.throwIfAborted();
  if (!isKept) keep(answer);
  parts.tell({ kind: 'result', text: textOfResult(answer.result), toolName: call.name });
}

/** The turns that an earlier job handed out for a call of the last reply, and that no result names. */
function handedBy(chain: ReadChain, agentTurnId: string, { name }: CalledTool): ToolAnswer | undefined {
  const cards = outputOf(chain, agentTurnId);
  const since = cards.findLast(({ toolCalls }) => toolCalls?.length)?.createdAt ?? '';
  const results = JSON.stringify(cards.filter(({ type }) => type === 'tool.result'));
  const turns = handedOutBy(chain, agentTurnId).filter((turn) => turn.createdAt >= since);
  return handedBefore(name, turns, results);
}

/** A value as JSON preserves it. */
export const plain = (value: unknown): unknown => (value === undefined ? null : parseJson(JSON.stringify(value)));
/** A result as text for the model. */
export const textOfResult = (result: unknown): string => (typeof result === 'string' ? result : JSON.stringify(result ?? null));

interface Answering {
  readonly actor: Actor;
  readonly offered: readonly string[];
  /** The turns that an earlier job handed out for this call. */
  handed(): ToolAnswer | undefined;
  /** Stores the answer. Called in the transaction of the tool. */
  keep(answer: ToolAnswer): void;
}

/** Answers a call. Stemma's own tools store their answer with their effect; the caller stores those of delegated agents and persons. */
export async function giveAnswer(
  parts: TurnCallParts,
  call: CalledTool,
  left: Promise<unknown>[],
  { actor, offered: names, handed, keep }: Answering,
): Promise<ToolAnswer> {
  const before = waitsFor(call.name) ? handed() : undefined;
  const answer = before ?? answered(parts.chain, names, actor, call.name, call.arguments, (done) => (done.handed?.wait ? undefined : keep(done)));
  if (!answer) {
    const { allow, note } = await parts.ask(call);
    return allow ? { status: 'success', result: note ?? '' } : { status: 'failed', result: note ?? `${call.name} was refused by a person.` };
  }
  if (!answer.handed) return answer;
  const done = carryOut(parts, answer.handed);
  if (answer.handed.wait) return { status: 'success', result: quoted(await done) };
  left.push(done);
  return answer;
}

const offered = ({ chain, tools }: TurnCallParts, agentTurnId: string): readonly string[] =>
  offeredTo(turnCards(chain, turnNamed(chain, agentTurnId)).profile, 'turn', tools);

const actorOf = (chain: ReadChain, agentTurnId: string): Actor => ({
  who: read(chain, agentTurnId).agentId,
  runId: null,
  readsProject: mayReadProject(turnCards(chain, turnNamed(chain, agentTurnId)).profile),
  context: () => turnNamed(chain, agentTurnId).tipId ?? undefined,
});

/** The turns that a tool handed out and that no result names, with the other turns of their batch, so that they are not handed out twice. */
export function handedBefore(name: string, turns: readonly AgentTurn[], results: string): ToolAnswer | undefined {
  const first = turns.find(({ tool, agentTurnId }) => tool === name && !results.includes(agentTurnId));
  if (!first) return undefined;
  const { batchId } = first;
  const own = batchId === undefined ? [first] : turns.filter((turn) => turn.batchId === batchId);
  return { status: 'success', result: null, handed: { turns: own, wait: true, batchId } };
}

/** The turns that a tool handed out without waiting for them, and that an earlier job left open. */
const leftBy = (chain: ReadChain, agentTurnId: string): AgentTurn[] =>
  handedOutBy(chain, agentTurnId).filter((turn) => !waitsFor(turn.tool) && isOpen(turn));

const handedOutBy = (chain: ReadChain, agentTurnId: string): AgentTurn[] => allowedTurns(chain).filter((turn) => turn.parentTurnId === agentTurnId);

/** The turns that may be carried out with the one that handed them out. Those that another machine sent wait for a person. */
export const allowedTurns = (chain: ReadChain): AgentTurn[] => handoverMap(chain).turns.filter((turn) => !isWaiting(turn.received));

/** Carries out the turns that a tool handed out, in parallel. Returns their answers. */
export async function carryOut(parts: TurnCallParts, { turns, batchId }: Handed): Promise<unknown> {
  const { chain } = parts;
  const own = new AbortController();
  const signal = AbortSignal.any([parts.signal, own.signal]);
  const batch =
    batchId === undefined
      ? undefined
      : () => {
          endIfDue(chain, batchId);
          return batchOf(chain, batchId);
        };
  // Reading a batch ends it at its deadline. An ended batch has ended its turns, so their model calls stop too.
  const look = (): void => {
    if (batch && batch().status !== 'running') own.abort(conflict(`The batch ${batchId} has ended.`));
  };
  const deadline = batch?.().deadline;
  let timer: NodeJS.Timeout | undefined;
  // A timer does not run while the machine sleeps, so the deadline is checked repeatedly.
  const wait = (until: string): void => {
    timer = setTimeout(
      () => {
        look();
        if (!own.signal.aborted) wait(until);
      },
      Math.max(0, Date.parse(until) - chain.clock()) + 1,
    );
  };
  if (deadline !== undefined) wait(deadline);
  try {
    const ready = turns.filter(({ agentTurnId }) => isOpen(read(chain, agentTurnId)));
    const ended = await Promise.allSettled(
      ready.map((turn) => {
        const words = inWhole(parts.tell);
        return performTurn({ ...parts, signal, tell: words.tell }, turn.agentTurnId).finally(() => {
          words.end();
          look();
        });
      }),
    );
    parts.signal.throwIfAborted();
    const limit = ended.find((each) => each.status === 'rejected' && each.reason instanceof LimitReached);
    if (limit?.status === 'rejected') throw limit.reason;
    return batch ? batch() : turns.map((turn) => deliveredBy(chain, turn.agentTurnId));
  } finally {
    clearTimeout(timer);
  }
}

function deliveredBy(chain: ReadChain, agentTurnId: string): Record<string, unknown> {
  const { agentId, status, error } = read(chain, agentTurnId);
  const content = outputOf(chain, agentTurnId).findLast((card) => card.type === 'task.deliverable')?.content;
  const answer = content?.kind === 'text' ? content.text : content?.kind === 'json' ? content.data : null;
  return { agent_id: agentId, agent_turn_id: agentTurnId, status, answer, ...(error !== undefined && { error }) };
}
