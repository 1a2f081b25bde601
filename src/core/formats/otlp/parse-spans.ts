import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import { endOfValue, isDeep } from '../shared/jsonl.js';

/** A span in a form that is independent of its writer. */
export interface ReadSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: JsonObject;
  readonly events: readonly { readonly name: string; readonly attributes: JsonObject }[];
  readonly failed: string | undefined;
}

/** The JSON values of a file, in one document, per line or pretty-printed. Incomplete values are skipped; `leftOut` gets their places. */
export function valuesIn(text: string, leftOut: (at: number) => void = () => undefined): readonly JsonObject[] {
  const values: JsonObject[] = [];
  let passed = 0;
  for (let at = text.indexOf('{'); at >= 0 && passed < maxPasses * text.length; ) {
    const end = endOfValue(text, at);
    const value = end < 0 ? undefined : parseJson(text.slice(at, end));
    if (isObject(value) && !isDeep(value)) values.push(value);
    else leftOut(at);
    if (end < 0) passed += text.length - at;
    at = text.indexOf('{', end < 0 ? at + 1 : end);
  }
  return values;
}
const maxPasses = 8;

/** What a span calls its operation, by the current or earlier conventions. */
export const operationNamed = ({ attributes, name }: ReadSpan): string | undefined =>
  stringAt(attributes, 'gen_ai.operation.name') ??
  stringAt(attributes, 'openinference.span.kind')?.toLowerCase() ??
  /^(chat|execute_tool|invoke_agent)\b/.exec(name)?.[1];

/** The spans of a value: an OTLP export, or one span of the JavaScript SDK. */
export function spansIn(value: JsonObject): readonly ReadSpan[] {
  const resources = objectsIn(value.resourceSpans);
  if (resources.length > 0)
    return resources.flatMap((resource) =>
      objectsIn(resource.scopeSpans ?? resource.instrumentationLibrarySpans).flatMap((scope) =>
        objectsIn(scope.spans).map((span) => otlpSpan(span, attributesIn(isObject(resource.resource) ? resource.resource.attributes : undefined))),
      ),
    );
  const span = unwrapped(value);
  return typeof span.spanId === 'string' && typeof span.traceId === 'string' && span.startTime !== undefined ? [sdkSpan(span)] : [];
}

/** A span object of the SDK as VS Code writes it, with the ids in objects of their own. */
function unwrapped(value: JsonObject): JsonObject {
  const { _spanContext: own, parentSpanContext: parent } = value;
  if (!isObject(own)) return value;
  return { ...value, ...own, ...(isObject(parent) && { parentSpanId: parent.spanId ?? null }) };
}

/** A span of OTLP. `resource` has the attributes of what recorded it. */
export function otlpSpan(span: JsonObject, resource: JsonObject): ReadSpan {
  const attributes = attributesIn(span.attributes);
  const [start, end] = [nanos(span.startTimeUnixNano), nanos(span.endTimeUnixNano)];
  const failed = failureIn(span) && (stringAt(span.status, 'message') ?? stringAt(attributes, 'error.type') ?? 'error');
  return { ...identified(span, attributesIn), start, end, attributes: { ...kept(resource), ...attributes }, failed };
}

/** The members that all writers of spans name alike. `read` reads attributes. */
const identified = (span: JsonObject, read: (attributes: Json | undefined) => JsonObject) => ({
  traceId: stringAt(span, 'traceId') ?? '',
  spanId: stringAt(span, 'spanId') ?? '',
  parentSpanId: stringAt(span, 'parentSpanId') || undefined,
  name: stringAt(span, 'name') ?? '',
  events: objectsIn(span.events).map((event) => ({ name: stringAt(event, 'name') ?? '', attributes: read(event.attributes) })),
});

/** True for a span that failed, else undefined. */
function failureIn({ status }: JsonObject): true | undefined {
  const code = isObject(status) ? status.code : undefined;
  return code === 2 || code === 'STATUS_CODE_ERROR' || code === 'ERROR' ? true : undefined;
}

/** The attributes of a resource that say what ran where. */
const kept = (resource: JsonObject): JsonObject =>
  Object.fromEntries(['service.name', 'host.name'].flatMap((name) => (resource[name] === undefined ? [] : [[name, resource[name] as Json]])));

const nanos = (value: Json | undefined): number => Math.floor(Number(typeof value === 'string' || typeof value === 'number' ? value : 0) / 1e6) || 0;

function sdkSpan(span: JsonObject): ReadSpan {
  const plain = (attributes: Json | undefined): JsonObject => (isObject(attributes) ? attributes : {});
  const time = (value: Json | undefined): number =>
    Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'number' ? Math.floor(value[0] * 1e3 + value[1] / 1e6) : 0;
  const failed = failureIn(span) && (stringAt(span.status, 'message') ?? 'error');
  return { ...identified(span, plain), start: time(span.startTime), end: time(span.endTime), attributes: plain(span.attributes), failed };
}

/** Events that a tool records as logs of their spans, by the ids of the spans. */
export function eventsBySpan(values: readonly JsonObject[]): ReadonlyMap<string, ReadSpan['events']> {
  const scopes = values.flatMap(({ resourceLogs }) => objectsIn(resourceLogs)).flatMap(({ scopeLogs }) => objectsIn(scopeLogs));
  const logs = scopes.flatMap(({ logRecords }) => objectsIn(logRecords)).filter((log) => stringAt(log, 'spanId'));
  const bySpan = Map.groupBy(logs, (log) => stringAt(log, 'spanId') ?? '');
  return new Map([...bySpan].map(([id, own]) => [id, own.map(loggedEvent)]));
}

/** A log as an event of its span. */
export function loggedEvent(log: JsonObject): ReadSpan['events'][number] {
  const own = attributesIn(log.attributes);
  const body = valueIn(log.body);
  const name = stringAt(log, 'eventName') ?? stringAt(own, 'event.name') ?? '';
  return { name, attributes: isObject(body) ? { ...body, ...own } : own };
}

/** Attributes by name. */
export function attributesIn(list: Json | undefined): JsonObject {
  return Object.fromEntries(objectsIn(list).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, valueIn(value)] as const] : [])));
}

function valueIn(value: Json | undefined): Json {
  if (!isObject(value)) return null;
  if ('stringValue' in value) return value.stringValue as Json;
  if ('boolValue' in value) return value.boolValue as Json;
  if ('intValue' in value) return Number(value.intValue);
  if ('doubleValue' in value) return value.doubleValue as Json;
  if ('bytesValue' in value) return value.bytesValue as Json;
  if (isObject(value.arrayValue)) return objectsIn(value.arrayValue.values).map(valueIn);
  return isObject(value.kvlistValue) ? attributesIn(value.kvlistValue.values) : null;
}
