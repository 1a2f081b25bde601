import { oc } from '@orpc/contract';
import { z } from 'zod';
import { commit, commitTypes, stop } from './context.js';
import { entryDraft } from './entry.js';
import { roles } from './kinds.js';
import { contextPrefix, count, entryKey, name, timestamp } from './scalars.js';

/** Ids of cards and boxes: made here as UUIDv7 in 32 hex digits, taken as they come when given. */
export const cardId = z.string().min(1).max(200);
export const boxId = z.string().min(1).max(200);

/** `agent.thought`, `meta.parent_pointer`: names joined by dots; the ten of the seed and any other. */
export const cardType = z
  .string()
  .max(200)
  .regex(/^[A-Za-z][\w-]*(\.[\w-]+)*$/, 'a card type is names joined by dots, such as task.instruction');

const jsonData = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]);
const field = z.strictObject({ name: z.string().trim().min(1), description: z.string().trim().default('') });

export const cardContent = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('text'), text: z.string() }),
    z.strictObject({ kind: z.literal('json'), data: jsonData }),
    z.strictObject({ kind: z.literal('fields'), fields: z.array(field).max(10_000) }),
  ],
  { error: 'the content of a card is {kind: "text", text}, {kind: "json", data} or {kind: "fields", fields}' },
);
export type CardContent = z.output<typeof cardContent>;

const toolCalls = z.array(z.record(z.string(), z.unknown())).max(10_000);
const ttlSeconds = z.number().int().min(0).max(1e10);

export const card = z.object({
  cardId,
  projectId: z.string(),
  /** A view of `metadata.type`, which is the authority. */
  type: z.string(),
  content: cardContent,
  toolCalls: toolCalls.optional(),
  toolCallId: z.string().optional(),
  ttlSeconds: ttlSeconds.optional(),
  expiresAt: timestamp.optional(),
  deletedAt: timestamp.optional(),
  metadata: z.looseObject({ type: z.string(), role: z.enum(roles) }),
  authorId: z.string(),
  createdAt: timestamp,
  /** Its time is over: it can be read, and no model sees it. */
  expired: z.boolean().optional(),
  /** When its content was last replaced under the same id; `card.history` has what was there before. */
  repairedAt: timestamp.optional(),
  /** The entry of a chain that the card was made from. */
  entryKey: entryKey.optional(),
});
export type Card = z.output<typeof card>;

/**
 * A card about to be written. `type` may stand at the top or in `metadata.type`; where both do, metadata's holds. What
 * reading a card gives may be written back as it is. Keys of no card are refused, `meta` among them.
 */
export const cardInput = z
  .looseObject({
    cardId: cardId.optional(),
    projectId: z.string().optional(),
    type: cardType.optional(),
    content: cardContent,
    toolCalls: toolCalls.nullish(),
    toolCallId: z.string().min(1).max(400).nullish(),
    ttlSeconds: ttlSeconds.nullish(),
    expiresAt: timestamp.nullish(),
    metadata: z.looseObject({ type: cardType.optional(), role: z.enum(roles).optional() }).optional(),
    authorId: z.string().min(1).max(400).optional(),
    createdAt: timestamp.optional(),
  })
  .superRefine((given, context) => {
    const readOnly = ['deletedAt', 'expired', 'repairedAt', 'entryKey'];
    for (const key of Object.keys(given))
      if (!(key in card.shape) && !readOnly.includes(key))
        context.addIssue({
          code: 'custom',
          path: [key],
          message: key === 'meta' ? 'what describes a card stands in `metadata`; `meta` is not read' : `${key} is no field of a card`,
        });
    if (given.metadata && 'meta' in given.metadata)
      context.addIssue({
        code: 'custom',
        path: ['metadata', 'meta'],
        message: 'what describes a card stands in `metadata` itself, not in a `meta` inside it',
      });
  });
export type CardInput = z.output<typeof cardInput>;

/** One change of a card under its id: what was there before, who changed it and when. */
export const cardVersion = z.object({
  at: timestamp,
  by: z.string().optional(),
  what: z.enum(['repaired', 'deleted', 'restored']),
  before: z.object({
    content: cardContent,
    toolCalls: toolCalls.optional(),
    toolCallId: z.string().optional(),
    ttlSeconds: ttlSeconds.optional(),
    expiresAt: timestamp.optional(),
    metadata: z.record(z.string(), z.unknown()),
    authorId: z.string(),
  }),
});
export type CardVersion = z.output<typeof cardVersion>;

export const reasons = ['argument', 'inherited', 'parent'] as const;
/** Why cards are in a packed box, as runs in the order of the box, and what was left out because it was there already. */
export const packing = z.object({
  runs: z.array(z.object({ reason: z.enum(reasons), argument: z.string().optional(), boxId: boxId.optional(), cards: count })),
  dropped: z.array(z.object({ cardId, argument: z.string(), boxId })),
});
export type Packing = z.output<typeof packing>;

export const box = z.object({
  boxId,
  projectId: z.string(),
  cardIds: z.array(cardId),
  createdAt: timestamp,
  updatedAt: timestamp,
  /** The box that this one took the place of, and the other way round. */
  replaces: boxId.optional(),
  replacedBy: boxId.optional(),
  /** An open turn reads it: nothing can be appended until that turn ends. */
  held: z.boolean().optional(),
  packed: packing.optional(),
});
export type Box = z.output<typeof box>;

/** What a list of boxes shows. */
export const boxRow = z.object({
  boxId,
  cards: count,
  createdAt: timestamp,
  updatedAt: timestamp,
  replaces: boxId.optional(),
  held: z.boolean().optional(),
  /** What the box is to the agents that use it. */
  uses: z.array(z.object({ as: z.enum(['context', 'output', 'profile']), of: z.string() })),
  /** The beginning of its first text. */
  head: z.string().optional(),
});
export type BoxRow = z.output<typeof boxRow>;

const cardIds = z.array(cardId).max(100_000);
const page = { offset: count.optional(), limit: z.number().int().min(1).max(1_000).optional() };

export const cardContract = {
  add: oc.input(z.object({ card: cardInput })).output(card),
  get: oc.input(z.object({ cardId })).output(card),
  batch: oc.input(z.object({ cardIds })).output(z.object({ cards: z.array(card), missingCardIds: z.array(cardId) })),
  delete: oc.input(z.object({ cardId, author: name.optional() })).output(card),
  history: oc.input(z.object({ cardId })).output(z.array(cardVersion)),
  /** The boxes that hold the card, newest first. */
  boxes: oc.input(z.object({ cardId })).output(z.array(boxId)),
  list: oc
    .input(
      z.object({
        type: z.string().optional(),
        role: z.enum(roles).optional(),
        authorId: z.string().optional(),
        from: timestamp.optional(),
        to: timestamp.optional(),
        /** Words that the content holds, without regard to case. */
        text: z.string().max(400).optional(),
        ...page,
      }),
    )
    .output(z.object({ total: count, cards: z.array(card) })),
  /** How many cards there are of each type, role and author. */
  facets: oc.input(z.object({})).output(
    z.object({
      types: z.array(z.object({ name: z.string(), count })),
      roles: z.array(z.object({ name: z.string(), count })),
      authors: z.array(z.object({ name: z.string(), count })),
    }),
  ),
};

/** An entry of a box read as a conversation, and the card that it is of. */
export const boxEntry = entryDraft.extend({
  key: entryKey,
  cardId,
  at: timestamp.optional(),
  author: z.string().optional(),
  tokens: count,
  marks: z.array(z.string()).optional(),
});
export type BoxEntry = z.output<typeof boxEntry>;

export const boxContract = {
  create: oc.input(z.object({ cardIds, boxId: boxId.optional() })).output(box),
  get: oc.input(z.object({ boxId })).output(box),
  batch: oc.input(z.object({ boxIds: z.array(boxId).max(10_000) })).output(z.object({ boxes: z.array(box), missingBoxIds: z.array(boxId) })),
  /** Cards in the order of the box, repeats kept; what is missing is listed, what is deleted or expired flagged and listed. */
  cards: oc.input(z.object({ boxId })).output(
    z.object({
      boxId,
      cards: z.array(card),
      missingCardIds: z.array(cardId),
      deletedCardIds: z.array(cardId),
      expiredCardIds: z.array(cardId),
    }),
  ),
  append: oc.input(z.object({ boxId, cardIds })).output(box),
  replace: oc.input(z.object({ boxId, cardIds })).output(box),
  list: oc.input(z.object({ ...page })).output(z.object({ total: count, boxes: z.array(boxRow) })),
  /** The box as the conversation that a model would see: without deleted and expired cards. */
  entries: oc.input(z.object({ boxId })).output(z.object({ tokens: count, entries: z.array(boxEntry) })),
  /** A box of the entries of a commit's context; entries that are cards already keep their ids. */
  fromContext: oc.input(z.object({ id: contextPrefix, stop: stop.optional() })).output(box),
  /** A commit of what a model would see of a box. */
  commit: oc
    .input(
      z.object({
        boxId,
        parent: contextPrefix.nullable(),
        type: z.enum(commitTypes).exclude(['compaction']).optional(),
        template: name.optional(),
        principal: name.optional(),
        summary: z.string().max(100_000).optional(),
      }),
    )
    .output(commit),
};

export const profileContract = {
  put: oc
    .input(z.object({ name, card: cardInput, profileBoxId: boxId.optional() }))
    .output(z.object({ name: z.string(), profileBoxId: boxId, cardId })),
  /** By name, without regard to case. */
  find: oc.input(z.object({ name: z.string() })).output(z.object({ name: z.string(), profileBoxId: boxId, cardId: cardId.optional() })),
  list: oc.input(z.object({})).output(z.array(z.object({ name: z.string(), profileBoxId: boxId, cardId: cardId.optional() }))),
};

/** Cards and boxes as other systems read them over HTTP: their names, their limits (decisions, rule 29b). */
export const wireCard = z.looseObject({
  card_id: z.string(),
  project_id: z.string(),
  type: z.string(),
  content: cardContent,
  created_at: timestamp,
  author_id: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  tool_calls: toolCalls.nullable(),
  tool_call_id: z.string().nullable(),
  ttl_seconds: ttlSeconds.nullable(),
  expires_at: timestamp.optional(),
  deleted_at: timestamp.optional(),
});
export type WireCard = z.output<typeof wireCard>;
const wireBox = z.object({ box_id: z.string(), card_ids: z.array(z.string()) });
const wireIds = z.array(z.string()).default([]);
/** Clamped to 1 to 500. */
const wireLimit = z.coerce.number().default(200);
const inBox = z.object({ projectId: z.string(), boxId: z.string() });

export const readsContract = {
  box: oc.route({ method: 'GET', path: '/projects/{projectId}/boxes/{boxId}', summary: 'A box' }).input(inBox).output(wireBox),
  boxes: oc
    .route({ method: 'POST', path: '/projects/{projectId}/boxes/batch', summary: 'Boxes, with their last cards where `hydrate` is set' })
    .input(z.object({ projectId: z.string(), box_ids: wireIds, hydrate: z.boolean().default(false), limit: wireLimit }))
    .output(
      z.object({
        boxes: z.array(wireBox.extend({ hydrated_cards: z.array(wireCard).optional() })),
        missing_box_ids: z.array(z.string()),
        missing_card_ids: z.array(z.string()),
      }),
    ),
  boxCards: oc
    .route({ method: 'GET', path: '/projects/{projectId}/boxes/{boxId}/cards', summary: 'The last cards of a box, in its order' })
    .input(inBox.extend({ limit: wireLimit }))
    .output(z.array(wireCard)),
  cards: oc
    .route({ method: 'POST', path: '/projects/{projectId}/cards/batch', summary: 'Cards by their ids' })
    .input(z.object({ projectId: z.string(), card_ids: wireIds }))
    .output(z.object({ cards: z.array(wireCard), missing_ids: z.array(z.string()) })),
  card: oc
    .route({ method: 'GET', path: '/projects/{projectId}/cards/{cardId}', summary: 'A card' })
    .input(z.object({ projectId: z.string(), cardId: z.string() }))
    .output(wireCard),
};
