import { commit, stop } from './context.js';
import { entryDraft } from './entry.js';
import { commitTypes, roles } from './kinds.js';
import { contextPrefix, count, damaged, entryKey, inOrder, line, list, matching, most, name, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

/** Ids of cards and boxes. Stemma makes them as UUIDv7 in 32 hex digits, and accepts any other id. */
export const cardId = z.string().min(1).max(200).describe('The id of a card.');
export const boxId = z.string().min(1).max(200).describe('The id of a box.');

/** Names joined by dots, such as `agent.thought` and `meta.parent_pointer`. */
export const cardType = matching(/^[A-Za-z][\w-]*(\.[\w-]+)*$/, 'a card type is names joined by dots, such as task.instruction', 200).describe(
  'The type of a card, such as `task.instruction`.',
);

const jsonData = z.union([z.record(z.string().max(most.text), z.unknown()), list(z.unknown(), 10_000_000)]);
const field = z.strictObject({
  name: z.string().max(most.text).trim().min(1).describe('The name of the field.'),
  description: z.string().max(most.text).trim().default('').describe('What the field must contain.'),
});

const contentForms = 'the content of a card is a string, {kind: "text", text}, {kind: "json", data} or {kind: "fields", fields}';
export const cardContent = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('text').describe('Text.'), text: z.string().max(most.text).describe('The text.') }),
    z.strictObject({ kind: z.literal('json').describe('JSON.'), data: jsonData.describe('An object or a list.') }),
    z.strictObject({
      kind: z.literal('fields').describe('The fields that a result must have.'),
      fields: list(field, 10_000).describe('The fields.'),
    }),
  ],
  { error: contentForms },
);
export type CardContent = z.output<typeof cardContent>;

const toolCalls = list(z.record(z.string().max(most.text), z.unknown()), 10_000);
const ttlSeconds = z.number().int().min(0).max(1e10);

export const card = z.object({
  cardId,
  projectId: z.string(),
  /** Equal to `metadata.type`. */
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
  /** True if it expired: it stays readable, and models no longer see it. */
  expired: z.boolean().optional(),
  /** When its content was last replaced under the same id. `card.history` has the earlier content. */
  repairedAt: timestamp.optional(),
  /** The entry of a chain that the card was made from. */
  entryKey: entryKey.optional(),
  damaged,
});
export type Card = z.output<typeof card>;

/**
 * A card to write. `metadata.type` takes precedence over `type`. A card from `card.get` can be written back unchanged. Unknown keys, such as `meta`,
 * are refused.
 */
export const cardInput = z
  .looseObject({
    cardId: cardId.optional().describe('The id of the card. Without it, Stemma makes one.'),
    projectId: line.optional().describe('The project that the card belongs to. It must be the open project.'),
    type: cardType.optional(),
    content: z
      .union(
        [
          z
            .string()
            .max(most.text)
            .transform((text): CardContent => ({ kind: 'text', text })),
          cardContent,
        ],
        { error: contentForms },
      )
      .describe('The content of the card. A plain string is `{kind: "text", text}`.'),
    toolCalls: toolCalls.nullish().describe('The tool calls of an assistant message.'),
    toolCallId: z.string().min(1).max(400).nullish().describe('The id of the tool call whose result the card holds.'),
    ttlSeconds: ttlSeconds.nullish().describe('The number of seconds after which the card expires.'),
    expiresAt: timestamp.nullish().describe('When the card expires.'),
    metadata: z
      .looseObject({ type: cardType.optional(), role: z.enum(roles).optional().describe('Who speaks in the card.') })
      .optional()
      .describe('Facts about the card. Any other key is allowed.'),
    authorId: z.string().min(1).max(400).optional().describe('The author of the card.'),
    createdAt: timestamp.optional().describe('When the card was written. The default is now.'),
  })
  .superRefine((given, context) => {
    const readOnly = ['deletedAt', 'expired', 'repairedAt', 'entryKey'];
    for (const key of Object.keys(given))
      if (!(key in card.shape) && !readOnly.includes(key))
        context.addIssue({
          code: 'custom',
          path: [key],
          message: key === 'meta' ? 'facts about a card belong in `metadata`, not in `meta`' : `a card has no field ${key}`,
        });
    if (given.metadata && 'meta' in given.metadata)
      context.addIssue({
        code: 'custom',
        path: ['metadata', 'meta'],
        message: 'facts about a card belong in `metadata` itself, not in a `meta` inside it',
      });
  });
export type CardInput = z.output<typeof cardInput>;

/** A change of a card: the earlier content, who changed it and when. */
export const cardVersion = z.object({
  at: timestamp,
  by: z.string().optional(),
  what: z.enum(['repaired', 'deleted', 'restored']),
  before: card
    .pick({ content: true, toolCalls: true, toolCallId: true, ttlSeconds: true, expiresAt: true, metadata: true, authorId: true })
    .extend({ metadata: z.record(z.string(), z.unknown()) }),
});
export type CardVersion = z.output<typeof cardVersion>;

export const reasons = ['argument', 'inherited', 'parent'] as const;
/** Why cards are in a packed box, in the order of the box, and which were dropped as duplicates. */
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
  /** The box that this box replaced, and the box that replaced this one. */
  replaces: boxId.optional(),
  replacedBy: boxId.optional(),
  /** True while an open turn reads the box. Until that turn ends, `box.append` is refused. */
  held: z.boolean().optional(),
  packed: packing.optional(),
  damaged,
});
export type Box = z.output<typeof box>;

/** A box in a list. */
export const boxRow = z.object({
  boxId,
  cards: count,
  createdAt: timestamp,
  updatedAt: timestamp,
  replaces: boxId.optional(),
  held: z.boolean().optional(),
  /** How agents use the box. */
  uses: z.array(z.object({ as: z.enum(['context', 'output', 'profile']), of: z.string() })),
  /** The beginning of the first text in the box. */
  head: z.string().optional(),
  damaged,
});
export type BoxRow = z.output<typeof boxRow>;

const cardIds = list(cardId, 100_000).describe('The ids of cards.');
const page = {
  offset: count.optional().describe('How many to skip.'),
  limit: upTo(1_000).optional().describe('The most to return.'),
};

export const cardContract = {
  add: procedure(
    'Stores a card. If a card with this id exists and has the same content, returns it. If its content differs, replaces the content; fails with CONFLICT if a turn holds the card.',
    { card: cardInput.describe('The card.') },
  ).returns(card),
  get: procedure('Returns a card.', { cardId }).returns(card),
  batch: procedure('Returns cards in the order of their ids, without duplicates, and lists the missing ones.', { cardIds }).returns({
    cards: z.array(card),
    missingCardIds: z.array(cardId),
  }),
  delete: procedure('Deletes a card. It stays readable, but models do not see it in turns that begin later.', {
    cardId,
    author: name.optional().describe('Who deletes it.'),
  }).returns(card),
  history: procedure('Lists the changes of a card: the earlier content, who changed it and when.', { cardId }).returns(z.array(cardVersion)),
  boxes: procedure('Lists the boxes that contain a card, newest first.', { cardId }).returns(z.array(boxId)),
  list: procedure(
    'Lists cards that match all conditions, newest first, in pages.',
    inOrder(
      z.strictObject({
        type: line.optional().describe('Only cards of this type.'),
        role: z.enum(roles).optional().describe('Only cards with this role.'),
        authorId: line.optional().describe('Only cards by this author.'),
        from: timestamp.optional().describe('Only cards created at this time or later.'),
        to: timestamp.optional().describe('Only cards created at this time or earlier.'),
        text: z.string().max(400).optional().describe('Only cards whose content contains these words, ignoring case.'),
        ...page,
      }),
    ),
  ).returns({ total: count, cards: z.array(card) }),
  facets: procedure('Counts the cards of each type, role and author.').returns({
    types: z.array(z.object({ name: z.string(), count, damaged })),
    roles: z.array(z.object({ name: z.string(), count, damaged })),
    authors: z.array(z.object({ name: z.string(), count, damaged })),
  }),
};

/** An entry of a box read as a conversation, with its card. */
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
  create: procedure('Creates a box of cards.', {
    cardIds,
    boxId: boxId.optional().describe('The id of the new box. Without it, Stemma makes one.'),
  }).returns(box),
  get: procedure('Returns a box.', { boxId }).returns(box),
  batch: procedure('Returns boxes in the order of their ids, without duplicates, and lists the missing ones.', {
    boxIds: list(boxId, 10_000).describe('The ids of boxes.'),
  }).returns({ boxes: z.array(box), missingBoxIds: z.array(boxId) }),
  cards: procedure('Returns the cards of a box in its order. Missing, deleted and expired cards are listed.', { boxId }).returns({
    boxId,
    cards: z.array(card),
    missingCardIds: z.array(cardId),
    deletedCardIds: z.array(cardId),
    expiredCardIds: z.array(cardId),
  }),
  append: procedure('Appends cards to a box, except those that it contains already.', { boxId, cardIds }).returns(box),
  replace: procedure('Creates a box that replaces another. The other one stays readable.', { boxId, cardIds }).returns(box),
  list: procedure('Lists the boxes, most recently changed first, in pages.', page).returns({ total: count, boxes: z.array(boxRow) }),
  entries: procedure('Returns a box as the conversation that a model sees: without deleted and expired cards.', { boxId }).returns({
    tokens: count,
    entries: z.array(boxEntry),
  }),
  fromContext: procedure("Creates a box from the entries of a commit's context. Entries that are cards already keep their ids.", {
    id: contextPrefix,
    stop: stop.optional(),
  }).returns(box),
  commit: procedure('Stores the conversation that a model sees of a box as a commit.', {
    boxId,
    parent: contextPrefix.nullable().describe('The commit that the new one follows, or null for a new chain.'),
    type: z.enum(commitTypes).exclude(['compaction']).optional().describe('The type of the commit.'),
    template: name.optional().describe('The template of the commit.'),
    principal: name.optional().describe('The person or agent that the commit belongs to.'),
    summary: z.string().max(100_000).optional().describe('A summary for people.'),
  }).returns(commit),
};

export const profileContract = {
  put: procedure('Stores a profile under a name: a card with the prompt and the tools of an agent.', {
    name: name.describe('The name of the profile.'),
    card: cardInput.describe('The card with the prompt and the tools.'),
    profileBoxId: boxId.optional().describe('The box of the profile. Without it, Stemma makes one.'),
  }).returns({ name: z.string(), profileBoxId: boxId, cardId }),
  delete: procedure(
    'Deletes a profile: no agent can start with it any more. Agents that have started keep it, and its boxes stay. `deleted: false` or `profile.put` restores it.',
    {
      name: line.describe('The name of the profile.'),
      deleted: z.boolean().default(true).describe('False brings it back.'),
    },
  ).returns({ name: z.string(), deleted: z.boolean() }),
  find: procedure('Finds a profile by its name, ignoring case.', { name: line.describe('The name of the profile.') }).returns({
    name: z.string(),
    profileBoxId: boxId,
    cardId: cardId.optional(),
  }),
  list: procedure('Lists the profiles.').returns(z.array(z.object({ name: z.string(), profileBoxId: boxId, cardId: cardId.optional() }))),
};

/** Cards and boxes in the HTTP form of the public system: snake_case names and its limits. */
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
/** Any text, so that a malformed id is answered with NOT_FOUND. */
const wireId = z.string().max(most.text);
const wireIds = list(wireId).default([]).describe('The ids to return.');
const wireLimit = z.coerce.number().default(200).describe('The most cards to return, from 1 to 500.');
const projectId = wireId.describe('The id of the project.');
const wireBoxId = wireId.describe('The id of the box.');
const wireCardId = wireId.describe('The id of the card.');
const inBox = z.strictObject({ projectId, boxId: wireBoxId });

export const readsContract = {
  box: procedure({ method: 'GET', path: '/projects/{projectId}/boxes/{boxId}', description: 'Returns a box.' }, inBox).returns(wireBox),
  boxes: procedure(
    {
      method: 'POST',
      path: '/projects/{projectId}/boxes/batch',
      description: 'Returns boxes by their ids, with their last cards if `hydrate` is set.',
    },
    {
      projectId,
      box_ids: wireIds,
      hydrate: z.boolean().default(false).describe('Include the last cards of each box.'),
      limit: wireLimit,
    },
  ).returns({
    boxes: z.array(wireBox.extend({ hydrated_cards: z.array(wireCard).optional() })),
    missing_box_ids: z.array(z.string()),
    missing_card_ids: z.array(z.string()),
  }),
  boxCards: procedure(
    { method: 'GET', path: '/projects/{projectId}/boxes/{boxId}/cards', description: 'Returns the last cards of a box, in its order.' },
    inBox.extend({ limit: wireLimit }),
  ).returns(z.array(wireCard)),
  cards: procedure(
    { method: 'POST', path: '/projects/{projectId}/cards/batch', description: 'Returns cards by their ids.' },
    { projectId, card_ids: wireIds },
  ).returns({ cards: z.array(wireCard), missing_ids: z.array(z.string()) }),
  card: procedure(
    { method: 'GET', path: '/projects/{projectId}/cards/{cardId}', description: 'Returns a card.' },
    { projectId, cardId: wireCardId },
  ).returns(wireCard),
};
