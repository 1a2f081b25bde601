// otlp: receives spans of OpenTelemetry over HTTP, as protobuf or JSON, and imports those that follow the GenAI conventions.
// schema.ts has the messages of the public .proto files, decode.ts reads a request, receiver.ts keeps spans until their turn is complete,
// server.ts is the server of `stemma otlp`.
export { answerExport, isExportPath } from './answer.js';
export { openReceiver, type Receiver } from './receiver.js';
export { type RunningServer, startOtlp } from './server.js';
