import { isObject } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { base64Of, namer } from '../shared/groups.js';
import { encodeLines } from '../shared/jsonl.js';
import { summariesFirst } from '../shared/kept.js';
import { inPlace, splitKey } from '../shared/keys.js';
import { asSummary } from './schema.js';

type Sort = 'answer' | 'result' | 'prompt' | 'summary' | 'note';
interface Group {
  readonly sort: Sort;
  readonly id: string;
  readonly name: string | undefined;
  readonly entries: [WritableEntry, ...WritableEntry[]];
}

/** Writes messages. Entries of one message, by key or by the agent's id, stay together. A message keeps the id in its key if it is unused. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const [answers, calls] = [byCall(entries, 'tool_result'), byCall(entries, 'tool_call')];
  return encodeLines(groupEntries(summariesFirst(entries), options).map((group) => writeMessage(group, answers, calls, options)));
}

type ByCall = ReadonlyMap<string, WritableEntry>;

const byCall = (entries: readonly WritableEntry[], kind: WritableEntry['kind']): ByCall =>
  new Map(entries.flatMap((entry) => (entry.kind === kind && entry.toolCallId ? [[entry.toolCallId, entry] as const] : [])));

function groupEntries(entries: readonly WritableEntry[], options: WriteOptions): readonly Group[] {
  const groups: Group[] = [];
  const nameFor = namer(options.newId);
  for (const entry of entries) {
    const sort = sortOf(entry);
    if (sort === undefined) continue;
    const last = groups.at(-1);
    if (last && belongs(last, entry, sort)) {
      last.entries.push(entry);
      continue;
    }
    const name = splitKey(entry.key)?.name;
    const id = nameFor(name);
    groups.push({ sort, id, name: id === name ? name : undefined, entries: [entry] });
  }
  return groups;
}

/** Undefined for entries that no message of this agent can hold. */
function sortOf({ role, kind, marks, result, media, toolName = '' }: WritableEntry): Sort | undefined {
  if (kind === 'event' && marks?.includes('hidden')) return notes.has(toolName) ? 'note' : undefined;
  if (kind === 'event' || (kind === 'image' && !media)) {
    if (!isObject(result) || !Object.keys(result).some((key) => ownParts.has(key))) return undefined;
  }
  if (role === 'assistant') return 'answer';
  if (role === 'tool') return 'result';
  return kind === 'summary' ? 'summary' : 'prompt';
}
const notes = new Set(['info', 'warning', 'error']);
/** Parts of other providers' messages would make this provider refuse the whole history. */
const ownParts = new Set(['fileData', 'executableCode', 'codeExecutionResult', 'inlineData']);

function belongs({ sort, name, entries }: Group, next: WritableEntry, sortOfNext: Sort): boolean {
  if (sort !== sortOfNext || sort === 'summary' || sort === 'note') return false;
  const last = entries.at(-1) as WritableEntry;
  if (sort === 'result' && next.kind !== 'tool_result') return next.toolCallId === undefined || next.toolCallId === last.toolCallId;
  const [before, after] = [splitKey(last.key), splitKey(next.key)];
  const isSameRecord = name !== undefined && after?.name === name && before?.name === name && after.number > before.number;
  if (!isSameRecord && (next.messageId === undefined || next.messageId !== last.messageId || next.role !== last.role)) return false;
  return sort !== 'answer' || rankOf(next) >= rankOf(last);
}

/** In an answer, thoughts come first and calls last. */
const rankOf = ({ kind }: WritableEntry): number => (kind === 'thinking' ? 0 : kind === 'tool_call' ? 2 : 1);

function writeMessage(group: Group, answers: ByCall, calls: ByCall, options: WriteOptions): object {
  const [entry] = group.entries;
  const envelope = { id: group.id, timestamp: entry.at ?? options.now };
  switch (group.sort) {
    case 'answer':
      return { ...envelope, type: 'gemini', ...answerOf(group, answers), model: entry.author ?? 'unknown' };
    case 'summary':
      return { ...envelope, type: 'user', content: [{ text: asSummary(entry.text ?? '') }] };
    case 'note':
      return { ...envelope, type: entry.toolName, content: entry.text ?? '' };
    case 'prompt':
      return { ...envelope, type: 'user', content: listed(group) };
    case 'result':
      return { ...envelope, type: 'user', content: group.entries.map((one) => resultPart(one, calls)) };
  }
}

/** Stands for a removed part, so that the other parts keep their keys. The agent does not send it. It drops an answer with an empty text whole. */
const gapOf = ({ sort }: Group): object => (sort === 'answer' ? { text: '', thought: true } : { text: '' });

function listed(group: Group): object[] {
  const { name, entries } = group;
  const positionOf = ({ key }: WritableEntry): number => {
    const own = splitKey(key);
    return own?.name === name ? (own?.number ?? 0) : 0;
  };
  return inPlace(entries, positionOf, writePart, gapOf(group));
}

/** Writes an answer as thoughts, text and calls apart; or as one list, as in histories, if it has a signature or a part between others. */
function answerOf(group: Group, answers: ByCall): object {
  const content = listed(group);
  const { entries } = group;
  const texts = entries.filter((entry) => rankOf(entry) === 1);
  const isPlain = content.length === entries.length && texts.every(({ kind }) => kind === 'text') && texts.length < 2 && !entries.some(signatureOf);
  if (!isPlain) return { content };
  const thoughts = entries.filter(({ kind }) => kind === 'thinking').map(thoughtOf);
  const calls = entries.filter(({ kind }) => kind === 'tool_call').map((call) => callRecord(call, answers.get(call.toolCallId ?? '')));
  return { content: texts.map(writePart), ...(thoughts.length > 0 && { thoughts }), ...(calls.length > 0 && { toolCalls: calls }) };
}

/** A title on a separate line is stored separately. The signature of another provider's model is kept for that provider. */
function thoughtOf({ text = '', at, result }: WritableEntry): object {
  const [, subject = '', description = text] = /^\*\*([^*\n]+)\*\*\n([\s\S]+)$/.exec(text) ?? [];
  const signature = isObject(result) && typeof result.signature === 'string' ? { signature: result.signature } : {};
  return { subject, description, ...signature, ...(at !== undefined && { timestamp: at }) };
}

function callRecord(call: WritableEntry, answer: WritableEntry | undefined): object {
  const shown = answer?.result;
  return {
    ...writeCall(call),
    status: answer?.isError ? 'error' : 'success',
    ...(isObject(shown) && 'fileDiff' in shown && { resultDisplay: shown }),
    ...(call.at !== undefined && { timestamp: call.at }),
  };
}

const writeCall = ({ toolCallId = '', toolName = '', arguments: given }: WritableEntry): object => ({
  id: toolCallId,
  name: toolName,
  args: isObject(given) ? given : { input: given ?? null },
});

const signatureOf = ({ result }: WritableEntry): { thoughtSignature: string } | undefined =>
  isObject(result) && typeof result.thoughtSignature === 'string' ? { thoughtSignature: result.thoughtSignature } : undefined;

function writePart(entry: WritableEntry): object {
  if (entry.kind === 'tool_call') return { functionCall: writeCall(entry), ...signatureOf(entry) };
  if (entry.kind === 'thinking') return { text: entry.text ?? '', thought: true };
  if (entry.media) return { inlineData: { mimeType: entry.media.mediaType, data: base64Of(entry.media) } };
  if ((entry.kind === 'event' || entry.kind === 'image') && isObject(entry.result)) return entry.result;
  return { text: entry.text ?? '', ...signatureOf(entry) };
}

function resultPart(entry: WritableEntry, calls: ByCall): object {
  if (entry.kind !== 'tool_result') return writePart(entry);
  const { text = '', toolCallId: id = '' } = entry;
  const name = entry.toolName ?? calls.get(id)?.toolName ?? '';
  return { functionResponse: { id, name, response: entry.isError ? { error: text } : { output: text } } };
}
