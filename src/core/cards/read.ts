import { defined, present, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Box, BoxEntry, BoxRow, Card, InputOf, OutputOf, Packing } from '../contract/index.js';
import { type CardLine, entriesOfCards, textOfContent } from '../formats/index.js';
import { readCard } from './add.js';
import { type CardRow, readProjectId, selectCard, toCard, whereIds } from './card.js';
import { boxAt, idsAt } from './places.js';

/** Reads a card. Deleted and expired cards are flagged. @throws NOT_FOUND */
export const getCard = (chain: ReadChain, cardId: string): Card => toCard(readCard(chain, cardId), readProjectId(chain), chain.clock());

function toCards(chain: ReadChain, rows: readonly CardRow[]): Card[] {
  const projectId = readProjectId(chain);
  const now = chain.clock();
  return rows.map((row) => toCard(row, projectId, now));
}

/** Reads cards by id in one query. Unknown ids are missing in the result. */
const cardsById = (chain: ReadChain, cardIds: readonly string[]): Map<string, Card> =>
  new Map(
    toCards(chain, chain.db.all<CardRow>(`${selectCard} ${whereIds}`, JSON.stringify(cardIds), chain.project)).map((card) => [card.cardId, card]),
  );

/** Reads each card once, in the order of the request, and lists unknown ids (B11). */
export function batchCards(chain: ReadChain, cardIds: readonly string[]): { cards: Card[]; missingCardIds: string[] } {
  const asked = [...new Set(cardIds)];
  const found = cardsById(chain, asked);
  return { cards: asked.flatMap((id) => found.get(id) ?? []), missingCardIds: asked.filter((id) => !found.has(id)) };
}

/** Reads cards in the order of the ids. Repeats are kept, unknown ids skipped. */
export function cardsInOrder(chain: ReadChain, cardIds: readonly string[]): Card[] {
  const found = cardsById(chain, cardIds);
  return cardIds.flatMap((id) => found.get(id) ?? []);
}

/** Whether a model sees the card. It does not see deleted and expired cards. */
export const seenByModel = (card: Card): boolean => card.deletedAt === undefined && !card.expired;

/** Reads a box. @throws NOT_FOUND */
export function getBox(chain: ReadChain, boxId: string): Box {
  const { no, readers } = boxAt(chain, boxId);
  const row = chain.db.one<{ createdAt: number; updatedAt: number; packed: string | null; replaces: string | null; replacedBy: string | null }>(
    `SELECT b.createdAt, b.updatedAt, b.packed, o.boxId AS replaces, (SELECT boxId FROM box WHERE replaces = b.no ORDER BY no DESC LIMIT 1) AS replacedBy
       FROM box b LEFT JOIN box o ON o.no = b.replaces WHERE b.no = ? AND b.project = ?`,
    [no, chain.project],
  );
  if (!row) throw new Error(`Box ${boxId} was deleted while it was read.`);
  return {
    boxId,
    projectId: readProjectId(chain),
    cardIds: idsAt(chain, no),
    createdAt: toTimestamp(row.createdAt),
    updatedAt: toTimestamp(row.updatedAt),
    ...present({ replaces: row.replaces, replacedBy: row.replacedBy }),
    ...(readers > 0 && { held: true }),
    ...(row.packed !== null && { packed: JSON.parse(row.packed) as Packing }),
  };
}

/** Reads each box once, in the order of the request, and lists unknown ids (B11). */
export function batchBoxes(chain: ReadChain, boxIds: readonly string[]): { boxes: Box[]; missingBoxIds: string[] } {
  const asked = [...new Set(boxIds)];
  const wanted = 'SELECT boxId FROM box WHERE project = ? AND boxId IN (SELECT value FROM json_each(?))';
  const known = new Set(chain.db.column<string>(wanted, chain.project, JSON.stringify(asked)));
  return { boxes: asked.filter((id) => known.has(id)).map((id) => getBox(chain, id)), missingBoxIds: asked.filter((id) => !known.has(id)) };
}

/** Reads the cards of a box in order, repeats kept, and lists missing, deleted and expired ids. @throws NOT_FOUND */
export function boxCards(chain: ReadChain, boxId: string): OutputOf<'box.cards'> {
  const ids = idsAt(chain, boxAt(chain, boxId).no);
  const found = cardsById(chain, ids);
  const each = [...new Set(ids)];
  return {
    boxId,
    cards: ids.flatMap((id) => found.get(id) ?? []),
    missingCardIds: each.filter((id) => !found.has(id)),
    deletedCardIds: each.filter((id) => found.get(id)?.deletedAt !== undefined),
    expiredCardIds: each.filter((id) => found.get(id)?.expired),
  };
}

/** Converts a card to a line of a `cardbox-v1` delta, without project-specific fields. */
export const lineOfCard = (card: Card): CardLine => ({
  cardId: card.cardId,
  content: card.content,
  ...(card.toolCalls && { toolCalls: card.toolCalls as CardLine['toolCalls'] & object }),
  ...defined({ toolCallId: card.toolCallId, ttlSeconds: card.ttlSeconds, expiresAt: card.expiresAt }),
  metadata: card.metadata as CardLine['metadata'],
  authorId: card.authorId,
  createdAt: card.createdAt,
});

/** A box as conversation entries, as a model would see it. @throws NOT_FOUND */
export function boxEntries(chain: ReadChain, boxId: string): { tokens: number; entries: BoxEntry[] } {
  const cards = cardsInOrder(chain, idsAt(chain, boxAt(chain, boxId).no)).filter(seenByModel);
  const entries = entriesOfCards(cards.map(lineOfCard)).map(({ media: _, raw: __, messageId, marks, ...entry }) => ({
    ...entry,
    ...(marks && { marks: [...marks] }),
    cardId: messageId ?? '',
  }));
  return { tokens: entries.reduce((sum, entry) => sum + entry.tokens, 0), entries };
}

/** The boxes that contain a card, newest first. @throws NOT_FOUND */
export function boxesOf(chain: ReadChain, cardId: string): string[] {
  readCard(chain, cardId);
  return chain.db.column(
    `SELECT b.boxId FROM box b WHERE b.project = ? AND EXISTS (
       SELECT 1 FROM boxPart p, json_each(p.cardIds) i WHERE p.box = b.no AND instr(p.cardIds, ?) AND i.value = ?) ORDER BY b.no DESC`,
    chain.project,
    // A cheap text test skips lists that cannot contain the id.
    JSON.stringify(cardId),
    cardId,
  );
}

const defaultLimit = 200;

/** Lists cards of the project, newest first. */
export function listCards(chain: ReadChain, filter: InputOf<'card.list'>): { total: number; cards: Card[] } {
  const conditions: [string, string | number | undefined][] = [
    ['type = ?', filter.type],
    ['role = ?', filter.role],
    ['authorId = ?', filter.authorId],
    ['createdAt >= ?', filter.from && Date.parse(filter.from)],
    ['createdAt <= ?', filter.to && Date.parse(filter.to)],
    ["content LIKE ? ESCAPE '\\'", filter.text && `%${filter.text.replace(/[\\%_]/g, '\\$&')}%`],
  ];
  const asked = conditions.filter((condition): condition is [string, string | number] => condition[1] !== undefined && condition[1] !== '');
  const where = ['project = ?', ...asked.map(([sql]) => sql)].join(' AND ');
  const values = [chain.project, ...asked.map(([, value]) => value)];
  const [total = 0] = chain.db.column<number>(`SELECT COUNT(*) FROM card WHERE ${where}`, ...values);
  const rows = chain.db.all<CardRow>(
    `${selectCard} WHERE ${where} ORDER BY createdAt DESC, no DESC LIMIT ? OFFSET ?`,
    ...values,
    filter.limit ?? defaultLimit,
    filter.offset ?? 0,
  );
  return { total, cards: toCards(chain, rows) };
}

/** Counts cards by type, role and author, most frequent first. */
export function cardFacets(chain: ReadChain): OutputOf<'card.facets'> {
  const by = (column: 'type' | 'role' | 'authorId'): { name: string; count: number }[] =>
    chain.db.all(
      `SELECT ${column} AS name, COUNT(*) AS count FROM card WHERE project = ? GROUP BY ${column} ORDER BY count DESC, name LIMIT 500`,
      chain.project,
    );
  return { types: by('type'), roles: by('role'), authors: by('authorId') };
}

/** Lists boxes of the project, most recently changed first. */
export function listBoxes(chain: ReadChain, page: InputOf<'box.list'>): { total: number; boxes: BoxRow[] } {
  const [total = 0] = chain.db.column<number>('SELECT COUNT(*) FROM box WHERE project = ?', chain.project);
  const rows = chain.db.all<{ no: number; boxId: string; createdAt: number; updatedAt: number; readers: number; replaces: string | null }>(
    `SELECT b.no, b.boxId, b.createdAt, b.updatedAt, b.readers, o.boxId AS replaces FROM box b LEFT JOIN box o ON o.no = b.replaces
      WHERE b.project = ? ORDER BY b.updatedAt DESC, b.no DESC LIMIT ? OFFSET ?`,
    [chain.project, page.limit ?? defaultLimit, page.offset ?? 0],
  );
  const boxes = rows.map((row): BoxRow => {
    const ids = idsAt(chain, row.no);
    const head = boxHead(chain, ids);
    return {
      boxId: row.boxId,
      cards: ids.length,
      createdAt: toTimestamp(row.createdAt),
      updatedAt: toTimestamp(row.updatedAt),
      ...present({ replaces: row.replaces }),
      ...(row.readers > 0 && { held: true }),
      uses: usesOf(chain, row.no),
      ...(head !== undefined && { head }),
    };
  });
  return { total, boxes };
}

const headLength = 120;

function boxHead(chain: ReadChain, ids: readonly string[]): string | undefined {
  const [first] = cardsInOrder(chain, ids.slice(0, 3)).filter(seenByModel);
  return first && textOfContent(first.content).slice(0, headLength).replace(/\s+/g, ' ').toWellFormed();
}

const usesOf = (chain: ReadChain, box: number): BoxRow['uses'] =>
  chain.db.all<{ as: 'context' | 'output' | 'profile'; of: string }>(
    `SELECT 'context' AS "as", a.displayName AS "of" FROM agentTurn t JOIN agent a ON a.no = t.agent WHERE t.context = :box
     UNION ALL SELECT 'output', a.displayName FROM agentTurn t JOIN agent a ON a.no = t.agent WHERE t.output = :box
     UNION ALL SELECT 'profile', name FROM profile WHERE box = :box AND deletedAt IS NULL`,
    { box },
  );
