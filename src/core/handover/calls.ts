import { sha256Of } from '../artifacts/index.js';
import { canonicalJson, type Json, parseJson } from '../base/index.js';
import { addCards, cardsInOrder, idsAt, insertBox, type NewCard } from '../cards/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Card, Message, RequestTokens } from '../contract/index.js';
import { digestOfInput, pinnedOf, type TurnCards, turnCards } from './pinned.js';
import { answeredCalls, type CardRequest, dataOf, requestOf, toMessages } from './request.js';
import { type AgentTurnRow, turnNamed } from './turn-rows.js';

/** One call to a model, as it was sent: the only input of `recordCall`. */
export interface SentCall extends CardRequest {
  /** The model, the sampling settings and the tool choice. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The system prompt and the blocks, recorded apart. */
  readonly prompts: readonly { readonly layer: string; readonly content: string }[];
  /** Number of cards of the output box that the messages contain, counted with all its cards. */
  readonly outputs: number;
  /** The text of a last system message that is not stored in a card. */
  readonly note?: string | undefined;
  /** `input`: a performer outside of Stemma read it. `stemma`: Stemma sent it to a model. */
  readonly source: 'input' | 'stemma';
}

/** What a performer reported about the reply to a call. Null is "not recorded". */
export interface CallReply {
  readonly tokens: RequestTokens;
  readonly ms: number | null;
  /** In US dollars. */
  readonly cost: number | null;
  readonly stop: string | null;
}

export interface CardCall {
  /** `card:` and the turn and the number of the call, from 0. */
  readonly requestId: string;
  readonly number: number;
  readonly at: number;
  /** `begin`: no call was recorded, so the pinned input stands for one. `entries`: not even the input was recorded. */
  readonly source: SentCall['source'] | 'begin' | 'entries';
  readonly requestBoxId: string | undefined;
  readonly outputs: number;
  readonly reply: CallReply | null;
  readonly body: Record<string, unknown> & { readonly messages: Message[] };
  /** The system prompt without the blocks of Stemma. */
  readonly systemPrompt: string;
  readonly digest: string;
  readonly recordedDigest: string | null;
  readonly missing: readonly string[];
  readonly problem: string | undefined;
}

interface StoredCall extends Readonly<Record<'no' | 'box' | 'outputs' | 'at', number>>, Readonly<Record<'note' | 'reply', string | null>> {
  readonly boxId: string;
  readonly source: SentCall['source'];
  readonly digest: string;
}

const storedCalls = (chain: ReadChain, row: Pick<AgentTurnRow, 'no'>): StoredCall[] =>
  chain.db.all<StoredCall>(
    `SELECT c.no, c.box, b.boxId, c.outputs, c.note, c.source, c.digest, c.at, c.reply FROM cardCall c JOIN box b ON b.no = c.box
      WHERE c.turn = ? AND c.project = ? ORDER BY c.no`,
    [row.no, chain.project],
  );

/** The body of a call. Its digest is over its canonical JSON. */
const bodyOf = ({ parameters, messages, tools }: Pick<SentCall, 'parameters' | 'messages' | 'tools'>): CardCall['body'] => ({
  ...parameters,
  messages,
  ...(tools && { tools }),
});
const digestCall = (body: CardCall['body']): string => sha256Of(canonicalJson(body as unknown as Json)).toString('hex');

/**
 * Records a model call of a turn (H19): its rendered prompt, tools and parameters as cards in a request box, and the digest of the whole.
 * The same call as the last one is recorded once. Call it inside a transaction. Returns the number of the record, for `recordReply`.
 */
export function recordCall(chain: WriteChain, row: AgentTurnRow, call: SentCall): { callNo: number; requestBoxId: string } {
  const digest = digestCall(bodyOf(call));
  const last = storedCalls(chain, row).at(-1);
  if (last?.digest === digest && last.source === 'input' && call.source === 'input' && last.outputs === call.outputs)
    return { callNo: last.no, requestBoxId: last.boxId };
  const box = insertBox(chain, recordCards(chain, row, call, last));
  const { outputs, note, source } = call;
  const stored = { project: chain.project, turn: row.no, box: box.no, outputs, note, source, digest, at: chain.clock() };
  const { rowId } = chain.db.insert('cardCall', stored);
  return { callNo: rowId, requestBoxId: box.boxId };
}

/** Stores what a performer reported about the reply to a recorded call. */
export function recordReply(chain: WriteChain, callNo: number, reply: CallReply): void {
  chain.db.run('UPDATE cardCall SET reply = ? WHERE no = ? AND project = ?', JSON.stringify(reply), callNo, chain.project);
}

/** Where a card of a turn comes from, for a replay: the model call before it, and the turn in which its delegation began. */
export function traceOf(chain: ReadChain, row: AgentTurnRow): { readonly step_id: string; readonly trace_id: string } {
  const [calls = 0] = chain.db.column<number>('SELECT COUNT(*) FROM cardCall WHERE turn = ?', row.no);
  const turns = [row];
  for (let next = row.parentTurnId; next !== null && turns.every(({ agentTurnId }) => agentTurnId !== next); ) {
    turns.push(turnNamed(chain, next));
    next = turns.at(-1)?.parentTurnId ?? null;
  }
  return { step_id: requestIdOf(row, Math.max(0, calls - 1)), trace_id: turns.at(-1)?.agentTurnId ?? row.agentTurnId };
}

/** The record cards of a call. An unchanged card of the previous call is used again. */
function recordCards(chain: WriteChain, row: AgentTurnRow, call: SentCall, last: StoredCall | undefined): string[] {
  const before = last ? cardsInOrder(chain, idsAt(chain, last.box)) : [];
  const drafts: NewCard[] = [
    ...call.prompts.map(
      ({ layer, content }): NewCard => ({ type: 'sys.rendered_prompt', content: { kind: 'text', text: content }, metadata: { layer } }),
    ),
    ...(call.tools ? [{ type: 'sys.tools', content: { kind: 'json' as const, data: { tools: call.tools } } }] : []),
    { type: 'sys.parameters', content: { kind: 'json', data: { ...call.parameters } } },
  ];
  const sameAs = (draft: NewCard): Card | undefined =>
    before.find((card) => card.type === draft.type && canonicalJson(card.content as Json) === canonicalJson(draft.content as Json));
  return drafts.map((draft) => {
    const known = sameAs(draft);
    if (known) return known.cardId;
    const metadata = { ...draft.metadata, role: 'system' as const, agent_turn_id: row.agentTurnId };
    return (addCards(chain, [{ ...draft, authorId: row.agentId, metadata }])[0] as Card).cardId;
  });
}

/** The calls of a turn, rebuilt from the pinned input and compared with their digests (H19); without recorded calls, the pinned input. */
export function callsOfTurn(chain: ReadChain, row: AgentTurnRow): CardCall[] {
  const stored = storedCalls(chain, row);
  if (stored.length === 0 && row.startedAt === null) return [];
  const seen = turnCards(chain, row);
  if (stored.length > 0) return stored.map((call, number) => rebuilt(chain, row, seen, call, number));
  const beginning = pinnedOf(chain, row);
  const { messages } = requestOf({ cards: seen.context, profile: seen.profile, agentId: row.agentId, tools: [] });
  const digest = digestOfInput(row, seen);
  const recordedDigest = beginning?.digest ?? null;
  return [
    {
      requestId: requestIdOf(row, 0),
      number: 0,
      at: beginning?.at ?? row.startedAt ?? row.createdAt,
      source: beginning ? 'begin' : 'entries',
      requestBoxId: undefined,
      outputs: 0,
      reply: null,
      body: { messages: answeredCalls(messages) },
      systemPrompt: messages[0]?.content ?? '',
      digest,
      recordedDigest,
      missing: ['tools', 'parameters'],
      problem: recordedDigest === null ? undefined : describeProblem(seen, digest === recordedDigest),
    },
  ];
}

const requestIdOf = (row: Pick<AgentTurnRow, 'agentTurnId'>, number: number): string => `card:${row.agentTurnId}:${number}`;

function rebuilt(chain: ReadChain, row: AgentTurnRow, seen: TurnCards, call: StoredCall, number: number): CardCall {
  const records = cardsInOrder(chain, idsAt(chain, call.box));
  const prompts = records.flatMap(({ type, content }) => (type === 'sys.rendered_prompt' && content.kind === 'text' ? [content.text] : []));
  const [tools, parameters] = ['sys.tools', 'sys.parameters'].map((type) => records.find((card) => card.type === type));
  const shown = new Set(idsAt(chain, row.output).slice(0, call.outputs));
  const cards = [...seen.context, ...seen.output.filter((card) => shown.has(card.cardId))];
  const withMessages = (messages: readonly Message[]) =>
    bodyOf({
      messages: [
        ...prompts.map((content) => ({ role: 'system' as const, content })),
        ...messages,
        ...(call.note === null ? [] : [{ role: 'system' as const, content: call.note }]),
      ],
      tools: (dataOf(tools).tools ?? null) as Record<string, unknown>[] | null,
      parameters: dataOf(parameters),
    });
  const said = toMessages(cards);
  // Earlier versions sent open calls as they were.
  const [now, before] = [withMessages(answeredCalls(said)), withMessages(said)];
  const body = digestCall(before) === call.digest ? before : now;
  const digest = digestCall(body);
  const { at, source, boxId: requestBoxId, outputs } = call;
  return {
    requestId: requestIdOf(row, number),
    number,
    at,
    source,
    requestBoxId,
    outputs,
    reply: call.reply === null ? null : (parseJson(call.reply) as unknown as CallReply),
    body,
    systemPrompt: promptIn(records),
    digest,
    recordedDigest: call.digest,
    missing: [...(tools ? [] : call.source === 'input' ? ['tools'] : []), ...(Object.keys(bodySettings(body)).length ? [] : ['parameters'])],
    problem: describeProblem(seen, digest === call.digest),
  };
}

/** The rendered prompt of the profile. Earlier versions recorded no layer. */
function promptIn(records: readonly Card[]): string {
  const found = records.find(({ type, metadata }) => type === 'sys.rendered_prompt' && (metadata.layer ?? 'system_prompt') === 'system_prompt');
  return found?.content.kind === 'text' ? found.content.text : '';
}

const bodySettings = ({ messages: _, tools: __, ...settings }: Record<string, unknown>): Record<string, unknown> => settings;

const describeProblem = ({ changed }: TurnCards, isSame: boolean): string | undefined =>
  isSame
    ? undefined
    : changed.length
      ? `the content of the card ${changed[0]} is not what the turn was given`
      : 'the rebuilt call differs from the recorded one';
