/**
 * The messages of an export of spans or logs, from the public definitions of OpenTelemetry (opentelemetry-proto 1.x, Apache-2.0): the trace and logs
 * services, and the messages of trace, logs, resource and common that they use. Field numbers never change; fields that are not listed are ignored.
 */
const messages = {
  ExportTraceServiceRequest: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } },
  ResourceSpans: {
    resource: { type: 'Resource', id: 1 },
    scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 },
    schemaUrl: { type: 'string', id: 3 },
  },
  ScopeSpans: {
    scope: { type: 'InstrumentationScope', id: 1 },
    spans: { rule: 'repeated', type: 'Span', id: 2 },
    schemaUrl: { type: 'string', id: 3 },
  },
  ExportLogsServiceRequest: { resourceLogs: { rule: 'repeated', type: 'ResourceLogs', id: 1 } },
  ResourceLogs: {
    resource: { type: 'Resource', id: 1 },
    scopeLogs: { rule: 'repeated', type: 'ScopeLogs', id: 2 },
    schemaUrl: { type: 'string', id: 3 },
  },
  ScopeLogs: {
    scope: { type: 'InstrumentationScope', id: 1 },
    logRecords: { rule: 'repeated', type: 'LogRecord', id: 2 },
    schemaUrl: { type: 'string', id: 3 },
  },
  LogRecord: {
    timeUnixNano: { type: 'fixed64', id: 1 },
    severityNumber: { type: 'int32', id: 2 },
    severityText: { type: 'string', id: 3 },
    body: { type: 'AnyValue', id: 5 },
    attributes: { rule: 'repeated', type: 'KeyValue', id: 6 },
    droppedAttributesCount: { type: 'uint32', id: 7 },
    flags: { type: 'fixed32', id: 8 },
    traceId: { type: 'bytes', id: 9 },
    spanId: { type: 'bytes', id: 10 },
    observedTimeUnixNano: { type: 'fixed64', id: 11 },
    eventName: { type: 'string', id: 12 },
  },
  Span: {
    traceId: { type: 'bytes', id: 1 },
    spanId: { type: 'bytes', id: 2 },
    traceState: { type: 'string', id: 3 },
    parentSpanId: { type: 'bytes', id: 4 },
    name: { type: 'string', id: 5 },
    kind: { type: 'int32', id: 6 },
    startTimeUnixNano: { type: 'fixed64', id: 7 },
    endTimeUnixNano: { type: 'fixed64', id: 8 },
    attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
    droppedAttributesCount: { type: 'uint32', id: 10 },
    events: { rule: 'repeated', type: 'Event', id: 11 },
    droppedEventsCount: { type: 'uint32', id: 12 },
    links: { rule: 'repeated', type: 'Link', id: 13 },
    droppedLinksCount: { type: 'uint32', id: 14 },
    status: { type: 'Status', id: 15 },
    flags: { type: 'fixed32', id: 16 },
  },
  Event: {
    timeUnixNano: { type: 'fixed64', id: 1 },
    name: { type: 'string', id: 2 },
    attributes: { rule: 'repeated', type: 'KeyValue', id: 3 },
    droppedAttributesCount: { type: 'uint32', id: 4 },
  },
  Link: {
    traceId: { type: 'bytes', id: 1 },
    spanId: { type: 'bytes', id: 2 },
    traceState: { type: 'string', id: 3 },
    attributes: { rule: 'repeated', type: 'KeyValue', id: 4 },
    droppedAttributesCount: { type: 'uint32', id: 5 },
    flags: { type: 'fixed32', id: 6 },
  },
  Status: { message: { type: 'string', id: 2 }, code: { type: 'int32', id: 3 } },
  Resource: { attributes: { rule: 'repeated', type: 'KeyValue', id: 1 }, droppedAttributesCount: { type: 'uint32', id: 2 } },
  InstrumentationScope: {
    name: { type: 'string', id: 1 },
    version: { type: 'string', id: 2 },
    attributes: { rule: 'repeated', type: 'KeyValue', id: 3 },
    droppedAttributesCount: { type: 'uint32', id: 4 },
  },
  KeyValue: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } },
  AnyValue: {
    stringValue: { type: 'string', id: 1 },
    boolValue: { type: 'bool', id: 2 },
    intValue: { type: 'int64', id: 3 },
    doubleValue: { type: 'double', id: 4 },
    arrayValue: { type: 'ArrayValue', id: 5 },
    kvlistValue: { type: 'KeyValueList', id: 6 },
    bytesValue: { type: 'bytes', id: 7 },
  },
  ArrayValue: { values: { rule: 'repeated', type: 'AnyValue', id: 1 } },
  KeyValueList: { values: { rule: 'repeated', type: 'KeyValue', id: 1 } },
} as const;

export const exportSchema = {
  nested: {
    ...Object.fromEntries(Object.entries(messages).map(([name, fields]) => [name, { fields }])),
    AnyValue: { fields: messages.AnyValue, oneofs: { value: { oneof: Object.keys(messages.AnyValue) } } },
  },
};
