import { badRequest, canonicalJson, type EntryKey, inWords, type JsonObject, picked, present, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Card, CardContent, CardInput, Role } from '../contract/index.js';
import { checkContent, roleOfType } from './types.js';

/** A row of the `card` table. `type` and `role` are generated from the metadata. */
export type CardRow = Readonly<
  Record<'no' | 'project' | 'createdAt', number> &
    Record<'ttlSeconds' | 'expiresAt' | 'deletedAt' | 'repairedAt', number | null> &
    Record<'cardId' | 'content' | 'metadata' | 'authorId' | 'type', string> &
    Record<'toolCalls' | 'toolCallId' | 'entryKey', string | null>
>;

export const selectCard = /* sql */ `SELECT no, project, cardId, content, toolCalls, toolCallId, ttlSeconds, expiresAt, deletedAt, metadata, authorId,
       createdAt, repairedAt, entryKey, type FROM card`;

/** Selects cards by a JSON list of ids. `+project` keeps SQLite off the project index, which would read all cards. */
export const whereIds = 'WHERE cardId IN (SELECT value FROM json_each(?)) AND +project = ?';

/** A card that Stemma itself creates. */
export type NewCard = CardInput & { readonly entryKey?: EntryKey };

/** A checked card before it is written. Two cards are equal if these fields are equal. */
export interface CardDraft extends Pick<CardRow, 'cardId' | 'type' | 'toolCallId' | 'ttlSeconds' | 'expiresAt' | 'authorId' | 'entryKey'> {
  readonly content: CardContent;
  readonly toolCalls: readonly JsonObject[] | null;
  readonly metadata: JsonObject & { readonly type: string; readonly role: Role };
  readonly createdAt: number | null;
}

/** The project's id. Other systems call it the tenant. */
export const readProjectId = (chain: ReadChain): string => chain.db.value<string>('SELECT projectId FROM project WHERE no = ?', chain.project) ?? '';

/** A UUIDv7 as 32 hex digits. It starts with the time, so ids sort by creation. */
export function newCardId(chain: Pick<ReadChain, 'clock' | 'newId'>): string {
  const random = chain.newId().replaceAll('-', '');
  return `${chain.clock().toString(16).padStart(12, '0')}7${random.slice(13, 16)}8${random.slice(17, 32)}`;
}

/** Fields of the card that its metadata must not repeat. */
const ownNames = ['project_id', 'author_id', 'created_at'];

/** Maximum nesting of JSON: far more than useful, far less than a stack overflow. */
const deepest = 200;

/** Checks a card. @throws BAD_REQUEST with the invalid field (B2, B4). */
export function draftOf(chain: ReadChain, given: NewCard): CardDraft {
  const projectId = readProjectId(chain);
  if (given.projectId !== undefined && given.projectId !== projectId)
    throw badRequest('projectId', `The card belongs to project ${inWords(given.projectId)}, but this is ${inWords(projectId)}.`);
  const type = given.metadata?.type ?? given.type;
  if (type === undefined) throw badRequest('type', 'The card has no type. Give one in metadata.type, such as task.instruction.');
  for (const [field, value] of Object.entries({ content: given.content, toolCalls: given.toolCalls, metadata: given.metadata }))
    if (isDeeper(value, deepest)) throw badRequest(field, `${field} is nested deeper than ${deepest} levels.`);
  checkContent(type, given.content);
  const others = Object.fromEntries(Object.entries(given.metadata ?? {}).filter(([key, value]) => !ownNames.includes(key) && value !== undefined));
  return {
    cardId: given.cardId ?? newCardId(chain),
    type,
    content: given.content,
    toolCalls: given.toolCalls?.length ? (given.toolCalls as JsonObject[]) : null,
    toolCallId: given.toolCallId ?? null,
    ttlSeconds: given.ttlSeconds ?? null,
    expiresAt: given.ttlSeconds == null && given.expiresAt != null ? Date.parse(given.expiresAt) : null,
    metadata: { ...(others as JsonObject), type, role: given.metadata?.role ?? roleOfType(type) },
    authorId: given.authorId ?? 'unknown',
    createdAt: given.createdAt === undefined ? null : Date.parse(given.createdAt),
    entryKey: given.entryKey ?? null,
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** A string that is equal for equal cards. Times of writing do not count. */
export const meaningOf = (card: Pick<CardDraft, (typeof meaning)[number]>): string => canonicalJson(picked(card, ...meaning) as JsonObject);

/** The fields that make a card: what it says, and to whom it belongs. */
export const meaning = ['content', 'toolCalls', 'toolCallId', 'ttlSeconds', 'expiresAt', 'metadata', 'authorId'] as const;

/** `meaningOf` for a stored card. */
export const meaningOfRow = (row: CardRow): string =>
  meaningOf({
    ...row,
    content: JSON.parse(row.content) as CardContent,
    toolCalls: row.toolCalls === null ? null : (JSON.parse(row.toolCalls) as JsonObject[]),
    expiresAt: row.ttlSeconds === null ? row.expiresAt : null,
    metadata: JSON.parse(row.metadata) as CardDraft['metadata'],
  });

/** What a stored card says, as the contract has it. */
export const meaningIn = (row: Pick<CardRow, 'content' | 'toolCalls' | 'toolCallId' | 'ttlSeconds' | 'expiresAt'>) => ({
  content: JSON.parse(row.content) as CardContent,
  ...(row.toolCalls !== null && { toolCalls: JSON.parse(row.toolCalls) as Record<string, unknown>[] }),
  ...present({ toolCallId: row.toolCallId, ttlSeconds: row.ttlSeconds }),
  ...(row.expiresAt !== null && { expiresAt: toTimestamp(row.expiresAt) }),
});

/** Converts a row to the card of the contract. `now` in milliseconds decides whether it is expired. */
export function toCard(row: CardRow, projectId: string, now: number): Card {
  return {
    cardId: row.cardId,
    projectId,
    type: row.type,
    ...meaningIn(row),
    ...(row.deletedAt !== null && { deletedAt: toTimestamp(row.deletedAt) }),
    metadata: JSON.parse(row.metadata) as Card['metadata'],
    authorId: row.authorId,
    createdAt: toTimestamp(row.createdAt),
    ...(row.expiresAt !== null && row.expiresAt <= now && { expired: true }),
    ...(row.repairedAt !== null && { repairedAt: toTimestamp(row.repairedAt) }),
    ...(row.entryKey !== null && { entryKey: row.entryKey as EntryKey }),
  };
}
