/**
 * The messages of an export of spans or logs, from the public definitions of OpenTelemetry (opentelemetry-proto 1.x, Apache-2.0): the trace and logs
 * services, and the messages of trace, logs, resource and common that they use. Each field has its name, its type, with a star for a list, and its
 * number. Numbers never change; fields that are not listed are ignored.
 */
const messages = {
  ExportTraceServiceRequest: 'resourceSpans ResourceSpans* 1',
  ResourceSpans: 'resource Resource 1, scopeSpans ScopeSpans* 2, schemaUrl string 3',
  ScopeSpans: 'scope InstrumentationScope 1, spans Span* 2, schemaUrl string 3',
  ExportLogsServiceRequest: 'resourceLogs ResourceLogs* 1',
  ResourceLogs: 'resource Resource 1, scopeLogs ScopeLogs* 2, schemaUrl string 3',
  ScopeLogs: 'scope InstrumentationScope 1, logRecords LogRecord* 2, schemaUrl string 3',
  LogRecord: `timeUnixNano fixed64 1, severityNumber int32 2, severityText string 3, body AnyValue 5, attributes KeyValue* 6,
    droppedAttributesCount uint32 7, flags fixed32 8, traceId bytes 9, spanId bytes 10, observedTimeUnixNano fixed64 11, eventName string 12`,
  Span: `traceId bytes 1, spanId bytes 2, traceState string 3, parentSpanId bytes 4, name string 5, kind int32 6, startTimeUnixNano fixed64 7,
    endTimeUnixNano fixed64 8, attributes KeyValue* 9, droppedAttributesCount uint32 10, events Event* 11, droppedEventsCount uint32 12,
    links Link* 13, droppedLinksCount uint32 14, status Status 15, flags fixed32 16`,
  Event: 'timeUnixNano fixed64 1, name string 2, attributes KeyValue* 3, droppedAttributesCount uint32 4',
  Link: 'traceId bytes 1, spanId bytes 2, traceState string 3, attributes KeyValue* 4, droppedAttributesCount uint32 5, flags fixed32 6',
  Status: 'message string 2, code int32 3',
  Resource: 'attributes KeyValue* 1, droppedAttributesCount uint32 2',
  InstrumentationScope: 'name string 1, version string 2, attributes KeyValue* 3, droppedAttributesCount uint32 4',
  KeyValue: 'key string 1, value AnyValue 2',
  AnyValue: `stringValue string 1, boolValue bool 2, intValue int64 3, doubleValue double 4, arrayValue ArrayValue 5, kvlistValue KeyValueList 6,
    bytesValue bytes 7`,
  ArrayValue: 'values AnyValue* 1',
  KeyValueList: 'values KeyValue* 1',
};

const fieldsOf = (message: string) =>
  Object.fromEntries(
    message.split(/,\s+/).map((field) => {
      const [name = '', type = '', id] = field.split(' ');
      return [name, { ...(type.endsWith('*') && { rule: 'repeated' }), type: type.replace('*', ''), id: Number(id) }];
    }),
  );

const anyValue = fieldsOf(messages.AnyValue);
export const exportSchema = {
  nested: {
    ...Object.fromEntries(Object.entries(messages).map(([name, fields]) => [name, { fields: fieldsOf(fields) }])),
    AnyValue: { fields: anyValue, oneofs: { value: { oneof: Object.keys(anyValue) } } },
  },
};
