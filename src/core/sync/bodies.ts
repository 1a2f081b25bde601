import { isBounded, type Json, parseJson } from '../base/index.js';
import {
  agent,
  agentTurn,
  card,
  cardContent,
  cardId,
  cardVersion,
  checkpoints,
  commitTypes,
  endStatuses,
  entityTypes,
  eventStates,
  experimentCase,
  messageOrigin,
  packing,
  replyCheck,
  requestTokens,
  resume,
  runStatuses,
  ticketStatuses,
  ticketTasks,
  ticketVersion,
  trigger,
  verdicts,
  z,
} from '../contract/index.js';

/** The most characters of a name, of a line, and of a text. */
const lengths = { name: 400, line: 10_000, text: 64 * 1024 * 1024 } as const;

/** SQLite reads a text only if it is valid Unicode, so another text would change when it is stored. */
const text = (most: number = lengths.text) =>
  z
    .string()
    .max(most)
    .refine((value) => value.isWellFormed(), 'must be valid Unicode');
const named = (most: number) =>
  text(most)
    .min(1)
    .refine((value) => !value.includes('\0'), 'must contain no NUL');
const name = named(lengths.name);
const line = text(lengths.line);
/** An id that Stemma or an agent made. */
const id = named(lengths.name);
const cardOrBox = named(200);
const whole = (most: number) => z.number().int().min(0).max(most);
/** What lists add up, so that the sum of millions of rows is still an exact number. */
const count = whole(2 ** 31 - 1);
const tokens = requestTokens.extend({ input: count.nullable(), output: count.nullable(), cacheRead: count.nullable(), cacheWrite: count.nullable() });
/** Bytes of a file: no import takes a larger one. */
const size = whole(4 * 1024 ** 3);
/** A time in milliseconds since 1970, with a year of four digits. */
const time = z.number().int().min(Date.parse('0000-01-01T00:00:00.000Z')).max(Date.parse('9999-12-31T23:59:59.999Z'));
const flag = z.literal([0, 1]);
const amount = z.number().min(0).max(1e9).nullable();
/** Milliseconds between two times. */
const ms = z.number().min(0).max(1e12);
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits');
const bytes = z.string().regex(/^([0-9a-f]{2})*$/, 'must be bytes in hexadecimal');
const ticketId = z.string().regex(/^tkt-[0-9a-f]{1,64}$/, 'must be tkt- and hex digits');
const format = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be a lower-case name such as claude-code-v1');
export const mediaType = z.string().regex(/^[\x20-\x7e]{1,400}$/, 'must be a media type');
/** The name of a row of another kind: the values of its key as a JSON list, or the digest of its content. */
const row = named(8_192);

/** JSON as text, whose value matches a schema. The text itself is stored. */
const json = (schema: z.ZodType) =>
  text().superRefine((value, context) => {
    const parsed = isBounded(Buffer.from(value)) ? parseJson(value) : undefined;
    const found = parsed === undefined ? undefined : schema.safeParse(parsed);
    if (found === undefined) context.addIssue({ code: 'custom', message: 'must be JSON, with at most 200 levels' });
    else if (!found.success)
      for (const { path, message } of found.error.issues.slice(0, 1)) context.addIssue({ code: 'custom', path: [...path], message });
  });
const object = z.record(z.string(), z.unknown());
const tags = json(z.array(z.string().min(1).max(lengths.name)).max(1_000));
const pin = z.tuple([cardId, z.string().max(lengths.name)]);
const toolCalls = z.array(object).max(10_000);

/** A list whose members begin with the name of a row. */
const listOf = (of: z.ZodType<Json>, ...rest: z.ZodType<Json>[]) => z.array(rest.length === 0 ? of : z.tuple([of, ...rest])).max(1_000_000);

const ownCall = z.object({
  digest: hash,
  replies: count,
  messages: z.array(z.string().max(lengths.name)).max(1_000_000),
  at: time,
  ms,
  tokens,
  cost: amount,
  stop: z.string().nullable(),
});
const definition = z.object({
  title: z.string().min(1).max(400),
  note: z.string().max(100_000),
  checks: z.array(replyCheck).max(100),
  cases: z.array(experimentCase).max(1_000),
  removed: z.literal(true).optional(),
});
const checked = z.array(z.object({ words: z.string(), passed: z.boolean(), why: z.string().optional() })).max(1_000);
/** The earlier columns of a card, each as it was stored. */
const cardBefore = z.object({
  content: json(cardContent),
  toolCalls: json(toolCalls).nullable(),
  toolCallId: z.string().nullable(),
  ttlSeconds: card.shape.ttlSeconds.unwrap().nullable(),
  expiresAt: time.nullable(),
  metadata: json(object),
  authorId: z.string(),
});
const reply = z.object({ tokens, ms: ms.nullable(), cost: amount, stop: z.string().nullable() });
const status = z.enum(ticketStatuses);

/** The columns of each kind of item. Every kind of `rules` has a schema, which a test checks. */
export const bodies = {
  context: {
    digest: hash,
    parent: hash.nullable(),
    type: z.enum(commitTypes),
    artifact: hash,
    format,
    template: name,
    principal: name.nullable(),
    machine: name.nullable(),
    sessionId: name.nullable(),
    checkpoint: z.enum(checkpoints),
    ticketId: name.nullable(),
    threadId: name.nullable(),
    summary: text(100_000).nullable(),
    tags: tags.nullable(),
    messageCount: count,
    tokenCount: count,
    errors: count,
    entries: count,
    forked: flag,
    createdAt: time,
  },
  contextVersion: { context: hash, at: time, author: name.nullable(), summary: text(100_000).nullable(), tags: tags.nullable() },
  started: { context: hash, toolCallId: id },
  // Its list names it with its version.
  template: { name: named(lengths.name - 20), version: count.min(1), artifact: hash, author: name.nullable(), createdAt: time },
  instantiation: { template: name, context: hash.nullable(), principal: name.nullable(), machine: name.nullable(), at: time },
  blackboard: { context: hash, at: time, state: json(object), contexts: json(object).nullable() },
  modelRun: {
    context: hash,
    base: hash,
    turn: hash.nullable(),
    provider: name,
    wire: name,
    model: name,
    likeCall: name.nullable(),
    shape: hash,
    calls: json(z.array(ownCall).max(100_000)),
  },
  request: {
    requestId: id,
    format,
    sessionId: text(lengths.name),
    at: time,
    provider: z.enum(['anthropic', 'openai', 'gemini']),
    model: name.nullable(),
    input: count.nullable(),
    output: count.nullable(),
    cacheRead: count.nullable(),
    cacheWrite: count.nullable(),
    record: json(object),
    shapeHash: bytes.nullable(),
    system: hash.nullable(),
    tools: hash.nullable(),
    rest: json(object).nullable(),
    messages: listOf(hash),
    context: hash.nullable(),
    replyKey: named(400).nullable(),
    replyRecord: line.nullable(),
    marks: json(z.array(z.string().max(lengths.line)).max(10_000)),
  },
  sessionMark: {
    sessionId: id,
    title: line.nullable(),
    tags: tags.nullable(),
    pinnedAt: time.nullable(),
    archivedAt: time.nullable(),
    deletedAt: time.nullable(),
  },
  branchMark: { context: hash, title: line.nullable(), archivedAt: time.nullable(), deletedAt: time.nullable() },
  source: {
    sourceId: id,
    path: named(32_768),
    format,
    size,
    hash: bytes,
    resumeAt: size,
    resumeHash: bytes,
    sessionId: name.nullable(),
    title: line.nullable(),
    cwd: text(32_768).nullable(),
    tips: listOf(hash),
    pieces: listOf(hash, size, size),
    importedAt: time,
  },
  card: {
    cardId: cardOrBox,
    content: json(cardContent),
    toolCalls: json(toolCalls).nullable(),
    toolCallId: name.nullable(),
    ttlSeconds: whole(1e10).nullable(),
    expiresAt: time.nullable(),
    deletedAt: time.nullable(),
    metadata: json(card.shape.metadata),
    authorId: name,
    createdAt: time,
    repairedAt: time.nullable(),
    entryKey: named(400).nullable(),
  },
  cardVersion: { card: row, at: time, author: name.nullable(), what: cardVersion.shape.what, before: json(cardBefore) },
  box: { boxId: cardOrBox, createdAt: time, updatedAt: time, replaces: row.nullable(), packed: json(packing).nullable() },
  boxPart: { box: row, place: count, cardIds: json(z.array(cardId).max(1_000_000)) },
  profile: { key: name, name, box: row, updatedAt: time, deletedAt: time.nullable() },
  agent: {
    agentId: id,
    displayName: name,
    profile: row.nullable(),
    owner: name.nullable(),
    spawnedBy: name.nullable(),
    derivedFrom: name.nullable(),
    createdAt: time,
    status: agent.shape.status,
    epoch: count,
    lastOutput: row.nullable(),
    tip: hash.nullable(),
  },
  batch: {
    batchId: id,
    source: name,
    status: z.enum(['running', ...endStatuses]),
    failFast: flag,
    deadline: time.nullable(),
    createdAt: time,
    endedAt: time.nullable(),
  },
  agentTurn: {
    agentTurnId: id,
    agent: row,
    status: agentTurn.shape.status,
    depth: count,
    context: row,
    output: row,
    profile: row.nullable(),
    source: name.nullable(),
    tool: name,
    strategy: agentTurn.shape.strategy,
    parentTurn: row.nullable(),
    batch: row.nullable(),
    taskIndex: count.nullable(),
    waiting: json(z.object({ calls: z.array(z.string()), came: z.array(z.tuple([z.string(), z.string()])) })).nullable(),
    fromCommit: hash.nullable(),
    startCommit: hash.nullable(),
    endCommit: hash.nullable(),
    committed: count,
    error: text().nullable(),
    createdAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
  },
  agentWork: { agentId: id, turn: row.nullable() },
  turnInput: { turn: row, at: time, cards: json(z.array(pin).max(1_000_000)), profile: json(pin).nullable(), digest: name },
  cardCall: {
    turn: row,
    box: row,
    outputs: count,
    note: text().nullable(),
    source: z.enum(['input', 'stemma']),
    digest: name,
    at: time,
    reply: json(reply).nullable(),
  },
  ticket: {
    ticketId,
    title: named(1_000),
    body: text(1_000_000),
    type: named(100),
    status,
    assignee: name.nullable(),
    reviewers: json(z.array(z.object({ name: z.string().max(lengths.name), verdict: z.enum(verdicts) })).max(1_000)),
    labels: json(z.array(z.string().max(lengths.name)).max(1_000)),
    parent: row.nullable(),
    contextId: name.nullable(),
    contextFound: z.enum(['given', 'resolved']).nullable(),
    resolution: text(1_000_000).nullable(),
    threadId: name.nullable(),
    createdAt: time,
    updatedAt: time,
  },
  ticketDependency: { ticket: row, dependsOn: row },
  ticketVersion: {
    ticket: row,
    at: time,
    by: name.nullable(),
    changes: json(ticketVersion.shape.changes),
    reason: text().nullable(),
    contextId: name.nullable(),
    contextFound: z.enum(['given', 'resolved']).nullable(),
  },
  ticketEvent: {
    ticket: row,
    at: time,
    who: name.nullable(),
    task: z.enum(ticketTasks),
    contextId: name.nullable(),
    moveFrom: status.nullable(),
    moveTo: status.nullable(),
    by: name.nullable(),
  },
  ticketAnswer: { event: row, at: time, by: name, answer: z.enum(eventStates).extract(['taken', 'done', 'dismissed']) },
  experiment: { experimentId: id, createdAt: time },
  experimentVersion: { experiment: row, at: time, definition: json(definition) },
  experimentResult: {
    resultId: id,
    experiment: row,
    caseId: id,
    round: count,
    sample: count,
    at: time,
    ran: json(experimentCase),
    context: hash.nullable(),
    checks: json(checked),
    problem: text().nullable(),
  },
  experimentVerdict: { result: row, at: time, by: name.nullable(), verdict: z.enum(['pass', 'fail']).nullable(), note: text(100_000).nullable() },
  entity: { entityId: id, name: text(1_000_000), type: z.enum(entityTypes), createdAt: time },
  space: { spaceId: id, name: text(1_000_000).nullable(), createdAt: time },
  membership: { space: row, entity: row, joinedAt: time },
  run: {
    runId: id,
    entity: row,
    // Only ended runs are sent: the others belong to their machine.
    status: z.enum(runStatuses).extract(['completed', 'failed', 'canceled']),
    trigger: json(trigger),
    chainDepth: count,
    activeSpace: row.nullable(),
    createdAt: time,
    invokedAt: time,
    endedAt: time,
    waitMessage: name.nullable(),
    waitSpace: row.nullable(),
    waitFor: name.nullable(),
    waitUntil: time.nullable(),
    waitMs: ms.int().nullable(),
    waits: count,
    resumed: json(resume).nullable(),
    context: hash.nullable(),
  },
  spaceMessage: {
    space: row,
    messageId: id,
    sender: row,
    at: time,
    text: text(1_000_000),
    replyTo: name.nullable(),
    expectsReply: flag,
    chainDepth: count,
    origin: json(messageOrigin).nullable(),
  },
  messageRun: { messageId: id, run: row.nullable() },
} as const satisfies Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>;
