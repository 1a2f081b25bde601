import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { Piece } from './lines.js';
import { contentOf, headlineOf, isChained, isFrame, partOf, syntheticModel } from './record.js';

/**
 * What a plan keeps of records: of a large file, whose records would take several times its size, only what tree and plan ask them
 * for. Texts are read again when entries are made. Records that end before `whole` bytes are kept as they are.
 */
export function keeper(whole: number): (record: JsonObject, end: number) => Pick<Piece, 'record' | 'brief'> {
  const shared = sharedTexts();
  const said = new Map<string, Json>();
  const isNews = (key: string, value: Json): boolean => said.get(key) !== value && said.set(key, value) !== undefined;
  return (record, end) => {
    const used = usedOf(record);
    return end <= whole || used !== record ? { record: used } : { record: briefOf(record, shared, isNews), brief: true };
  };
}

/** Records that say nothing to a reader are let go of but for their place; the bytes stay where they are. */
function usedOf(record: JsonObject): JsonObject {
  if (record.type === 'file-history-snapshot' || record.type === 'queue-operation') return isChained(record) ? record : { type: record.type };
  if (record.type !== 'progress' || record.parentUuid === undefined) return record;
  const { type, uuid = null, parentUuid, isSidechain = false, timestamp = null, cwd = null, sessionId = null, parentToolUseID = null } = record;
  return { type, uuid, parentUuid, isSidechain, timestamp, cwd, sessionId, parentToolUseID };
}

/** A text that is that of another kept lately: one serves them all. A parent is the record before, a result answers the last call. */
type Shared = (name: 'uuid' | 'call' | 'message', text: Json) => Json;

function sharedTexts(): Shared {
  const latest = new Map<string, Json>();
  return (name, text) => {
    const last = latest.get(name);
    if (last === text) return last;
    latest.set(name, text);
    return text;
  };
}

/** What few records have, and what is kept of them as it is. */
const rare = [
  'logicalParentUuid',
  'subtype',
  'isMeta',
  'isCompactSummary',
  'compactMetadata',
  'parentToolUseID',
  'sourceToolAssistantUUID',
  'forkedFrom',
  'customTitle',
  'aiTitle',
  'summary',
] as const;

/** What a file's records repeat: only where it changes does a plan hear of it. */
const repeated = ['sessionId', 'cwd'] as const;

type Draft = Record<string, Json>;

/** The record without its texts, to which tree, plan and title give the same answers. */
function briefOf(record: JsonObject, shared: Shared, isNews: (key: string, value: Json) => boolean): JsonObject {
  const { type = null, parentUuid, uuid, timestamp } = record;
  const isUsual = parentUuid !== undefined && uuid !== undefined && timestamp !== undefined;
  // One shape for most records: a brief is as small as an object of its members can be.
  const brief: Draft = isUsual
    ? { type, parentUuid: shared('uuid', parentUuid), uuid: shared('uuid', uuid), timestamp, message: null }
    : Object.fromEntries(
        ['type', 'parentUuid', 'uuid', 'timestamp'].flatMap((key) => (Object.hasOwn(record, key) ? [[key, record[key] as Json]] : [])),
      );
  if (record.isSidechain === true) brief.isSidechain = true;
  for (const key of rare) if (Object.hasOwn(record, key)) brief[key] = record[key] as Json;
  if (isChained(record))
    for (const key of repeated) if (Object.hasOwn(record, key) && isNews(key, record[key] as Json)) brief[key] = record[key] as Json;
  if (isObject(record.message)) brief.message = briefMessage(record, record.message, shared);
  if (record.type === 'system' && typeof record.content === 'string') brief.content = record.content;
  // What the model was told by it is read again; here it counts that it was told something.
  if (record.type === 'attachment' && partOf(record) === 'attachment') brief.rendered = [null];
  return brief;
}

function briefMessage(record: JsonObject, message: JsonObject, shared: Shared): JsonObject {
  const { id, model, stop_reason } = message;
  const content = briefContent(record, contentOf(record) as Json | undefined, shared);
  const brief: Draft = id === undefined ? { content } : { id: shared('message', id), content };
  if (model === syntheticModel) brief.model = model;
  if (stop_reason === 'tool_use') brief.stop_reason = stop_reason;
  return brief;
}

function briefContent(record: JsonObject, content: Json | undefined, shared: Shared): Json {
  if (Array.isArray(content)) return content.map((block: Json) => briefBlock(record, block, shared));
  return isAnswer(record) && typeof content === 'string' ? briefText(content) : (content ?? null);
}

function briefBlock(record: JsonObject, block: Json, shared: Shared): Json {
  if (!isObject(block)) return block;
  const { type = null } = block;
  switch (type) {
    case 'text':
      return isAnswer(record) && typeof block.text === 'string' ? { type, text: briefText(block.text) } : block;
    case 'tool_use': {
      const { id = null, name = null, input = null } = block;
      const call = { type, id: shared('call', id), name };
      return name === 'Task' || name === 'Agent' ? { ...call, input } : call;
    }
    case 'tool_result':
      return { type, tool_use_id: shared('call', block.tool_use_id ?? null) };
    default:
      return { type };
  }
}

/** What a model said; the runtime's own words in its place are read word for word. */
const isAnswer = (record: JsonObject): boolean => record.type === 'assistant' && stringAt(record.message, 'model') !== syntheticModel;

/** An answer's text serves a headline alone: where its headline has the same headline, and neither is a frame, that is enough. */
function briefText(text: string): string {
  const headlineIn = (content: string): string | undefined => headlineOf({ message: { content } });
  const headline = headlineIn(text);
  const serves = headline !== undefined && headline.length < text.length && !isFrame(text) && !isFrame(headline) && headlineIn(headline) === headline;
  return serves ? copied(headline) : text;
}

/** A text cut out of another one holds on to it; this one does not. */
const copied = (text: string): string => JSON.parse(JSON.stringify(text)) as string;
