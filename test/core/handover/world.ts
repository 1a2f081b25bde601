import { readFileSync } from 'node:fs';
import { ORPCError } from '@orpc/server';
import { addCard, boxAt, cardsInOrder, createBox, idsAt, putProfile } from '../../../src/core/cards/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import type { Card } from '../../../src/core/contract/index.js';
import { spacedJson } from '../../../src/core/formats/index.js';
import { door } from '../../support/door.js';
import { type HeldClock, heldClock } from '../../support/project.js';

// biome-ignore lint/suspicious/noExplicitAny: each vector has its own shape
export type Vector = any;

export const vectors: readonly Vector[] = JSON.parse(readFileSync(new URL('../../vectors/cardbox-handover.json', import.meta.url), 'utf8')).vectors;

/** A project behind the real router, with a fixed clock. */
export const world = (clock: HeldClock = heldClock()) => door({ clock, projectId: 'proj_1' });

export type World = ReturnType<typeof world>;

/** Creates boxes of cards with the given ids. */
export function fill(chain: WriteChain, boxes: Readonly<Record<string, readonly string[]>> = {}): void {
  for (const [boxId, ids] of Object.entries(boxes)) {
    for (const cardId of ids) addCard(chain, text(cardId));
    createBox(chain, ids, boxId);
  }
}

export const text = (cardId: string, said = cardId) => ({
  cardId,
  type: 'task.context',
  content: { kind: 'text' as const, text: said },
  authorId: 'someone',
});

export function profiles(chain: WriteChain, boxes: Readonly<Record<string, string>>, more: Readonly<Record<string, object>> = {}): void {
  for (const [name, boxId] of Object.entries(boxes)) putProfile(chain, name, { content: { kind: 'json', data: { name, ...more[name] } } }, boxId);
}

export const cardsOfBox = (chain: WriteChain, boxId: string): Card[] => cardsInOrder(chain, idsAt(chain, boxAt(chain, boxId).no));

/** A packed card in the form of the vectors: an existing one by id, a new one by content. */
export function shown(card: Card, old: ReadonlySet<string>): string {
  if (old.has(card.cardId)) return card.cardId;
  const { kind: _, ...bare } = card.content;
  return `${card.type}[${card.metadata.role}]:${spacedJson(bare)} author=${card.authorId}`;
}

export interface Refused {
  readonly code: string;
  readonly message: string;
  readonly data: Record<string, unknown>;
}

/** The error of a call, as the contract defines it. */
export async function refusalOf(call: Promise<unknown>): Promise<Refused> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ORPCError) return { code: error.code, message: error.message, data: error.data as Record<string, unknown> };
    throw error;
  }
  throw new Error('the call was not refused');
}

export const counts = (chain: WriteChain) => ({
  cards: chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM card')?.n ?? 0,
  boxes: chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM box')?.n ?? 0,
  agents: chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM agent')?.n ?? 0,
  turns: chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM agentTurn')?.n ?? 0,
});
