import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { entries, materializedBytes, tips } from '../../../src/core/chain/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { openReceiver, type RunningServer, startOtlp } from '../../../src/main/otlp/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

const token = 'a-token-for-tests';
/** Two turns of one conversation. The protobuf files are the JSON files in the encoding of Google's own library (test/fixtures/otlp). */
const fixture = (name: string): Buffer => readFileSync(join(root, 'test', 'fixtures', 'otlp', `made-here-${name}`));

interface Receiving {
  readonly server: RunningServer;
  readonly folder: string;
  readonly chain: WriteChain;
  readonly problems: string[];
}

async function receiving(): Promise<Receiving> {
  const chain = emptyChain();
  const folder = join(scratch(), 'received');
  const problems: string[] = [];
  const server = await startOtlp({
    token,
    port: 0,
    folder,
    importFile: async (path) => importInto(chain, path),
    problem: (error) => problems.push(error.message),
  });
  onTestFinished(() => server.close());
  return { server, folder, chain, problems };
}

const send = ({ server }: Receiving, body: Uint8Array | string, headers: Record<string, string> = {}, path = '/v1/traces'): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    body: body as BodyInit,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });

const protobuf = { 'content-type': 'application/x-protobuf' };
const told = [
  'system text  You help.',
  'user text  List the files',
  'assistant tool_call ls ',
  'tool tool_result ls a.txt',
  'assistant text  There are two files.',
  'user text  Thanks, delete b.txt',
  'assistant tool_call rm ',
  'tool tool_result rm not allowed',
];

test('[F42] protobuf and JSON of the same spans become the same session', async () => {
  const both: string[][] = [];
  for (const kind of ['pb', 'json'] as const) {
    const receiver = await receiving();
    for (const turn of [1, 2]) {
      const answer = await send(receiver, fixture(`turn-${turn}.${kind}`), kind === 'pb' ? protobuf : {});
      expect([answer.status, await answer.text()]).toEqual([200, kind === 'pb' ? '' : '{}']);
    }
    await receiver.server.close();
    const { chain, folder, problems } = receiver;
    expect(problems).toEqual([]);
    const [tip] = tips(chain, {});
    expect(said(chain, tip?.id as never, 'root')).toEqual(told);
    const files = readdirSync(folder);
    expect(files).toHaveLength(1);
    expect(statSync(join(folder, files[0] as string)).mode & 0o777).toBe(0o600);
    expect(listSources(chain).map(({ sessionId, format }) => [sessionId, format])).toContainEqual(['conv-7', 'otlp-v1']);
    both.push(entries(chain, { id: tip?.id as never, stop: 'root' }).entries.map(({ key, tokens, kind: of }) => `${key} ${of} ${tokens}`));
  }
  expect(both[0]).toEqual(both[1]);
});

test('[F42] a conversation grows by turns, and unknown attributes are kept', async () => {
  const receiver = await receiving();
  const { chain, folder } = receiver;
  await send(receiver, gzipSync(fixture('turn-1.pb')), { ...protobuf, 'content-encoding': 'gzip' });
  await receiver.server.close();
  expect(tips(chain, {}).map(({ id }) => said(chain, id, 'root').length)).toEqual([5]);
  const again = await startOtlp({ token, port: 0, folder, importFile: async (path) => importInto(chain, path), problem: () => {} });
  await send({ ...receiver, server: again }, fixture('turn-2.pb'), protobuf);
  await again.close();
  expect(tips(chain, {}).map(({ id }) => said(chain, id, 'root'))).toEqual([told]);
  const [file] = readdirSync(folder);
  const [first] = readFileSync(join(folder, file as string), 'utf8').split('\n');
  const sent = JSON.parse(fixture('turn-1.json').toString()) as { resourceSpans: unknown[] };
  expect(JSON.parse(first as string)).toEqual(sent);
  const id = tips(chain, {})[0]?.id as never;
  expect(Buffer.from(materializedBytes(chain, { id, stop: 'root', format: 'otlp-v1' }).bytes).toString()).toContain('vendor.unknown');
});

/** A field of a protobuf message that has bytes. No library of ours writes it. */
const field = (number: number, ...parts: (Uint8Array | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = content.length < 128 ? [content.length] : [(content.length & 127) | 128, content.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
};

test.each(['json', 'protobuf'])('[F42, F49] messages that come as logs join their spans: %s', async (kind) => {
  const receiver = await receiving();
  const [traceId, spanId, eventName] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 'gen_ai.client.inference.operation.details'];
  const texts = { input: ['user', 'List the files'], output: ['assistant', 'There are two.'] };
  const attributes = Object.entries(texts).map(([which, [role, content]]) => ({
    key: `gen_ai.${which}.messages`,
    value: { stringValue: JSON.stringify([{ role, parts: [{ type: 'text', content }] }]) },
  }));
  const record = Buffer.concat([
    ...attributes.map(({ key, value }) => field(6, field(1, key), field(2, field(1, value.stringValue)))),
    ...[field(9, Buffer.from(traceId, 'hex')), field(10, Buffer.from(spanId, 'hex')), field(12, eventName)],
  ]);
  const orphan = { eventName, attributes };
  const logs = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [orphan, { eventName, traceId, spanId, attributes }] }] }] });
  const sent =
    kind === 'json' ? await send(receiver, logs, {}, '/v1/logs') : await send(receiver, field(1, field(2, field(2, record))), protobuf, '/v1/logs');
  expect(sent.status).toBe(200);
  const operation = { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } };
  const span = { traceId, spanId, name: 'chat m', startTimeUnixNano: '1793491200000000000', attributes: [operation] };
  await send(receiver, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }));
  expect((await send(receiver, '{"resourceLogs":{}}', {}, '/v1/logs')).status).toBe(400);
  await receiver.server.close();
  expect(receiver.problems).toEqual([]);
  const { chain } = receiver;
  expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([['user text  List the files', 'assistant text  There are two.']]);
});

test('[F42, F49] logs that come after their trace was stored are added to its conversation', { tags: 'long' }, async () => {
  const receiver = await receiving();
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const eventName = 'gen_ai.client.inference.operation.details';
  const attributesOf = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: value } : { stringValue: typeof value === 'string' ? value : JSON.stringify(value) },
    }));
  const said1 = [{ role: 'user', parts: [{ type: 'text', content: 'List the files' }] }];
  const said2 = [{ role: 'assistant', parts: [{ type: 'text', content: 'There are two.' }] }];
  const said3 = [{ role: 'user', parts: [{ type: 'text', content: 'Thanks' }] }];
  const span = (spanId: string, second: number, more: Readonly<Record<string, unknown>> = {}) => ({
    ...{ traceId, spanId, name: 'chat m', startTimeUnixNano: `179349120${second}000000000` },
    attributes: attributesOf({ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c-1', ...more }),
  });
  const spans = (...some: object[]): Promise<Response> => send(receiver, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: some }] }] }));
  const logs = (log: object): Promise<Response> =>
    send(receiver, JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] }), {}, '/v1/logs');
  await spans(span('b7ad6b7169203331', 0, { 'gen_ai.usage.input_tokens': 7 }));
  await vi.waitFor(() => expect(listSources(receiver.chain)).not.toEqual([]), { timeout: 30_000, interval: 20 });
  const messages = { 'gen_ai.input.messages': said1, 'gen_ai.output.messages': said2 };
  await logs({ eventName, traceId, spanId: 'b7ad6b7169203331', timeUnixNano: '1793491201000000000', attributes: attributesOf(messages) });
  const told = (): string[] => said(receiver.chain, tips(receiver.chain, {})[0]?.id as never, 'root').filter((line) => !line.includes(' event '));
  const first = ['user text  List the files', 'assistant text  There are two.'];
  await vi.waitFor(() => expect(told()).toEqual(first), { timeout: 30_000, interval: 20 });
  await spans(span('b7ad6b7169203332', 2, { 'gen_ai.input.messages': [...said1, ...said2, ...said3], 'gen_ai.output.messages': said2 }));
  // The spans of this trace never came.
  await logs({ eventName, traceId: '1'.repeat(32), spanId: '1'.repeat(16), attributes: attributesOf(messages) });
  await receiver.server.close();
  expect(told()).toEqual([...first, 'user text  Thanks', 'assistant text  There are two.']);
  expect(tips(receiver.chain, {})).toHaveLength(1);
  expect(receiver.problems).toEqual([`Logs of the trace ${'1'.repeat(32)} came without its spans, so they were not stored.`]);
  expect(receiver.chain.db.all('SELECT input FROM usageCall ORDER BY input')).toEqual([{ input: null }, { input: 7 }]);
});

test('[F42] only programs with the token are let in', async () => {
  const receiver = await receiving();
  const body = fixture('turn-1.json');
  expect((await send(receiver, body, { authorization: 'Bearer another' })).status).toBe(401);
  expect((await send(receiver, body, { authorization: '' })).status).toBe(401);
  expect((await send(receiver, body, { origin: 'https://example.org' })).status).toBe(403);
  expect((await send(receiver, body, {}, '/v1/other')).status).toBe(404);
  await receiver.server.close();
  expect(tips(receiver.chain, {})).toEqual([]);
});

test('[F42] bodies that are no export are refused with a reason, and the next one is read', async () => {
  const receiver = await receiving();
  const cases: readonly (readonly [Uint8Array | string, Record<string, string>, number])[] = [
    ['{"resourceSpans":', {}, 400],
    ['{"resourceSpans":{}}', {}, 400],
    ['[]', {}, 400],
    [new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), protobuf, 400],
    ['x', { 'content-type': 'text/plain' }, 415],
    ['x', { 'content-encoding': 'gzip' }, 400],
    ['x', { 'content-encoding': 'br' }, 415],
  ];
  for (const [body, headers, status] of cases) {
    const answer = await send(receiver, body, headers);
    expect([answer.status, ((await answer.json()) as { message: string }).message.length > 10]).toEqual([status, true]);
  }
  // Logs, metrics and spans of other programs are accepted and dropped.
  expect((await send(receiver, '{}', {}, '/v1/logs')).status).toBe(200);
  const other = { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: '33', spanId: '1', name: 'GET /', attributes: [] }] }] }] };
  expect((await send(receiver, JSON.stringify(other))).status).toBe(200);
  expect((await send(receiver, fixture('turn-1.json'))).status).toBe(200);
  await receiver.server.close();
  expect(readdirSync(receiver.folder)).toHaveLength(1);
  expect(receiver.problems).toEqual([]);
});

test('[F42] 200,000 spans without an outermost one are taken in proportional time', () => {
  // Each span once looked through all spans before it.
  const receiver = openReceiver({ folder: join(scratch(), 'received'), importFile: async () => {}, problem: () => {} });
  const spans = Array.from({ length: 200_000 }, (_, at) => ({
    resource: {},
    scope: {},
    item: { traceId: 't', spanId: String(at), parentSpanId: 'p' },
  }));
  const before = performance.now();
  receiver.take('spans', spans, 0);
  expect(performance.now() - before).toBeLessThan(20_000);
});

test('[F42] an export of millions of empty spans is refused before it is parsed', async () => {
  const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(5_000_000)}{}]}]}]}`;
  expect((await send(await receiving(), body)).status).toBe(400);
});

/** The number of bytes as protobuf writes it. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** A field of any length. */
const long = (number: number, content: Uint8Array): Buffer => Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);

/** An attribute whose value is a list in a list, and so on. */
function nested(levels: number): Buffer {
  let value: Buffer = field(1, 'x');
  for (let at = 0; at < levels; at++) value = long(5, long(1, value));
  return long(9, Buffer.concat([field(1, 'key'), long(2, value)]));
}

const inSpan = (content: Uint8Array): Buffer => long(1, long(2, long(2, content)));
const repeated = (one: Uint8Array, times: number): Buffer => Buffer.concat(Array.from({ length: times }, () => one));
const nestedJson = `{"arrayValue":{"values":[`.repeat(2_000) + ']}}'.repeat(2_000);

test.each([
  ['lists in lists', () => inSpan(nested(2_000)), protobuf],
  ['lists in lists, as JSON', () => Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"value":${nestedJson}}]}]}]}]}`), {}],
  ['millions of empty spans', () => long(1, long(2, repeated(Buffer.from([0x12, 0]), 3_000_000))), protobuf],
  ['millions of empty attributes', () => inSpan(repeated(Buffer.from([0x4a, 0]), 3_000_000)), protobuf],
  ['millions of fields of no message', () => inSpan(repeated(Buffer.from([0x50, 1]), 5_000_000)), protobuf],
  ['millions of empty lists, as JSON', () => Buffer.from(`{"resourceSpans":[${'[],'.repeat(5_000_000)}[]]}`), {}],
  ['a length beyond the end', () => Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]), protobuf],
  ['a length that does not end', () => Buffer.from([0x0a, ...Array(20).fill(0xff)]), protobuf],
  ['a group', () => Buffer.from(Array(100_000).fill(0x0b)), protobuf],
])('[F42] an export of %s is refused before it is decoded, packed too', async (_, make, kind) => {
  const receiver = await receiving();
  const body = make();
  const before = process.memoryUsage().rss;
  for (const [bytes, more] of [
    [body, {}],
    [gzipSync(body), { 'content-encoding': 'gzip' }],
  ] as const) {
    const started = performance.now();
    const answer = await send(receiver, bytes, { ...kind, ...more });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { message: string }).message).not.toMatch(/call stack/i);
    expect(performance.now() - started).toBeLessThan(10_000);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2);
  expect((await send(receiver, fixture('turn-1.pb'), protobuf)).status).toBe(200);
  await receiver.server.close();
  expect(receiver.problems).toEqual([]);
});

test('[F42] a small packed body does not unpack without bound', async () => {
  const receiver = await receiving();
  const body = gzipSync(Buffer.alloc(60 * 1024 ** 2, 0x20), { level: 9 });
  expect(body.length).toBeLessThan(100_000);
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 4; i++)
    expect(await (await send(receiver, body, { 'content-encoding': 'gzip' })).json()).toMatchObject({ message: expect.stringContaining('unpacked') });
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 ** 2);
  // A body that says that it is too long is refused before it arrives.
  const { server } = receiver;
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${2 ** 30}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 413 /);
});

test('[F42] a large resource is neither written for each trace nor compared for each span', { tags: 'long' }, async () => {
  const receiver = await receiving();
  const resource = { attributes: [{ key: 'text', value: { stringValue: 'x'.repeat(1_000_000) } }] };
  const exportOf = (spans: readonly object[]): Buffer => gzipSync(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }));
  const packed = { 'content-encoding': 'gzip' };
  const genAi = [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }];
  const traces = Array.from({ length: 5_000 }, (_, at) => ({ traceId: at.toString(16).padStart(32, '0'), spanId: '1', attributes: genAi }));
  expect((await send(receiver, exportOf(traces), packed)).status).toBe(413);
  const spans = traces.map((span, at) => ({ ...span, traceId: '1'.repeat(32), spanId: at.toString(16).padStart(16, '0') }));
  const started = performance.now();
  expect((await send(receiver, exportOf(spans), packed)).status).toBe(200);
  await receiver.server.close();
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(readdirSync(receiver.folder)).toHaveLength(1);
});

test('[F42] while spans are stored slower than they arrive, further ones are refused for a while', async () => {
  let store: () => void = () => {};
  const slow = new Promise<void>((resolve) => {
    store = resolve;
  });
  const receiver = openReceiver({ folder: join(scratch(), 'received'), importFile: () => slow, problem: () => {} });
  const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }];
  const one = (at: number) => ({ resource: {}, scope: {}, item: { traceId: `t${at}`, spanId: '1', attributes } });
  const bytes = 60 * 1024 ** 2;
  for (let at = 0; at < 3; at++) receiver.take('spans', [one(at)], bytes);
  expect(() => receiver.take('spans', [one(4)], bytes)).toThrow('not stored yet');
  store();
  await receiver.flush();
  receiver.take('spans', [one(5)], bytes);
  await receiver.flush();
});
