import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import { interrupted } from '../anthropic-messages/index.js';
import type { SessionOptions } from '../format.js';
import { encodeLines } from '../shared/jsonl.js';
import { absorbedIn } from './parse-entries.js';
import { scanLines } from './parse-lines.js';
import { callIdsOf, callIn, isChained, messageIdOf, readBlocks, readTime, resultIdsOf, resultIn, roleInTree, uuidOf } from './schema.js';

/** Records outside of the tree that belong to the session itself. All others are bookkeeping of one process. */
const sessionRecords = new Set(['custom-title', 'ai-title', 'agent-name', 'agent-color', 'agent-setting', 'tag', 'content-replacement']);
/** Facts that are valid only for the original: the sent request, and the source of a copy. */
const originalOnly = ['requestRef', 'requestSessionId', 'forkedFrom', 'agentId'];

/**
 * A file that `claude --resume` accepts, from the records of one context in order. Records keep their ids, so entries keep their keys. Each
 * record is the child of the one before it, and each call has its result. Request records, progress and torn lines are dropped.
 */
export function writeSession(delta: Uint8Array, options: SessionOptions): Uint8Array {
  const read = scanLines(delta).pieces.flatMap(({ record, sort }) => (record && sort === 'record' ? [record] : []));
  const records = withQueued(read, options);
  const chain = pairCalls(
    compacted(
      records.filter(isChained).filter((record) => record.type !== 'progress'),
      options.newId,
    ),
    options,
  );
  const uuids = new Set(chain.map(uuidOf));
  const loose = records.filter(
    (record) =>
      !isChained(record) && (sessionRecords.has(String(record.type)) || (record.type === 'summary' && uuids.has(stringAt(record, 'leafUuid')))),
  );
  const lines = [
    ...linked(chain, options),
    ...loose.map((record) => ({ ...record, ...('sessionId' in record ? { sessionId: options.sessionId } : {}) })),
  ];
  return encodeLines(lines);
}

/** A prompt only in the queue becomes the attachment in which a resumed session reads it, behind the results of calls that ran then. */
function withQueued(records: readonly JsonObject[], { newId, now }: SessionOptions): JsonObject[] {
  const answered = new Set(records.flatMap((record) => (record.type === 'user' ? resultIdsOf(record) : [])));
  const attached = records.flatMap(({ attachment }) =>
    stringAt(attachment, 'type') === 'queued_command' ? (stringAt(attachment, 'prompt') ?? []) : [],
  );
  const open = new Set<string>();
  const placed: JsonObject[] = [];
  let waiting: JsonObject[] = [];
  const place = (): void => {
    placed.push(...waiting);
    waiting = [];
  };
  for (const record of records) {
    const prompt = absorbedIn(record);
    if (prompt !== undefined && attached.includes(prompt)) attached.splice(attached.indexOf(prompt), 1);
    else if (prompt !== undefined) {
      const attachment = { type: 'queued_command', prompt, commandMode: 'prompt' };
      waiting.push({ parentUuid: null, type: 'attachment', attachment, uuid: newId(), timestamp: stringAt(record, 'timestamp') ?? now });
    } else {
      if (roleInTree(record) === 'prompt') place();
      placed.push(record);
      for (const id of callIdsOf(record)) if (answered.has(id)) open.add(id);
      if (record.type === 'user') for (const id of resultIdsOf(record)) open.delete(id);
    }
    if (open.size === 0) place();
  }
  return [...placed, ...waiting];
}

/**
 * A compaction is a boundary, a summary and kept messages. If the file already contains the kept messages, the boundary names them; otherwise, they
 * follow the summary, as in the agent's own forks. A summary without a boundary gets one, because the agent starts at the last boundary.
 */
function compacted(records: readonly JsonObject[], newId: () => string): JsonObject[] {
  const seen = new Set<string>();
  const chain: JsonObject[] = [];
  let open: Compaction | undefined;
  const settle = (): void => {
    if (open) chain[open.at] = keeping(chain[open.at] as JsonObject, open);
    open = undefined;
  };
  for (const record of records) {
    const uuid = uuidOf(record) as string;
    const part = roleInTree(record);
    // A compaction that the file already contains is not repeated.
    if ((part === 'boundary' || part === 'summary') && seen.has(uuid)) continue;
    if (part === 'boundary' || (part === 'summary' && !open)) {
      settle();
      open = { at: chain.length, listed: new Set(listedBy(record)), kept: [], anchor: undefined };
      if (part === 'summary') chain.push(boundaryFor(record, newId()));
    }
    if (part === 'summary' && open) open.anchor = uuid;
    else if (open && (open.listed.has(uuid) || seen.has(uuid))) open.kept.push(uuid);
    else if (part !== 'quiet' && part !== 'boundary') settle();
    if (seen.has(uuid)) continue;
    seen.add(uuid);
    chain.push(record);
  }
  settle();
  return chain;
}

interface Compaction {
  readonly at: number;
  /** The messages that the boundary lists as kept, and those that the file holds, in order. */
  readonly listed: ReadonlySet<string>;
  readonly kept: string[];
  anchor: string | undefined;
}

const boundaryFor = (summary: JsonObject, uuid: string): JsonObject => ({
  type: 'system',
  subtype: 'compact_boundary',
  content: 'Conversation compacted',
  isMeta: false,
  level: 'info',
  compactMetadata: { trigger: 'manual', preTokens: 0 },
  uuid,
  ...('timestamp' in summary ? { timestamp: summary.timestamp } : {}),
});

const listedBy = (boundary: JsonObject): readonly string[] => {
  const metadata = isObject(boundary.compactMetadata) ? boundary.compactMetadata.preservedMessages : undefined;
  const uuids = isObject(metadata) ? metadata.uuids : undefined;
  return Array.isArray(uuids) ? uuids.filter((uuid) => typeof uuid === 'string') : [];
};

/** The boundary with exactly the messages that the file holds in its list of kept messages. */
function keeping(boundary: JsonObject, { listed, kept, anchor }: Compaction): JsonObject {
  if (kept.length === listed.size && kept.every((uuid) => listed.has(uuid))) return boundary;
  const { preservedMessages: _, preservedSegment: __, ...metadata } = isObject(boundary.compactMetadata) ? boundary.compactMetadata : {};
  const [headUuid] = kept;
  const tailUuid = kept.at(-1);
  if (headUuid === undefined || tailUuid === undefined || anchor === undefined) return { ...boundary, compactMetadata: metadata };
  const preservedMessages = { anchorUuid: anchor, uuids: kept, allUuids: kept };
  return { ...boundary, compactMetadata: { ...metadata, preservedSegment: { headUuid, anchorUuid: anchor, tailUuid }, preservedMessages } };
}

/** Pairs calls and results as the agent does: closes open calls at the end, drops other calls and second results, empties stray results. */
function pairCalls(records: readonly JsonObject[], options: SessionOptions): JsonObject[] {
  const answered = new Set(records.flatMap((record) => (record.type === 'user' ? resultIdsOf(record) : [])));
  const lastWord = records.findLast((record) => record.type === 'assistant' || (record.type === 'user' && resultIdsOf(record).length === 0));
  const last = lastWord?.type === 'assistant' ? answerOf(lastWord) : undefined;
  const called = new Set<string>();
  const given = new Set<string>();
  const closing: JsonObject[] = [];
  const sound = records.flatMap((record): JsonObject[] => {
    if (record.type === 'assistant') {
      const isOpenEnd = answerOf(record) === last;
      const kept = readBlocks(record).filter((block) => {
        const id = callIn(block);
        if (id === undefined) return true;
        if (called.has(id) || !(answered.has(id) || isOpenEnd)) return false;
        called.add(id);
        if (!answered.has(id)) closing.push(resultFor(id, record, options));
        return true;
      });
      return withBlocks(record, kept);
    }
    if (record.type !== 'user' || resultIdsOf(record).length === 0) return [record];
    const orphans = resultIdsOf(record).filter((id) => !called.has(id));
    const kept = readBlocks(record).filter((block) => {
      const id = resultIn(block);
      if (id === undefined) return true;
      if (!called.has(id) || given.has(id)) return false;
      given.add(id);
      return true;
    });
    return withBlocks(record, kept.length === 0 && orphans.length > 0 ? [{ type: 'text', text: '(no content)' }] : kept);
  });
  return [...sound, ...closing];
}

const answerOf = (record: JsonObject): string => messageIdOf(record) ?? (uuidOf(record) as string);

/** The record with only these blocks, or nothing if it had blocks and none is left. */
function withBlocks(record: JsonObject, blocks: readonly unknown[]): JsonObject[] {
  const before = readBlocks(record);
  if (before.length === blocks.length && blocks.every((block, at) => block === before[at])) return [record];
  return blocks.length === 0 ? [] : [{ ...record, message: { ...(record.message as JsonObject), content: blocks } } as unknown as JsonObject];
}

const resultFor = (id: string, call: JsonObject, { newId, now }: SessionOptions): JsonObject => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', content: interrupted, is_error: true, tool_use_id: id }] },
  toolUseResult: interrupted,
  sourceToolAssistantUUID: uuidOf(call) as string,
  uuid: newId(),
  timestamp: readTime(call) ?? now,
});

/** Links the records in their order, so that everything in the file is in the conversation. */
function linked(records: readonly JsonObject[], { sessionId, now, cwd }: SessionOptions): JsonObject[] {
  let parentUuid: string | null = null;
  return records.map((record) => {
    const own = Object.fromEntries(
      Object.entries(record).filter(([key]) => key !== 'parentUuid' && key !== 'logicalParentUuid' && !originalOnly.includes(key)),
    ) as JsonObject;
    const boundary = roleInTree(record) === 'boundary';
    const link: JsonObject = boundary ? { parentUuid: null, ...(parentUuid === null ? {} : { logicalParentUuid: parentUuid }) } : { parentUuid };
    parentUuid = uuidOf(record) as string;
    const folder: JsonObject = cwd === undefined ? {} : { cwd };
    const time: JsonObject = readTime(record) === undefined ? { timestamp: now } : {};
    return { ...link, ...own, ...folder, isSidechain: false, sessionId, ...time };
  });
}
