import { sha256Of } from '../artifacts/index.js';
import { canonicalJson, type Json } from '../base/index.js';
import { cardsInOrder, idsAt, isCallRecord, profileInBox, seenByModel } from '../cards/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { type Card, endStatuses } from '../contract/index.js';
import { requestOf } from './request.js';
import type { AgentTurnRow } from './turn-rows.js';

/** A card's id, and the digest of the content that a model reads. */
type Pin = readonly [cardId: string, digest: string];

export interface Pinned {
  readonly at: number;
  readonly cards: readonly Pin[];
  readonly profile: Pin | null;
  readonly digest: string;
}

export interface TurnCards {
  /** The context: pinned when the turn began. */
  readonly context: readonly Card[];
  /** The output cards that the context does not contain. */
  readonly output: readonly Card[];
  readonly profile: Card | undefined;
  /** Pinned cards whose content has changed. Only a change of the database from outside can cause that. */
  readonly changed: readonly string[];
}

const digestCard = ({ content, toolCalls, toolCallId, metadata }: Card): string =>
  sha256Of(canonicalJson({ content, toolCalls: toolCalls ?? null, toolCallId: toolCallId ?? null, metadata } as unknown as Json))
    .toString('hex')
    .slice(0, 32);

const pinOf = (card: Card): Pin => [card.cardId, digestCard(card)];

/** The pinned input of a turn, with the digest of its first prompt and messages. Undefined for a turn that has not begun. */
export function pinnedOf(chain: ReadChain, turn: Pick<AgentTurnRow, 'no'>): Pinned | undefined {
  const row = chain.db.one<{ at: number; cards: string; profile: string | null; digest: string }>(
    'SELECT at, cards, profile, digest FROM turnInput WHERE turn = ? AND project = ?',
    [turn.no, chain.project],
  );
  return row && { ...row, cards: JSON.parse(row.cards) as Pin[], profile: row.profile === null ? null : (JSON.parse(row.profile) as Pin) };
}

/** The digest of a prompt and messages, before any output. */
export const digestOfInput = (row: Pick<AgentTurnRow, 'agentId'>, { context, profile }: Pick<TurnCards, 'context' | 'profile'>): string =>
  sha256Of(canonicalJson(requestOf({ cards: context, profile, agentId: row.agentId, tools: [] }).messages as unknown as Json)).toString('hex');

/** Pins the input of a turn that begins: from now on it never changes (H18). A pinned turn stays as it is. Returns whether it was pinned now. */
export function pinInput(chain: WriteChain, row: AgentTurnRow): boolean {
  if (pinnedOf(chain, row)) return false;
  const { context, profile } = liveCards(chain, row);
  chain.db.insert('turnInput', {
    turn: row.no,
    project: chain.project,
    at: chain.clock(),
    digest: digestOfInput(row, { context, profile }),
    cards: JSON.stringify(context.map(pinOf)),
    profile: profile && JSON.stringify(pinOf(profile)),
  });
  return true;
}

/** The context of a turn that has not begun, or that began before inputs were pinned: the cards that a model may see now. */
function liveCards(chain: ReadChain, row: AgentTurnRow): Pick<TurnCards, 'context' | 'profile'> {
  return {
    context: cardsInOrder(chain, idsAt(chain, row.context)).filter((card) => seenByModel(card) && !isCallRecord(card)),
    profile: row.profileBoxId === null ? undefined : profileInBox(chain, row.profileBoxId),
  };
}

/** The cards that the model of a turn sees: its pinned context, then its output. */
export function turnCards(chain: ReadChain, row: AgentTurnRow): TurnCards {
  const pinned = pinnedOf(chain, row);
  const ids = idsAt(chain, row.output);
  const hasEnded = endStatuses.some((status) => status === row.status);
  // A box can grow after its turn, so the output of an ended turn is limited to the cards committed at its end.
  const written = cardsInOrder(chain, hasEnded ? ids.slice(0, row.committed) : ids).filter((card) => !isCallRecord(card));
  if (!pinned) {
    const live = liveCards(chain, row);
    return { ...live, output: besides(live.context, written).filter(seenByModel), changed: [] };
  }
  const pins = [...pinned.cards, ...(pinned.profile ? [pinned.profile] : [])];
  const found = new Map(cardsInOrder(chain, [...new Set(pins.map(([cardId]) => cardId))]).map((card) => [card.cardId, card]));
  const context = pinned.cards.flatMap(([cardId]) => found.get(cardId) ?? []);
  return {
    context,
    output: besides(context, written),
    profile: pinned.profile ? found.get(pinned.profile[0]) : undefined,
    changed: pins.flatMap(([cardId, digest]) => {
      const card = found.get(cardId);
      return card && digestCard(card) === digest ? [] : [cardId];
    }),
  };
}

/** The card ids that a model sees: the context, then new cards of the output (H15). */
export function modelCards(context: readonly string[], output: readonly string[]): string[] {
  const present = new Set(context);
  return [...context, ...new Set(output.filter((id) => !present.has(id)))];
}

function besides(context: readonly Card[], output: readonly Card[]): Card[] {
  const cardIds = (cards: readonly Card[]): string[] => cards.map((card) => card.cardId);
  const seen = new Set(modelCards(cardIds(context), cardIds(output)).slice(context.length));
  return output.filter(({ cardId }) => seen.delete(cardId));
}
