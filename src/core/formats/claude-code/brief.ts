import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { Piece } from './lines.js';
import { contentOf, headlineOf, isChained, isFrame, partOf, syntheticModel } from './record.js';

/**
 * What a plan keeps of records: of a large file, whose records would take several times its size, only what tree and plan ask them
 * for. Texts are read again when entries are made. Records that end before `whole` bytes are kept as they are.
 */
export function keeper(whole: number): (record: JsonObject, end: number) => Pick<Piece, 'record' | 'brief'> {
  const once = sharedTexts();
  return (record, end) => {
    const used = usedOf(record);
    return end <= whole || used !== record ? { record: used } : { record: briefOf(record, once), brief: true };
  };
}

/** Records that say nothing to a reader are let go of but for their place; the bytes stay where they are. */
function usedOf(record: JsonObject): JsonObject {
  if (record.type === 'file-history-snapshot' || record.type === 'queue-operation') return isChained(record) ? record : { type: record.type };
  if (record.type !== 'progress' || record.parentUuid === undefined) return record;
  const { type, uuid = null, parentUuid, isSidechain = false, timestamp = null, cwd = null, sessionId = null, parentToolUseID = null } = record;
  return { type, uuid, parentUuid, isSidechain, timestamp, cwd, sessionId, parentToolUseID };
}

type SharedTexts = (key: string, value: Json) => Json;

/** Members whose value is mostly that of the record before: one text serves them all. A parent is the record before, as a rule. */
function sharedTexts(): SharedTexts {
  const latest = new Map<string, Json>();
  return (key, value) => {
    const same = key === 'parentUuid' ? latest.get('uuid') : latest.get(key);
    if (same === value) return same;
    latest.set(key, value);
    return value;
  };
}

const members = [
  'type',
  'parentUuid',
  'uuid',
  'logicalParentUuid',
  'isSidechain',
  'timestamp',
  'sessionId',
  'cwd',
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

/** The record without its texts, to which tree, plan and title give the same answers. */
function briefOf(record: JsonObject, once: SharedTexts): JsonObject {
  const brief: Record<string, Json> = {};
  for (const key of members) if (Object.hasOwn(record, key)) brief[key] = once(key, record[key] as Json);
  if (isObject(record.message)) brief.message = briefMessage(record, record.message, once);
  if (record.type === 'system' && typeof record.content === 'string') brief.content = record.content;
  // What the model was told by it is read again; here it counts that it was told something.
  if (record.type === 'attachment' && partOf(record) === 'attachment') brief.rendered = [null];
  return brief;
}

function briefMessage(record: JsonObject, message: JsonObject, once: SharedTexts): JsonObject {
  const brief: Record<string, Json> = {};
  for (const key of ['id', 'model', 'stop_reason']) if (Object.hasOwn(message, key)) brief[key] = once(`message.${key}`, message[key] as Json);
  const content = contentOf(record) as Json | undefined;
  if (Array.isArray(content)) brief.content = content.map((block: Json) => briefBlock(record, block));
  else if (content !== undefined) brief.content = isAnswer(record) && typeof content === 'string' ? briefText(content) : content;
  return brief;
}

function briefBlock(record: JsonObject, block: Json): Json {
  if (!isObject(block)) return block;
  const { type = null } = block;
  switch (type) {
    case 'text':
      return isAnswer(record) && typeof block.text === 'string' ? { type, text: briefText(block.text) } : block;
    case 'tool_use':
      return {
        type,
        id: block.id ?? null,
        name: block.name ?? null,
        ...(block.name === 'Task' || block.name === 'Agent' ? { input: block.input ?? null } : {}),
      };
    case 'tool_result':
      return { type, tool_use_id: block.tool_use_id ?? null };
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
  return serves ? headline : text;
}
