import { gunzipSync, inflateSync } from 'node:zlib';
import protobuf from 'protobufjs/light.js';
import { isBounded, isObject } from '../../core/base/index.js';
import { requireBounded } from './bounds.js';
import { exportSchema } from './schema.js';

/** A span or log in the form of OTLP JSON, with its resource and scope. */
export interface ReceivedItem {
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
export class RefusedExport extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The largest request in bytes, before and after decompression. Exporters send a few hundred spans at a time. */
export const maxExportBytes = 64 * 1024 * 1024;
/** The most bytes for each compressed byte, and the size that may have any ratio. Spans pack to about a tenth. */
const ratio = { most: 200, freeBytes: 4 * 1024 * 1024 } as const;
/** The most levels and values of an export as JSON: each takes far more memory than its bytes. */
const jsonBounds = { levels: 200, members: 2_000_000 } as const;
/** The most bytes of resources and scopes, which are stored with each trace. */
const maxRepeatedBytes = 2 * maxExportBytes;

let schema: protobuf.Root | undefined;
const messageType = (signal: Signal): protobuf.Type => {
  if (!schema) {
    schema = protobuf.Root.fromJSON(exportSchema as unknown as protobuf.INamespace);
    schema.resolveAll();
  }
  return schema.lookupType(signals[signal].message);
};

/** Reads the spans or logs of a request, and the number of their bytes. @throws Refused for a body that is not an export of this signal. */
export function receivedIn(signal: Signal, body: Uint8Array, contentType = '', encoding = ''): [received: readonly ReceivedItem[], bytes: number] {
  const bytes = unpacked(body, encoding);
  const isProtobuf = /^application\/x-protobuf\b/i.test(contentType);
  if (!isProtobuf && !/^application\/json\b/i.test(contentType)) throw new RefusedExport(415, 'Send application/x-protobuf or application/json.');
  const received = readItems(signal, isProtobuf ? fromProtobuf(signal, bytes) : fromJson(bytes));
  const repeated = repeatedBytes(received);
  if (repeated > maxRepeatedBytes)
    throw new RefusedExport(
      413,
      'The resources and scopes of these spans are too large, because each trace is stored with them. Send fewer traces at a time.',
    );
  return [received, bytes.length + repeated];
}

/** The bytes that resources and scopes take when each trace is stored with its own copy. */
function repeatedBytes(received: readonly ReceivedItem[]): number {
  const sizes = new Map<unknown, { readonly bytes: number; readonly traces: Set<unknown> }>();
  let sum = 0;
  for (const { resource, scope, item } of received)
    for (const each of [resource, scope]) {
      if (each === undefined) continue;
      const size = sizes.get(each) ?? { bytes: JSON.stringify(each).length, traces: new Set() };
      sizes.set(each, size);
      if (size.traces.has(item.traceId)) continue;
      size.traces.add(item.traceId);
      sum += size.bytes;
    }
  return sum;
}

function unpacked(body: Uint8Array, encoding: string): Uint8Array {
  const maxOutputLength = Math.min(maxExportBytes, Math.max(ratio.freeBytes, ratio.most * body.length));
  try {
    if (encoding === '' || encoding === 'identity') return body;
    if (encoding === 'gzip') return gunzipSync(body, { maxOutputLength });
    if (encoding === 'deflate') return inflateSync(body, { maxOutputLength });
  } catch (error) {
    throw new RefusedExport(400, `The body cannot be unpacked: ${(error as Error).message}`);
  }
  throw new RefusedExport(415, `The encoding ${JSON.stringify(encoding.slice(0, 40))} is unknown. Send gzip, deflate or none.`);
}

function fromJson(bytes: Uint8Array): unknown {
  if (!isBounded(bytes, jsonBounds))
    throw new RefusedExport(
      400,
      `The body is nested more than ${jsonBounds.levels} levels deep, or has too many values. Send fewer spans at a time.`,
    );
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new RefusedExport(400, `The body is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

/** The message as OTLP JSON: names in lower camel case, 64-bit integers as text, ids in hex. */
function fromProtobuf(signal: Signal, bytes: Uint8Array): unknown {
  try {
    const type = messageType(signal);
    requireBounded(type, bytes);
    return withHexIds(signal, type.toObject(type.decode(bytes), { longs: String, bytes: String, enums: Number }));
  } catch (error) {
    throw new RefusedExport(400, `The body is not an OTLP export of ${signal}: ${(error as Error).message}`);
  }
}

const idNames: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

function withHexIds(signal: Signal, document: unknown): unknown {
  for (const { item } of readItems(signal, document)) {
    const links = Array.isArray(item.links) ? (item.links as Record<string, unknown>[]) : [];
    for (const one of [item as Record<string, unknown>, ...links])
      for (const name of idNames) if (typeof one[name] === 'string') one[name] = Buffer.from(one[name], 'base64').toString('hex');
  }
  return document;
}

const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value.filter(isObject) : []);

function readItems(signal: Signal, document: unknown): readonly ReceivedItem[] {
  const { resources, scopes, items } = signals[signal];
  if (!isObject(document) || (document[resources] !== undefined && !Array.isArray(document[resources])))
    throw new RefusedExport(400, `The body is not an OTLP export of ${signal}: it has no list ${resources}.`);
  return recordsIn(document[resources]).flatMap(({ resource, [scopes]: ofResource }) =>
    recordsIn(ofResource).flatMap(({ scope, [items]: ofScope }) => recordsIn(ofScope).map((item) => ({ resource, scope, item }))),
  );
}
