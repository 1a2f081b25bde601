import { gunzipSync, inflateSync } from 'node:zlib';
import protobuf from 'protobufjs/light.js';
import { exportSchema } from './schema.js';

/** A span or log in the form of OTLP JSON, with its resource and scope. */
export interface Received {
  readonly resource: unknown;
  readonly scope: unknown;
  readonly item: Readonly<Record<string, unknown>>;
}

/** For each signal: the names of the nested lists of an export, from the outside to the items. */
export const signals = {
  spans: { message: 'ExportTraceServiceRequest', resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
  logs: { message: 'ExportLogsServiceRequest', resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
} as const;
export type Signal = keyof typeof signals;

/** The error for a request that cannot be read, with the HTTP status of the answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The largest request in bytes after decompression. Exporters send a few hundred spans at a time. */
export const maxExportBytes = 64 * 1024 * 1024;

let schema: protobuf.Root | undefined;
const messageOf = (signal: Signal): protobuf.Type => {
  schema ??= protobuf.Root.fromJSON(exportSchema as unknown as protobuf.INamespace);
  return schema.lookupType(signals[signal].message);
};

/** Reads the spans or logs of a request. @throws Refused for a body that is not an export of this signal. */
export function receivedIn(signal: Signal, body: Uint8Array, contentType = '', encoding = ''): readonly Received[] {
  const bytes = unpacked(body, encoding);
  if (/^application\/x-protobuf\b/i.test(contentType)) return itemsOf(signal, fromProtobuf(signal, bytes));
  if (/^application\/json\b/i.test(contentType)) return itemsOf(signal, fromJson(bytes));
  throw new Refused(415, 'Send application/x-protobuf or application/json.');
}

function unpacked(body: Uint8Array, encoding: string): Uint8Array {
  try {
    if (encoding === '' || encoding === 'identity') return body;
    if (encoding === 'gzip') return gunzipSync(body, { maxOutputLength: maxExportBytes });
    if (encoding === 'deflate') return inflateSync(body, { maxOutputLength: maxExportBytes });
  } catch (error) {
    throw new Refused(400, `The body cannot be unpacked: ${(error as Error).message}`);
  }
  throw new Refused(415, `The encoding ${JSON.stringify(encoding.slice(0, 40))} is unknown. Send gzip, deflate or none.`);
}

/** The most objects of an export as JSON: each takes far more memory than its bytes. */
const maxObjects = 2_000_000;
/** The number of beginnings of objects, those within texts included. */
const objectsIn = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => (byte === 0x7b ? sum + 1 : sum), 0);

function fromJson(bytes: Uint8Array): unknown {
  if (objectsIn(bytes) > maxObjects) throw new Refused(400, `The body has more than ${maxObjects} objects. Send fewer spans at a time.`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Refused(400, `The body is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

/** The message as OTLP JSON: names in lower camel case, 64-bit integers as text, ids in hex. */
function fromProtobuf(signal: Signal, bytes: Uint8Array): unknown {
  try {
    const type = messageOf(signal);
    return withHexIds(signal, type.toObject(type.decode(bytes), { longs: String, bytes: String, enums: Number }));
  } catch (error) {
    throw new Refused(400, `The body is not an OTLP export of ${signal}: ${(error as Error).message}`);
  }
}

const idNames: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

function withHexIds(signal: Signal, document: unknown): unknown {
  for (const { item } of itemsOf(signal, document)) {
    const links = Array.isArray(item.links) ? (item.links as Record<string, unknown>[]) : [];
    for (const one of [item as Record<string, unknown>, ...links])
      for (const name of idNames) if (typeof one[name] === 'string') one[name] = Buffer.from(one[name], 'base64').toString('hex');
  }
  return document;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value.filter(isRecord) : []);

function itemsOf(signal: Signal, document: unknown): readonly Received[] {
  const { resources, scopes, items } = signals[signal];
  if (!isRecord(document) || (document[resources] !== undefined && !Array.isArray(document[resources])))
    throw new Refused(400, `The body is not an OTLP export of ${signal}: it has no list ${resources}.`);
  return recordsIn(document[resources]).flatMap(({ resource, [scopes]: ofResource }) =>
    recordsIn(ofResource).flatMap(({ scope, [items]: ofScope }) => recordsIn(ofScope).map((item) => ({ resource, scope, item }))),
  );
}
