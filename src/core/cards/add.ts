import { conflict, notFound, picked, present, toTimestamp } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Card, CardVersion } from '../contract/index.js';
import {
  type CardDraft,
  type CardRow,
  draftOf,
  meaning,
  meaningIn,
  meaningOf,
  meaningOfRow,
  type NewCard,
  readProjectId,
  selectCard,
  toCard,
} from './card.js';
import { holderOf } from './places.js';

/**
 * Writes a card. An equal card changes nothing. Other content under a known id repairs the card and keeps the old content
 * (B5). A deleted card is restored (B6).
 * @throws BAD_REQUEST for an invalid card; CONFLICT if the id belongs to another project, if a turn holds the card (B15), or if the tool
 *   call has a result.
 */
export const addCard = (chain: WriteChain, given: NewCard): Card => addCards(chain, [given])[0] as Card;

/** Writes several cards, all or none. */
export function addCards(chain: WriteChain, given: readonly NewCard[]): Card[] {
  const drafts = given.map((card) => draftOf(chain, card));
  const projectId = readProjectId(chain);
  return chain.db.transaction(() => drafts.map((draft) => toCard(write(chain, draft), projectId, chain.clock())));
}

function write(chain: WriteChain, draft: CardDraft): CardRow {
  const known = chain.db.one<CardRow>(`${selectCard} WHERE cardId = ?`, draft.cardId);
  // B10: the error says only that the id is taken, nothing about the other project.
  if (known && known.project !== chain.project) throw conflict(`The card id ${draft.cardId} is in use. Use another id.`, { id: draft.cardId });
  const isSame = known !== undefined && meaningOfRow(known) === meaningOf(draft);
  if (known && isSame && known.deletedAt === null) return known;
  if (known && !isSame) refuseSealed(chain, draft.cardId);
  refuseSecondResult(chain, draft);
  const now = chain.clock();
  const { cardId, ttlSeconds, authorId, entryKey, createdAt } = draft;
  const values = {
    ...picked(draft, 'toolCallId', 'ttlSeconds', 'authorId'),
    content: JSON.stringify(draft.content),
    toolCalls: draft.toolCalls && JSON.stringify(draft.toolCalls),
    expiresAt: ttlSeconds === null ? draft.expiresAt : now + ttlSeconds * 1_000,
    metadata: JSON.stringify(draft.metadata),
  };
  if (!known) chain.db.insert('card', { ...values, project: chain.project, cardId, createdAt: createdAt ?? now, entryKey });
  else {
    if (known.deletedAt !== null) noteVersion(chain, known, 'restored', authorId);
    if (!isSame) noteVersion(chain, known, 'repaired', authorId);
    chain.db.run(
      `UPDATE card SET content = :content, toolCalls = :toolCalls, toolCallId = :toolCallId, ttlSeconds = :ttlSeconds, expiresAt = :expiresAt,
         metadata = :metadata, authorId = :authorId, deletedAt = NULL, repairedAt = :repairedAt WHERE no = :no`,
      { ...values, repairedAt: isSame ? known.repairedAt : now, no: known.no },
    );
  }
  return readCard(chain, draft.cardId);
}

/** B15: refuses to change a card that a turn has seen or will see. @throws CONFLICT */
function refuseSealed(chain: ReadChain, cardId: string): void {
  const agentTurnId = holderOf(chain, cardId);
  if (agentTurnId !== undefined)
    throw conflict(`The card ${cardId} is sealed: the turn ${agentTurnId} holds it. Write the change as a new card.`, { id: cardId, agentTurnId });
}

/** B8: refuses a second result of a call, for instance from a replay. @throws CONFLICT */
function refuseSecondResult(chain: ReadChain, draft: CardDraft): void {
  if (draft.type !== 'tool.result' || draft.toolCallId === null || draft.entryKey !== null) return;
  const cardId = chain.db.value<string>(
    "SELECT cardId FROM card WHERE project = ? AND toolCallId = ? AND type = 'tool.result' AND entryKey IS NULL AND cardId <> ?",
    [chain.project, draft.toolCallId, draft.cardId],
  );
  if (cardId !== undefined)
    throw conflict(`The tool call ${draft.toolCallId} has its result in card ${cardId}. Repair that card instead.`, { id: draft.toolCallId, cardId });
}

/** Marks a card as deleted. It stays readable and in its boxes, but no model sees it (B6). @throws NOT_FOUND */
export function deleteCard(chain: WriteChain, cardId: string, author?: string): Card {
  return chain.db.transaction(() => {
    const row = readCard(chain, cardId);
    if (row.deletedAt === null) {
      noteVersion(chain, row, 'deleted', author);
      chain.db.run('UPDATE card SET deletedAt = ? WHERE no = ?', chain.clock(), row.no);
    }
    return toCard(readCard(chain, cardId), readProjectId(chain), chain.clock());
  });
}

/** Reads the row of a card. @throws NOT_FOUND, also for a card of another project. */
export function readCard(chain: ReadChain, cardId: string): CardRow {
  const row = chain.db.one<CardRow>(`${selectCard} WHERE project = ? AND cardId = ?`, chain.project, cardId);
  if (!row) throw notFound(cardId, `This project has no card ${cardId}.`);
  return row;
}

type Before = Pick<CardRow, (typeof meaning)[number]>;

function noteVersion(chain: WriteChain, row: CardRow, what: CardVersion['what'], author?: string): void {
  const before = JSON.stringify(picked(row, ...meaning));
  chain.db.insert('cardVersion', { project: chain.project, card: row.no, at: chain.clock(), author, what, before });
}

/** The audit trail of a card: its earlier versions, oldest first. */
export function cardHistory(chain: ReadChain, cardId: string): CardVersion[] {
  const { no } = readCard(chain, cardId);
  const rows = chain.db.all<{ at: number; author: string | null; what: CardVersion['what']; before: string }>(
    'SELECT at, author, what, before FROM cardVersion WHERE card = ? AND project = ? ORDER BY no',
    [no, chain.project],
  );
  return rows.map(({ at, author, what, before: stored }) => {
    const before = JSON.parse(stored) as Before;
    const metadata = JSON.parse(before.metadata) as Record<string, unknown>;
    return { at: toTimestamp(at), ...present({ by: author }), what, before: { ...meaningIn(before), metadata, authorId: before.authorId } };
  });
}
