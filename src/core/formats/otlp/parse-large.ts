import { type ByteRange, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { type ListInFile, type ValueInFile, valueAt, valuesInFile } from '../shared/json-items.js';
import { lastRead } from '../shared/last-read.js';
import { type Export, observedSpans } from './parse-observed.js';
import { withDetails } from './parse-sent.js';
import { attributesIn, loggedEvent, otlpSpan, type ReadSpan, spansIn } from './parse-spans.js';

const spanList = /^resourceSpans\.(\d+)\.(?:scopeSpans|instrumentationLibrarySpans)\.\d+\.spans$/;
const logList = /^resourceLogs\.\d+\.scopeLogs\.\d+\.logRecords$/;
const isLarge = (path: string): boolean => /^(?:observations|post|patch)?$/.test(path) || spanList.test(path) || logList.test(path);

type Read<T> = () => T;

/** The spans of a file that does not fit into memory, with their details. Only small attributes are in memory. */
export function spansInFile(file: FileBytes): readonly ReadSpan[] {
  const logs = new Map<string, Read<JsonObject>[]>();
  const own: Read<ReadSpan>[] = [];
  const exported: Export[] = [];
  for (const value of readValues(file)) {
    if (!isObject(value.shell)) continue;
    for (const log of itemsOf(value, logList, file)) {
      const id = stringAt(log(), 'spanId') ?? '';
      if (id === '') continue;
      const some = logs.get(id) ?? [];
      some.push(log);
      logs.set(id, some);
    }
    own.push(...spansOf(value, value.shell, file));
    exported.push(exportOf(value, value.shell, file));
  }
  const keep = keeper((span) => {
    const logged = (logs.get(span.spanId) ?? []).map((log) => loggedEvent(log()));
    return withDetails({ ...span, events: [...span.events, ...logged] });
  });
  return own.length === 0 ? observedSpans(exported, keep) : own.map((read) => keep(read));
}

/** The values of a file. The values of a list are returned one by one. */
function* readValues(file: FileBytes): Generator<ValueInFile> {
  for (const value of valuesInFile(file, isLarge)) {
    if (!Array.isArray(value.shell)) yield value;
    else for (const range of value.lists.flatMap(({ items }) => items)) yield* valuesInFile(file, isLarge, range);
  }
}

const objectAt = (file: FileBytes, range: ByteRange): JsonObject => objectsIn([valueAt(file, range) ?? null])[0] ?? {};

/** Reads an object again. A function inside one that has the whole value at hand would keep that value in memory. */
const readingAt =
  (file: FileBytes, range: ByteRange): Read<JsonObject> =>
  () =>
    objectAt(file, range);

const firstSpanOf =
  (read: Read<JsonObject>): Read<ReadSpan> =>
  () =>
    spansIn(read())[0] as ReadSpan;

const itemsOf = ({ lists }: ValueInFile, path: RegExp, file: FileBytes): readonly Read<JsonObject>[] =>
  lists.filter((list) => path.test(list.path)).flatMap(({ items }) => items.map((range) => readingAt(file, range)));

function spansOf(value: ValueInFile, shell: JsonObject, file: FileBytes): readonly Read<ReadSpan>[] {
  const lists = value.lists.flatMap((list): readonly Read<ReadSpan>[] => {
    const number = spanList.exec(list.path)?.[1];
    const resource = Array.isArray(shell.resourceSpans) && number !== undefined ? shell.resourceSpans[Number(number)] : undefined;
    return isObject(resource) ? spansOfResource(list, resource, file) : [];
  });
  return lists.length > 0 || spansIn(shell).length === 0 ? lists : [firstSpanOf(readingAt(file, value.range))];
}

function spansOfResource({ items }: ListInFile, resource: JsonObject, file: FileBytes): readonly Read<ReadSpan>[] {
  const attributes = attributesIn(isObject(resource.resource) ? resource.resource.attributes : undefined);
  return items.map((range) => () => otlpSpan(objectAt(file, range), attributes));
}

function exportOf(value: ValueInFile, shell: JsonObject, file: FileBytes): Export {
  const single = typeof shell.run_type === 'string' ? [readingAt(file, value.range)] : [];
  return {
    trace: isObject(shell.trace) ? shell.trace : {},
    observations: itemsOf(value, /^observations$/, file),
    runs: [...itemsOf(value, /^post$/, file), ...itemsOf(value, /^patch$/, file), ...single],
  };
}

const maxHeldLength = 256;

/** The events of a span, read again whenever they are needed. A class, because a getter of its own in each of many spans takes far more memory. */
class LightEvents {
  readonly #again: Read<ReadSpan>;

  constructor(again: Read<ReadSpan>) {
    this.#again = again;
  }

  get events(): ReadSpan['events'] {
    return this.#again().events;
  }
}

/**
 * Makes light spans: their large attributes and events are read again whenever they are needed. A file has many, so the getters of attributes are
 * shared. `detailed` adds what other records of the file say about a span.
 */
function keeper(detailed: (span: ReadSpan) => ReadSpan): (read: Read<ReadSpan>, span?: ReadSpan) => ReadSpan {
  const source = Symbol('source');
  // Callers read several facts of the same span in a row.
  const last = lastRead<ReadSpan>();
  const spanOf = (read: Read<ReadSpan>): ReadSpan => last(read, () => detailed(read()));
  const getters = new Map<string, PropertyDescriptor>();
  const getterOf = (name: string): PropertyDescriptor => {
    const get = function (this: { readonly [source]: Read<ReadSpan> }): Json | undefined {
      return spanOf(this[source]).attributes[name];
    };
    const made = getters.get(name) ?? { enumerable: true, get };
    getters.set(name, made);
    return made;
  };
  return (read, span = spanOf(read)) => {
    const held: JsonObject = {};
    Object.defineProperty(held, source, { value: read });
    for (const [name, value] of Object.entries(span.attributes)) {
      const isSmall = typeof value === 'string' ? value.length <= maxHeldLength : typeof value !== 'object' || value === null;
      Object.defineProperty(held, name, isSmall ? { enumerable: true, value } : getterOf(name));
    }
    const { events, ...facts } = span;
    const light = events.length > 0 ? new LightEvents(() => spanOf(read)) : { events };
    return Object.assign(light, facts, { attributes: held });
  };
}
