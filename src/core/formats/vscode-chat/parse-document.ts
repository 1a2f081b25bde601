import { type ByteRange, decodeText, defined, inWords, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader, Member, Problem } from '../format.js';
import { linesOnce, saidBefore } from '../shared/copies.js';
import { valueAt, valuesInFile } from '../shared/json-items.js';
import { isDeep, tooDeep } from '../shared/jsonl.js';
import { hasMembers } from '../shared/top-members.js';
import { recordsIn, type Wrapped, wrapLines } from '../shared/wrapped.js';
import { isOpen } from './parse.js';

export const formatId = 'vscode-chat-v1';

/** A session: a document of version 3, or the log of operations that replaces it. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = decodeText(head);
    if (hasMembers(text, { kind: /^0$/, v: /^\{/ })) return true;
    return (
      /^\s*\{/.test(text) &&
      /"version"\s*:\s*3\b/.test(text) &&
      /"(?:requests|responderUsername|initialLocation)"\s*:/.test(text) &&
      /"(?:creationDate|sessionId|responderUsername)"\s*:/.test(text)
    );
  },
  unread(bytes) {
    const text = decodeText(bytes);
    return isLog(text) ? operationsIn(text).problems : [];
  },
  members(bytes) {
    const text = decodeText(bytes);
    const { state, cut } = isLog(text) ? replayed(text) : { state: parseJson(text), cut: [] };
    if (!isObject(state) || isDeep(state) || !Array.isArray(state.requests)) return undefined;
    const requests = recordsIn(state.requests);
    const records = requests.map((record, at): Wrapped => wrap(record, at === 0 ? null : nameRequest(requests[at - 1] as JsonObject, at - 1), at));
    return [readMember(state, cut, records)];
  },
  membersInFile(file) {
    const [first] = valuesInFile(file, (path) => path === 'requests');
    const state = first?.shell;
    // A log of operations forms one value from many lines.
    if (!isObject(state) || typeof state.kind === 'number') return undefined;
    const ranges = first?.lists.find(({ path }) => path === 'requests')?.items;
    if (!ranges) return undefined;
    const records: Wrapped[] = [];
    const requestAt = (range: ByteRange): JsonObject => recordsIn([valueAt(file, range) ?? null])[0] as JsonObject;
    for (const range of ranges) {
      const { record: _, ...place } = wrap(requestAt(range), records.at(-1)?.id ?? null, records.length);
      records.push({
        ...place,
        get record() {
          return requestAt(range);
        },
      });
    }
    return [readMember(state, [], records, true)];
  },
};

const isLog = (text: string): boolean => hasMembers(text.split('\n', 1)[0] ?? '', { kind: /^\d$/ });

function readMember(state: JsonObject, cut: readonly Wrapped[], kept: readonly Wrapped[], isLarge = false): Member {
  const id = stringAt(state, 'sessionId') ?? `chat-${String(state.creationDate ?? 0)}`;
  const title = defined({ title: stringAt(state, 'customTitle') });
  const about = { sessionId: id, ...title };
  // A request that was cut and added again is read at its current position.
  const records = [...new Map([...cut, ...kept].map((record) => [record.id, record])).values()];
  const wrapSome = (some: readonly Wrapped[]) => wrapLines(formatId, id, about, some, isLarge);
  const named = { id, ...title };
  const last = kept.at(-1)?.record;
  if (!last || !isOpen(last)) return { ...named, lines: () => wrapSome(records) };
  const done = records.slice(0, -1);
  return {
    ...named,
    lines: () => wrapSome([...done, ...records.slice(-1).map(asOpen)]),
    over: () => ({ last: done.at(-1)?.id, open: true, lines: () => wrapSome(done) }),
  };
}

/** A request that is being answered has a name of its own, because a later state has its answer under its usual name. */
const asOpen = (wrapped: Wrapped): Wrapped => ({ ...wrapped, id: `${wrapped.id}~open` });

const nameRequest = (request: JsonObject, at: number): string => stringAt(request, 'requestId') ?? `request-${at}`;
const wrap = (record: JsonObject, parent: string | null, at: number): Wrapped => ({
  id: nameRequest(record, at),
  record,
  parent,
  at: record.timestamp,
});

const maxOperations = 100_000;

/** The state after all operations, and the requests that they cut, each with its parent. Only the log still contains removed turns. */
function replayed(text: string): { readonly state: Json | undefined; readonly cut: readonly Wrapped[] } {
  let state: Json | undefined;
  const cut: Wrapped[] = [];
  for (const operation of operationsIn(text).operations) {
    const path = pathOf(operation);
    if (operation.kind === 0) {
      state = operation.v;
      continue;
    }
    const requests = path[0] === 'requests' && path.length <= 2 ? requestsIn(state) : [];
    for (const [at, request] of requests.entries()) {
      const before = requests[at - 1];
      if (isObject(request) && isCut(operation, path[1], at)) cut.push(wrap(request, isObject(before) ? nameRequest(before, at - 1) : null, at));
    }
    state = changed(state, path, (value) => applied(value, operation));
  }
  return { state, cut };
}

/** Whether an operation on all requests, or on the one at `only`, cuts the request at this index. */
const isCut = ({ kind, i }: JsonObject, only: Json | undefined, at: number): boolean =>
  kind === 2 ? only === undefined && isIndex(i) && at >= i : only === undefined || only === at;
const isIndex = (value: Json | undefined): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0;

const requestsIn = (state: Json | undefined): readonly Json[] => (isObject(state) && Array.isArray(state.requests) ? state.requests : []);
const pathOf = ({ k }: JsonObject): readonly Json[] => (Array.isArray(k) ? k : []);

function operationsIn(text: string): { readonly operations: readonly JsonObject[]; readonly problems: readonly Problem[] } {
  const operations: JsonObject[] = [];
  const problems: Problem[] = [];
  const { read, copies } = linesOnce(text);
  let hasState = false;
  for (const { value, number } of read.slice(0, maxOperations)) {
    const reason = flawOf(value, hasState);
    if (reason !== undefined) problems.push({ line: number, reason });
    else if (isObject(value)) {
      operations.push(value);
      hasState ||= value.kind === 0;
    }
  }
  problems.push(...copies.map(({ number }) => ({ line: number, reason: saidBefore })));
  const next = read[maxOperations];
  if (next) problems.push({ line: next.number, reason: `the log has more than ${maxOperations} lines: the later ones are not read` });
  return { operations, problems };
}

function flawOf(operation: Json | undefined, hasState: boolean): string | undefined {
  if (operation === undefined) return 'not JSON';
  if (!isObject(operation)) return 'JSON, but not an operation';
  if (isDeep(operation)) return tooDeep;
  const { kind } = operation;
  if (kind === 0) return undefined;
  if (kind !== 1 && kind !== 2 && kind !== 3) return `the operation has the kind ${inWords(kind ?? null)} instead of 0, 1, 2 or 3: it is not applied`;
  if (!hasState) return 'the operation comes before the state that it changes: it is not applied';
  return pathOf(operation).length === 0 ? 'the operation names no place in the state: it is not applied' : undefined;
}

function applied(value: Json | undefined, { kind, v, i }: JsonObject): Json | undefined {
  if (kind === 1) return v;
  if (kind === 3) return undefined;
  if (kind !== 2) return value;
  const list = Array.isArray(value) ? value : [];
  const kept = isIndex(i) ? list.slice(0, i) : list;
  return [...kept, ...(Array.isArray(v) ? v : v === undefined ? [] : [v])];
}

/** The value with a change at the path. Missing parts are created. */
function changed(value: Json | undefined, [key, ...rest]: readonly Json[], change: (value: Json | undefined) => Json | undefined): Json {
  if (Array.isArray(value)) {
    const at = isIndex(key) && key <= value.length ? key : value.length;
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
