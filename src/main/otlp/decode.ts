import { gunzipSync, inflateSync } from 'node:zlib';
import protobuf from 'protobufjs/light.js';
import { traceSchema } from './schema.js';

/** A span as OTLP JSON has it, with its resource and scope. */
export interface ReceivedSpan {
  readonly resource: unknown;
  readonly scope: unknown;
  readonly span: Readonly<Record<string, unknown>>;
}

/** A request that cannot be read, with the status to answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The largest request, unpacked. Exporters send a few hundred spans at a time. */
export const maxExportBytes = 64 * 1024 * 1024;

let type: protobuf.Type | undefined;
const exportType = (): protobuf.Type => {
  type ??= protobuf.Root.fromJSON(traceSchema as unknown as protobuf.INamespace).lookupType('ExportTraceServiceRequest');
  return type;
};

/** The spans of a request. @throws Refused for a body that is no export of spans. */
export function spansOfRequest(body: Uint8Array, contentType = '', encoding = ''): readonly ReceivedSpan[] {
  const bytes = unpacked(body, encoding);
  if (/^application\/x-protobuf\b/i.test(contentType)) return spansOf(fromProtobuf(bytes));
  if (/^application\/json\b/i.test(contentType)) return spansOf(fromJson(bytes));
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

function fromJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Refused(400, `The body is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

/** The message as OTLP JSON: names in lower camel case, 64-bit integers as text, ids in hex. */
function fromProtobuf(bytes: Uint8Array): unknown {
  try {
    const message = exportType().decode(bytes);
    return withHexIds(exportType().toObject(message, { longs: String, bytes: String, enums: Number }));
  } catch (error) {
    throw new Refused(400, `The body is not an OTLP export of spans: ${(error as Error).message}`);
  }
}

const idNames: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

function withHexIds(document: unknown): unknown {
  for (const { span } of spansOf(document)) {
    const links = Array.isArray(span.links) ? (span.links as Record<string, unknown>[]) : [];
    for (const one of [span as Record<string, unknown>, ...links])
      for (const name of idNames) if (typeof one[name] === 'string') one[name] = Buffer.from(one[name], 'base64').toString('hex');
  }
  return document;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value.filter(isRecord) : []);

function spansOf(document: unknown): readonly ReceivedSpan[] {
  if (!isRecord(document) || (document.resourceSpans !== undefined && !Array.isArray(document.resourceSpans)))
    throw new Refused(400, 'The body is not an OTLP export of spans: it has no list resourceSpans.');
  return recordsIn(document.resourceSpans).flatMap(({ resource, scopeSpans }) =>
    recordsIn(scopeSpans).flatMap(({ scope, spans }) => recordsIn(spans).map((span) => ({ resource, scope, span }))),
  );
}
