import { encodeText, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { recordsOf } from '../shared/jsonl.js';
import { firstIn } from '../shared/plans.js';
import { isSecond } from './parse-second.js';
import { writeSecond } from './resume-second.js';
import {
  compactionOf,
  createdAt,
  isMessage,
  isSummary,
  type MessageLine,
  nameMessage,
  readParts,
  readRole,
  readType,
  scanLines,
  unknownModel,
} from './schema.js';

/** The version whose export the document imitates. */
const writtenAs = '1.18.34';

/** The id that OpenCode uses for the session. */
export const opencodeId = (sessionId: string): string => `ses_${sessionId.replaceAll('-', '').slice(0, 26)}`;

/** A document for `opencode import`, in the version of the session. Ids are new, and ids and times in order, by which the agent sorts. */
export function writeSession(delta: Uint8Array, { sessionId, newId, now, cwd }: SessionOptions): Uint8Array {
  const lines = withoutRepeats(recordsOf(scanLines(delta).pieces).filter(isMessage), newId);
  const id = opencodeId(sessionId);
  const ids = idsIn(newId);
  const directory = cwd ?? firstIn(lines, ({ info }) => stringAt(info.path, 'cwd')) ?? '/';
  const named = writeTitle(lines) ?? 'Imported from Stemma';
  if (lines.some(({ info }) => isSecond(info))) return writeSecond(lines, { id, title: named, directory, now, newMessageId: (ms) => ids('msg', ms) });
  const newIds = new Map(lines.map((line) => [stringAt(line.info, 'id') ?? '', ids('msg', createdAt(line))]));
  const models = modelsFor(lines);
  let time = 0;
  let prompt: string | undefined;
  const messages = lines.map(({ info, parts }, place): Json => {
    const messageID = newIds.get(stringAt(info, 'id') ?? '') as string;
    const given = isObject(info.time) ? info.time : {};
    time = Math.max(time, typeof given.created === 'number' ? given.created : Date.parse(now));
    const parentID: JsonObject =
      info.role === 'assistant' && prompt !== undefined ? { parentID: newIds.get(stringAt(info, 'parentID') ?? '') ?? prompt } : {};
    if (info.role === 'user') prompt = messageID;
    const model: JsonObject = info.role === 'user' && models[place] ? { model: models[place] as JsonObject } : {};
    const own = { ...info, ...model, ...parentID, id: messageID, sessionID: id, time: { ...given, created: time } };
    const home = { sessionID: id, messageID };
    const partId = (): string => ids('prt', time);
    return { info: own, parts: parts.filter(isObject).map((part) => partWith(part, home, partId, newIds)) };
  });
  const created = createdAt(lines[0] ?? { info: {}, parts: [] }) ?? Date.parse(now);
  const info = {
    id,
    slug: `stemma-${id.slice(4, 12)}`,
    projectID: 'global',
    directory,
    title: named,
    version: writtenAs,
    time: { created, updated: Math.max(created, time) },
  };
  return encodeText(`${JSON.stringify({ info, messages }, null, 2)}\n`);
}

/** The model of each question: its own, else that of the next answer or the previous question. The agent continues with the last. */
function modelsFor(lines: readonly MessageLine[]): readonly (JsonObject | undefined)[] {
  const answering = lines.map(({ info }): JsonObject | undefined =>
    info.role === 'assistant' && info.modelID !== unknownModel && typeof info.modelID === 'string' && typeof info.providerID === 'string'
      ? { providerID: info.providerID, modelID: info.modelID }
      : undefined,
  );
  const models: (JsonObject | undefined)[] = [];
  let next: JsonObject | undefined;
  for (let at = lines.length - 1; at >= 0; at--) {
    next = answering[at] ?? next;
    models[at] = next ?? answering.findLast((model) => model !== undefined);
  }
  return models.map((model, at) => {
    const said = lines[at]?.info.model;
    return isObject(said) && typeof said.modelID === 'string' && said.modelID !== unknownModel
      ? said
      : (model ?? (isObject(said) ? said : undefined));
  });
}

function partWith(
  { tail_start_id: tail, ...part }: JsonObject,
  home: { readonly sessionID: string; readonly messageID: string },
  partId: () => string,
  newIds: ReadonlyMap<string, string>,
): Json {
  const first = typeof tail === 'string' ? newIds.get(tail) : undefined;
  const own = { ...part, ...(first !== undefined && { tail_start_id: first }), ...home, id: partId() };
  const { state } = part;
  if (!isObject(state) || !Array.isArray(state.attachments)) return own;
  return { ...own, state: { ...state, attachments: state.attachments.filter(isObject).map((file) => ({ ...file, ...home, id: partId() })) } };
}

/**
 * The request of a compaction names the messages that it keeps, which are written once before it. If the context has other messages there, copies are
 * written and the request keeps none. Results in separate lines move to their calls.
 */
function withoutRepeats(lines: readonly MessageLine[], newId: () => string): MessageLine[] {
  const placed: MessageLine[] = [];
  const at = new Map<string, number>();
  for (let next = 0; next < lines.length; next++) {
    const line = lines[next] as MessageLine;
    if (readRole(line) === 'tool') {
      for (const part of readParts(line)) answer(placed, part);
      continue;
    }
    const name = nameMessage(line);
    if (at.has(name)) continue;
    at.set(name, placed.length);
    placed.push(line);
    if (!isSummary(line)) continue;
    const kept: MessageLine[] = [];
    for (let repeated = lines[next + 1]; repeated && at.has(nameMessage(repeated)); repeated = lines[++next + 1]) kept.push(repeated);
    const place = placed.length - 2;
    const request = placed[place];
    if (!request || !compactionOf(request)) continue;
    const from = kept[0] ? (at.get(nameMessage(kept[0])) as number) : place;
    const before = placed.slice(from, place);
    const isSame = before.length === kept.length && before.every((one, number) => nameMessage(one) === nameMessage(kept[number] as MessageLine));
    placed[place] = keeping(request, isSame && kept[0] ? stringAt(kept[0].info, 'id') : undefined);
    if (!isSame) for (const copy of kept) placed.push({ ...copy, info: { ...copy.info, id: newId() } });
  }
  return placed;
}

const keeping = (request: MessageLine, first: string | undefined): MessageLine => ({
  ...request,
  parts: readParts(request).map(({ tail_start_id: _, ...part }) =>
    readType(part) === 'compaction' && first !== undefined ? { ...part, tail_start_id: first } : part,
  ),
});

function answer(placed: MessageLine[], result: JsonObject): void {
  const home = placed.findLastIndex((line) => readParts(line).some((part) => readType(part) === 'tool' && part.callID === result.callID));
  const line = placed[home];
  if (!line) return;
  const state = result.state as Json;
  const merged = (part: JsonObject): Json =>
    part.callID === result.callID && isObject(part.state) && isObject(state) ? { ...part, state: { ...state, input: part.state.input ?? {} } } : part;
  placed[home] = { ...line, parts: readParts(line).map(merged) };
}

/** Ids in the agent's form: twelve digits that grow with time, then fourteen random ones. */
function idsIn(newId: () => string): (kind: 'msg' | 'prt', ms: number | undefined) => string {
  let last = 0n;
  return (kind, ms = 0) => {
    const next = BigInt(Math.max(0, Math.floor(ms))) * 0x1000n;
    last = next > last ? next : last + 1n;
    return `${kind}_${(last & 0xffff_ffff_ffffn).toString(16).padStart(12, '0')}${newId().replaceAll('-', '').slice(0, 14)}`;
  };
}

function writeTitle(lines: readonly MessageLine[]): string | undefined {
  const asked = lines.find((line) => readRole(line) === 'user');
  const text = asked && firstIn(readParts(asked), (part) => stringAt(part, 'text'));
  return text?.split('\n')[0]?.slice(0, 80);
}
