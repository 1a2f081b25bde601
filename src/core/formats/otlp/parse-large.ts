import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { type ListInFile, type ValueInFile, valueAt, valuesInFile } from '../shared/json-items.js';
import { type Export, observedSpans } from './parse-observed.js';
import { withDetails } from './parse-sent.js';
import { attributesIn, loggedEvent, otlpSpan, type Span, spansIn } from './parse-spans.js';

const spanList = /^resourceSpans\.(\d+)\.(?:scopeSpans|instrumentationLibrarySpans)\.\d+\.spans$/;
const logList = /^resourceLogs\.\d+\.scopeLogs\.\d+\.logRecords$/;
const isLarge = (path: string): boolean => /^(?:observations|post|patch)?$/.test(path) || spanList.test(path) || logList.test(path);

type Read<T> = () => T;

/** The spans of a file that does not fit into memory, with their details. Only small attributes are in memory. */
export function spansInFile(file: FileBytes): readonly Span[] {
  const once = lastOf<Span>();
  const logs = new Map<string, Read<JsonObject>[]>();
  const own: Read<Span>[] = [];
  const exported: Export[] = [];
  for (const value of valuesOf(file)) {
    if (!isObject(value.shell)) continue;
    const read = readerOf(file);
    for (const log of itemsOf(value, logList, read)) {
      const id = stringAt(log(), 'spanId') ?? '';
      if (id === '') continue;
      const some = logs.get(id) ?? [];
      some.push(log);
      logs.set(id, some);
    }
    own.push(...spansOf(value, value.shell, read));
    exported.push(exportOf(value, value.shell, read));
  }
  const keep = (read: Read<Span>, span = read()): Span => light(() => once(read), span);
  if (own.length === 0) return observedSpans(exported, keep);
  return own.map((read) =>
    keep(() => {
      const span = read();
      const logged = (logs.get(span.spanId) ?? []).map((log) => loggedEvent(log()));
      return withDetails({ ...span, events: [...span.events, ...logged] });
    }),
  );
}

/** The values of a file; those of a list are one by one. */
function* valuesOf(file: FileBytes): Generator<ValueInFile> {
  for (const value of valuesInFile(file, isLarge)) {
    if (!Array.isArray(value.shell)) yield value;
    else for (const range of value.lists.flatMap(({ items }) => items)) yield* valuesInFile(file, isLarge, range);
  }
}

type Reader = (range: ValueInFile['range']) => Read<JsonObject>;
const readerOf =
  (file: FileBytes): Reader =>
  (range) =>
  () =>
    objectsIn([valueAt(file, range) ?? null])[0] ?? {};

const itemsOf = ({ lists }: ValueInFile, path: RegExp, read: Reader): readonly Read<JsonObject>[] =>
  lists.filter((list) => path.test(list.path)).flatMap(({ items }) => items.map(read));

function spansOf(value: ValueInFile, shell: JsonObject, read: Reader): readonly Read<Span>[] {
  const lists = value.lists.flatMap((list): readonly Read<Span>[] => {
    const number = spanList.exec(list.path)?.[1];
    const resource = Array.isArray(shell.resourceSpans) && number !== undefined ? shell.resourceSpans[Number(number)] : undefined;
    return isObject(resource) ? spansOfResource(list, resource, read) : [];
  });
  if (lists.length > 0 || spansIn(shell).length === 0) return lists;
  const whole = read(value.range);
  return [() => spansIn(whole())[0] as Span];
}

function spansOfResource({ items }: ListInFile, resource: JsonObject, read: Reader): readonly Read<Span>[] {
  const attributes = attributesIn(isObject(resource.resource) ? resource.resource.attributes : undefined);
  return items.map((range) => {
    const own = read(range);
    return () => otlpSpan(own(), attributes);
  });
}

function exportOf(value: ValueInFile, shell: JsonObject, read: Reader): Export {
  return {
    trace: isObject(shell.trace) ? shell.trace : {},
    observations: itemsOf(value, /^observations$/, read),
    runs: [...itemsOf(value, /^post$/, read), ...itemsOf(value, /^patch$/, read), ...(typeof shell.run_type === 'string' ? [read(value.range)] : [])],
  };
}

const maxHeldLength = 256;

/** A span whose large attributes and events are read again whenever they are needed. */
function light(read: Read<Span>, { attributes, events, ...span }: Span): Span {
  const held: JsonObject = {};
  for (const [name, value] of Object.entries(attributes)) {
    const isSmall = typeof value === 'string' ? value.length <= maxHeldLength : typeof value !== 'object' || value === null;
    Object.defineProperty(held, name, { enumerable: true, ...(isSmall ? { value } : { get: () => read().attributes[name] }) });
  }
  const hasEvents = events.length > 0;
  return {
    ...span,
    attributes: held,
    get events() {
      return hasEvents ? read().events : [];
    },
  };
}

/** Remembers the result of the last reading, because several facts of a span are asked for in a row. */
function lastOf<T>(): (read: Read<T>) => T {
  let last: { readonly read: Read<T>; readonly result: T } | undefined;
  return (read) => {
    if (last?.read !== read) last = { read, result: read() };
    return last.result;
  };
}
