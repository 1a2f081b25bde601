import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { capturedCall } from '../../../src/core/contract/index.js';
import { captureCall, getRequest, listRequests } from '../../../src/core/requests/index.js';
import { defaultUpstreams, parseUpstream, startProxy } from '../../../src/main/proxy/index.js';
import { emptyProject } from '../../support/project.js';

const key = 'sk-very-secret-0123456789';
const body = { model: 'm-1', max_tokens: 5, messages: [{ role: 'user', content: 'hello there' }], stream: true };
const events = (count: number): string[] => [
  `event: message_start\ndata: {"type":"message_start","message":{"type":"message","id":"msg_1","usage":{"input_tokens":7}}}\n\n`,
  ...Array.from({ length: count }, (_, at) => `data: {"type":"content_block_delta","delta":{"text":"päce ${at} "}}\n\n`),
  `data: {"type":"message_delta","usage":{"output_tokens":3}}\n\n`,
];

/** A provider on this machine, a proxy in front of it, and a project that records the calls. */
async function recording(answer: RequestListener) {
  const seen: { request: IncomingMessage; body: Promise<Buffer> }[] = [];
  const server = createServer((incoming, response) => {
    seen.push({ request: incoming, body: whole(incoming) });
    answer(incoming, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const upstream = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  const project = emptyProject();
  const problems: string[] = [];
  const proxy = await startProxy({
    upstreams: { anthropic: upstream, openai: upstream, gemini: upstream },
    record: async (call) => captureCall(project.chain, capturedCall.parse(call)),
    problem: (error) => problems.push(error.message),
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await proxy.close();
  });
  return { seen, proxy, project, problems, upstream };
}

async function whole(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // The part of a broken stream that arrived.
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch {}
  return Buffer.concat(chunks);
}

interface Asked {
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly data?: string | Buffer;
}

function ask(port: number, { path = '/anthropic/v1/messages?beta=true', headers = {}, data = JSON.stringify(body) }: Asked = {}) {
  const call = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { 'x-api-key': key, 'X-Odd-Case': 'Kept', ...headers },
  });
  call.end(data);
  return call;
}

async function answerTo(call: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return answer;
}

test('forwards requests and replies unchanged, keys and spelling included', async () => {
  const { seen, proxy, project } = await recording((incoming, response) => {
    incoming.resume();
    response.sendDate = false;
    response.writeHead(200, 'Quite Fine', ['Content-Type', 'text/event-stream', 'X-Twice', 'a', 'X-Twice', 'b']);
    response.end(events(3).join(''));
  });
  const answer = await answerTo(ask(proxy.port, { headers: { connection: 'x-hop', 'x-hop': 'one' } }));
  expect((await whole(answer)).toString()).toBe(events(3).join(''));
  expect([answer.statusCode, answer.statusMessage]).toEqual([200, 'Quite Fine']);
  expect(answer.rawHeaders.slice(0, 6)).toEqual(['Content-Type', 'text/event-stream', 'X-Twice', 'a', 'X-Twice', 'b']);
  expect(answer.headers.date).toBeUndefined();
  const [arrived] = seen;
  expect(arrived?.request.url).toBe('/base/v1/messages?beta=true');
  expect((await arrived?.body)?.toString()).toBe(JSON.stringify(body));
  expect(arrived?.request.rawHeaders).toEqual(expect.arrayContaining(['x-api-key', key, 'X-Odd-Case', 'Kept']));
  expect(arrived?.request.headers['x-hop']).toBeUndefined();
  expect(arrived?.request.headers.host).not.toContain(String(proxy.port));

  await proxy.close();
  const [row] = listRequests(project.chain, {});
  expect(row).toMatchObject({ source: 'wire', model: 'm-1', messageCount: 1, proof: 'digest', tokens: { input: 7, output: 3 } });
  expect(getRequest(project.chain, row?.requestId ?? '').body).toEqual(body);
});

test('forwards a piece of a stream before the next one exists', async () => {
  let go = (_: string): void => {};
  const { proxy } = await recording((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    go = (text) => void (text === '' ? response.end() : response.write(text));
  });
  // The headers arrive before the reply has begun.
  const answer = await answerTo(ask(proxy.port));
  const pieces = answer[Symbol.asyncIterator]();
  for (const event of events(4)) {
    go(event);
    expect(String((await pieces.next()).value)).toBe(event);
  }
  go('');
  expect((await pieces.next()).done).toBe(true);
});

test.each([
  [429, { 'retry-after': '7', 'x-should-retry': 'true' }, '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'],
  [529, {}, '{"type":"error","error":{"type":"overloaded_error","message":"later"}}'],
])('forwards an error with status %i and records the call', async (status, headers, text) => {
  const { proxy, project, problems } = await recording((incoming, response) => {
    incoming.resume();
    response.writeHead(status, headers).end(text);
  });
  const answer = await answerTo(ask(proxy.port));
  expect([answer.statusCode, (await whole(answer)).toString()]).toEqual([status, text]);
  expect(answer.headers).toMatchObject(headers);
  await proxy.close();
  expect(listRequests(project.chain, {})).toHaveLength(1);
  expect(problems).toEqual([]);
});

test('a reply that breaks off breaks off for the client, after everything that arrived', async () => {
  const sent = events(2_000).join('');
  const { proxy, project } = await recording((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sent, () => response.socket?.destroySoon());
  });
  const answer = await answerTo(ask(proxy.port));
  const came = await whole(answer);
  expect(came.toString()).toBe(sent);
  expect(answer.complete).toBe(false);
  await proxy.close();
  expect(listRequests(project.chain, {})[0]).toMatchObject({ tokens: { input: 7 } });
});

test('a client that hangs up ends the call at the provider, and the request is recorded', async () => {
  let gone: Promise<unknown> = Promise.resolve();
  const { proxy, project } = await recording((incoming, response) => {
    incoming.resume();
    gone = once(response, 'close');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events(0)[0] ?? '');
  });
  const call = ask(proxy.port).on('error', () => {});
  const answer = await answerTo(call);
  answer.on('error', () => {});
  await once(answer, 'data');
  call.destroy();
  await gone;
  await proxy.close();
  expect(listRequests(project.chain, {})).toHaveLength(1);
});

test('a client that does not read slows the provider down', { tags: 'long' }, async () => {
  const total = 64 * 1024 * 1024;
  let written = 0;
  const { proxy } = await recording((incoming, response) => {
    incoming.resume();
    response.writeHead(200);
    const piece = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      while (written < total) {
        written += piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const answer = await answerTo(ask(proxy.port));
  // It has stopped if nothing arrives for a while.
  for (let before = -1; before !== written; ) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  expect(written).toBeLessThan(total);
  expect((await whole(answer)).length).toBe(total);
});

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('%s stays compressed on the way and is decoded for the record', async (name, pack) => {
  const packed = pack(Buffer.from(events(50).join('')));
  const { seen, proxy, project } = await recording((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-encoding': name, 'content-length': packed.length }).end(packed);
  });
  const data = pack(Buffer.from(JSON.stringify(body)));
  const answer = await answerTo(ask(proxy.port, { data, headers: { 'content-encoding': name } }));
  expect((await whole(answer)).equals(packed)).toBe(true);
  expect((await seen[0]?.body)?.equals(data)).toBe(true);
  await proxy.close();
  expect(listRequests(project.chain, {})[0]).toMatchObject({ model: 'm-1', tokens: { input: 7, output: 3 } });
});

test('[R5] no file of the project contains a key', async () => {
  const { proxy, project, problems } = await recording((incoming, response) => {
    incoming.resume();
    response.end(JSON.stringify({ type: 'message', id: `msg_${key}`, content: [{ type: 'text', text: key }] }));
  });
  const messages = [{ role: 'user', content: `my key is ${key}, see` }];
  const escaped = JSON.stringify({ ...body, messages }).replace(key, key.replace('s', '\\u0073'));
  const headers: NonNullable<Asked['headers']>[] = [
    { 'x-api-key': key },
    { 'x-api-key': [], authorization: `Bearer ${key}` },
    { 'x-api-key': [], 'x-goog-api-key': key },
    { 'x-api-key': [], cookie: `a=b; session=${key}` },
  ];
  for (const each of headers)
    for (const data of [JSON.stringify({ ...body, messages }), escaped])
      await whole(await answerTo(ask(proxy.port, { data, headers: { ...each, 'user-agent': `agent/${key}` } })));
  const inQuery = `/gemini/v1beta/models/g:generateContent?key=${key}`;
  await whole(
    await answerTo(
      ask(proxy.port, { path: inQuery, data: JSON.stringify({ contents: [{ parts: [{ text: key }] }] }), headers: { 'x-api-key': [] } }),
    ),
  );
  await proxy.close();
  expect(problems).toEqual([]);
  const rows = listRequests(project.chain, {});
  expect(rows).toHaveLength(9);
  expect(getRequest(project.chain, rows[0]?.requestId ?? '').body.messages).toEqual([
    { role: 'user', content: 'my key is [withheld: a credential], see' },
  ]);
  // Searches compressed content after decompression.
  expect(JSON.stringify(rows.map((row) => [row, getRequest(project.chain, row.requestId)]))).not.toContain(key.slice(3));
  const files = readdirSync(project.dir, { recursive: true, withFileTypes: true }).flatMap((file) =>
    file.isFile() ? [join(file.parentPath, file.name)] : [],
  );
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((file) => readFileSync(file).includes(key.slice(3)))).toEqual([]);
});

test('a call that cannot be recorded still reaches the model', async () => {
  const { proxy, problems, project } = await recording((incoming, response) => {
    incoming.resume();
    response.end('fine');
  });
  expect((await whole(await answerTo(ask(proxy.port, { data: 'not json' })))).toString()).toBe('fine');
  expect((await whole(await answerTo(ask(proxy.port, { data: '[]' })))).toString()).toBe('fine');
  // Counting tokens is no call to a model.
  expect((await whole(await answerTo(ask(proxy.port, { path: '/anthropic/v1/messages/count_tokens' })))).toString()).toBe('fine');
  await proxy.close();
  expect(problems).toHaveLength(2);
  expect(listRequests(project.chain, {})).toEqual([]);
});

test('refuses a provider that does not answer, an unknown path, and a web page', async () => {
  const { proxy, upstream } = await recording((_, response) => response.end());
  const free = createServer();
  await once(free.listen(0, '127.0.0.1'), 'listening');
  upstream.port = String((free.address() as AddressInfo).port);
  free.close();
  await once(free, 'close');
  const statusOf = async (asked: Asked): Promise<number | undefined> => (await answerTo(ask(proxy.port, asked))).resume().statusCode;
  expect(await statusOf({})).toBe(502);
  expect(await statusOf({ path: '/elsewhere' })).toBe(404);
  expect(await statusOf({ path: '/anthropics/v1/messages' })).toBe(404);
  expect(await statusOf({ headers: { origin: 'http://evil.example' } })).toBe(404);
  expect(await statusOf({ headers: { host: 'evil.example' } })).toBe(404);
  // Half a request is no call.
  const half = connect(proxy.port, '127.0.0.1');
  half.end('POST /anthropic/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 50\r\n\r\n{"model"');
  await once(half.resume(), 'close');
});

test('parses upstreams as PROVIDER=URL', () => {
  expect(parseUpstream('openai=http://127.0.0.1:8000/v1')).toEqual({ provider: 'openai', url: new URL('http://127.0.0.1:8000/v1') });
  for (const bad of ['', 'openai', 'openai=', 'nobody=http://127.0.0.1', 'openai=file:///x', 'openai=http://127.0.0.1/?key=a'])
    expect(parseUpstream(bad), bad).toBeTypeOf('string');
  expect(defaultUpstreams.anthropic.protocol).toBe('https:');
});
