import { notFound, StemmaError, timestampOf } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Card, CardContent, CardVersion } from '../contract/index.js';
import { type CardRow, type Draft, draftOf, meaningOf, meaningOfRow, type NewCard, projectIdOf, selectCard, toCard } from './card.js';

/**
 * Writes a card. The same card again changes nothing; another content under a known id is the repair of a replay, which
 * keeps what was there (B5); a deleted card comes back (B6).
 * @throws BAD_REQUEST for a card that is not well formed; CONFLICT where the id is another project's, or a tool call has a result.
 */
export function addCard(chain: Chain, given: NewCard): Card {
  return addCards(chain, [given])[0] as Card;
}

/** Several cards, all or none. */
export function addCards(chain: Chain, given: readonly NewCard[]): Card[] {
  const drafts = given.map((card) => draftOf(chain, card));
  const projectId = projectIdOf(chain);
  return chain.db.transaction(() => drafts.map((draft) => toCard(write(chain, draft), projectId, chain.clock())));
}

function write(chain: Chain, draft: Draft): CardRow {
  const known = chain.db.one<CardRow>(`${selectCard} WHERE cardId = ?`, draft.cardId);
  // B10: nothing of the other project is said but that the id is taken.
  if (known && known.project !== chain.project)
    throw new StemmaError('CONFLICT', `the card id ${draft.cardId} is taken in another project: give the card another`, { id: draft.cardId });
  const isSame = known !== undefined && meaningOfRow(known) === meaningOf(draft);
  if (known && isSame && known.deletedAt === null) return known;
  refuseSecondResult(chain, draft);
  const now = chain.clock();
  const expiresAt = draft.ttlSeconds === null ? draft.expiresAt : now + draft.ttlSeconds * 1_000;
  const values = [
    JSON.stringify(draft.content),
    draft.toolCalls === null ? null : JSON.stringify(draft.toolCalls),
    draft.toolCallId,
    draft.ttlSeconds,
    expiresAt,
    JSON.stringify(draft.metadata),
    draft.authorId,
  ] as const;
  if (!known)
    chain.db.run(
      `INSERT INTO card (content, toolCalls, toolCallId, ttlSeconds, expiresAt, metadata, authorId, project, cardId, createdAt, entryKey)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...values,
      chain.project,
      draft.cardId,
      draft.createdAt ?? now,
      draft.entryKey,
    );
  else {
    if (known.deletedAt !== null) noteVersion(chain, known, 'restored', draft.authorId);
    if (!isSame) noteVersion(chain, known, 'repaired', draft.authorId);
    chain.db.run(
      `UPDATE card SET content = ?, toolCalls = ?, toolCallId = ?, ttlSeconds = ?, expiresAt = ?, metadata = ?, authorId = ?, deletedAt = NULL,
         repairedAt = ? WHERE no = ?`,
      ...values,
      isSame ? known.repairedAt : now,
      known.no,
    );
  }
  return rowOf(chain, draft.cardId);
}

/** B8: a call is answered once, so that a replay cannot answer it again. */
function refuseSecondResult(chain: Chain, draft: Draft): void {
  if (draft.type !== 'tool.result' || draft.toolCallId === null || draft.entryKey !== null) return;
  const other = chain.db.one<{ cardId: string }>(
    "SELECT cardId FROM card WHERE project = ? AND toolCallId = ? AND type = 'tool.result' AND entryKey IS NULL AND cardId <> ?",
    chain.project,
    draft.toolCallId,
    draft.cardId,
  );
  if (other)
    throw new StemmaError('CONFLICT', `the tool call ${draft.toolCallId} has its result in card ${other.cardId}; repair that one`, {
      id: draft.toolCallId,
      cardId: other.cardId,
    });
}

/** Marks a card as deleted: it stays readable, boxes keep its id, and no model sees it (B6). @throws NOT_FOUND */
export function deleteCard(chain: Chain, cardId: string, author?: string): Card {
  return chain.db.transaction(() => {
    const row = rowOf(chain, cardId);
    if (row.deletedAt === null) {
      noteVersion(chain, row, 'deleted', author);
      chain.db.run('UPDATE card SET deletedAt = ? WHERE no = ?', chain.clock(), row.no);
    }
    return toCard(rowOf(chain, cardId), projectIdOf(chain), chain.clock());
  });
}

/** @throws NOT_FOUND, for a card of another project as for one that is not there. */
export function rowOf(chain: Chain, cardId: string): CardRow {
  const row = chain.db.one<CardRow>(`${selectCard} WHERE project = ? AND cardId = ?`, chain.project, cardId);
  if (!row) throw notFound(cardId, `no card ${cardId} is in this project`);
  return row;
}

function noteVersion(chain: Chain, row: CardRow, what: CardVersion['what'], author?: string): void {
  const { content, toolCalls, toolCallId, ttlSeconds, expiresAt, metadata, authorId } = row;
  chain.db.run(
    'INSERT INTO cardVersion (project, card, at, author, what, before) VALUES (?, ?, ?, ?, ?, ?)',
    chain.project,
    row.no,
    chain.clock(),
    author ?? null,
    what,
    JSON.stringify({ content, toolCalls, toolCallId, ttlSeconds, expiresAt, metadata, authorId }),
  );
}

/** Every change under the card's id with what was there before it, oldest first: the audit trail. */
export function cardHistory(chain: Chain, cardId: string): CardVersion[] {
  const { no } = rowOf(chain, cardId);
  const rows = chain.db.all<{ at: number; author: string | null; what: CardVersion['what']; before: string }>(
    'SELECT at, author, what, before FROM cardVersion WHERE card = ? AND project = ? ORDER BY no',
    no,
    chain.project,
  );
  return rows.map((row) => {
    const before = JSON.parse(row.before) as Pick<
      CardRow,
      'content' | 'toolCalls' | 'toolCallId' | 'ttlSeconds' | 'expiresAt' | 'metadata' | 'authorId'
    >;
    return {
      at: timestampOf(row.at),
      ...(row.author !== null && { by: row.author }),
      what: row.what,
      before: {
        content: JSON.parse(before.content) as CardContent,
        ...(before.toolCalls !== null && { toolCalls: JSON.parse(before.toolCalls) as Record<string, unknown>[] }),
        ...(before.toolCallId !== null && { toolCallId: before.toolCallId }),
        ...(before.ttlSeconds !== null && { ttlSeconds: before.ttlSeconds }),
        ...(before.expiresAt !== null && { expiresAt: timestampOf(before.expiresAt) }),
        metadata: JSON.parse(before.metadata) as Record<string, unknown>,
        authorId: before.authorId,
      },
    };
  });
}
