import { isObject, type Json, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { valueAt, valuesInFile } from '../shared/json-items.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';

export const formatId = 'vscode-chat-v1';

/** A session: a document of version 3, or the log of operations that replaces it. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = textOf(head);
    if (/^\s*\{"kind":\s*0,\s*"v":\s*\{/.test(text)) return true;
    return (
      /^\s*\{/.test(text) &&
      /"version"\s*:\s*3\b/.test(text) &&
      /"(?:requests|responderUsername|initialLocation)"\s*:/.test(text) &&
      /"(?:creationDate|sessionId|responderUsername)"\s*:/.test(text)
    );
  },
  members(bytes) {
    const text = textOf(bytes);
    const { state, cut } = /^\s*\{"kind"/.test(text) ? replayed(text) : { state: parseJson(text), cut: [] };
    if (!isObject(state) || isDeep(state) || !Array.isArray(state.requests)) return undefined;
    const requests = objectsIn(state.requests);
    // A request that is being answered is imported in a later state.
    const done = isOpen(requests.at(-1)) ? requests.slice(0, -1) : requests;
    const records = done.map((record, at): Wrapped => wrap(record, at === 0 ? null : nameOf(done[at - 1] as JsonObject, at - 1), at));
    return [memberOf(state, [...cut, ...records])];
  },
  membersInFile(file) {
    const [first] = valuesInFile(file, (path) => path === 'requests');
    const state = first?.shell;
    // A log of operations forms one value from many lines.
    if (!isObject(state) || typeof state.kind === 'number') return undefined;
    const ranges = first?.lists.find(({ path }) => path === 'requests')?.items;
    if (!ranges) return undefined;
    const records: Wrapped[] = [];
    let last: JsonObject | undefined;
    for (const range of ranges) {
      const request = valueAt(file, range);
      if (!isObject(request)) continue;
      last = request;
      const { record: _, ...place } = wrap(request, records.at(-1)?.id ?? null, records.length);
      records.push({
        ...place,
        get record() {
          return valueAt(file, range) as JsonObject;
        },
      });
    }
    return [memberOf(state, isOpen(last) ? records.slice(0, -1) : records, true)];
  },
};

const isOpen = (request: JsonObject | undefined): boolean => request !== undefined && request.result === undefined && request.isCanceled !== true;

function memberOf(state: JsonObject, records: readonly Wrapped[], isLarge?: boolean): Member {
  const id = stringAt(state, 'sessionId') ?? `chat-${String(state.creationDate ?? 0)}`;
  const title = stringAt(state, 'customTitle');
  const about = { sessionId: id, ...(title !== undefined && { title }) };
  return { id, lines: () => wrapLines(formatId, id, about, unique(records), isLarge), ...(title !== undefined && { title }) };
}

const nameOf = (request: JsonObject, at: number): string => stringAt(request, 'requestId') ?? `request-${at}`;
const wrap = (record: JsonObject, parent: string | null, at: number): Wrapped => ({ id: nameOf(record, at), record, parent, at: record.timestamp });

/** A request that was cut and added again is read at its current position. */
const unique = (records: readonly Wrapped[]): readonly Wrapped[] => [...new Map(records.map((record) => [record.id, record])).values()];

const maxOperations = 100_000;

/** The state after all operations, and the requests that they cut, each with its parent. Only the log still contains removed turns. */
function replayed(text: string): { readonly state: Json | undefined; readonly cut: readonly Wrapped[] } {
  let state: Json | undefined;
  const cut: Wrapped[] = [];
  const remove = (requests: readonly Json[], from: number): void => {
    for (let at = from; at < requests.length; at++) {
      const request = requests[at];
      const before = requests[at - 1];
      if (isObject(request)) cut.push(wrap(request, isObject(before) ? nameOf(before, at - 1) : null, at));
    }
  };
  for (const line of text.split('\n', maxOperations)) {
    const operation = parseJson(line);
    if (!isObject(operation) || isDeep(operation)) continue;
    const path = Array.isArray(operation.k) ? operation.k : [];
    if (operation.kind === 0) state = operation.v;
    else if (path.length === 0 || state === undefined) continue;
    else {
      const isRequests = path.length === 1 && path[0] === 'requests';
      const old = isObject(state) && isRequests && Array.isArray(state.requests) ? state.requests : [];
      if (isRequests && operation.kind === 2 && typeof operation.i === 'number') remove(old, operation.i);
      else if (isRequests && (operation.kind === 1 || operation.kind === 3)) remove(old, 0);
      state = changed(state, path, (value) => applied(value, operation));
    }
  }
  return { state, cut };
}

function applied(value: Json | undefined, { kind, v, i }: JsonObject): Json | undefined {
  if (kind === 1) return v;
  if (kind === 3) return undefined;
  if (kind !== 2) return value;
  const list = Array.isArray(value) ? value : [];
  const kept = typeof i === 'number' && i >= 0 ? list.slice(0, i) : list;
  return [...kept, ...(Array.isArray(v) ? v : v === undefined ? [] : [v])];
}

/** The value with a change at the path. Missing parts are created. */
function changed(value: Json | undefined, [key, ...rest]: readonly Json[], change: (value: Json | undefined) => Json | undefined): Json {
  if (Array.isArray(value)) {
    const at = typeof key === 'number' && key >= 0 && key <= value.length ? key : value.length;
    const next = rest.length === 0 ? change(value[at]) : changed(value[at], rest, change);
    return next === undefined ? value.filter((_, place) => place !== at) : [...value.slice(0, at), next, ...value.slice(at + 1)];
  }
  const own = new Map(Object.entries(isObject(value) ? value : {}));
  const name = String(key);
  const next = rest.length === 0 ? change(own.get(name)) : changed(own.get(name), rest, change);
  if (next === undefined) own.delete(name);
  else own.set(name, next);
  return Object.fromEntries(own);
}
