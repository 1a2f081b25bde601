import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelProvider, ModelRequest, ReplyPiece } from '../../../src/core/project/index.js';
import { anthropicProvider, openaiProvider } from '../../../src/main/providers/index.js';

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

type Answer = (response: ServerResponse, asked: Asked) => void;

/** A server on loopback that gives each answer in turn, and the last one again and again. */
async function serving(...answers: Answer[]): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      asked.push({ path: request.url, headers: request.headers, body: JSON.parse(text || '{}') as Record<string, unknown> });
      (answers[asked.length - 1] ?? answers.at(-1))?.(response, asked.at(-1) as Asked);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const stream = (response: ServerResponse, values: readonly unknown[], end = true): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const value of values) response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  if (end) response.end();
};

async function replyOf(provider: ModelProvider, request: Partial<ModelRequest> = {}, signal?: AbortSignal): Promise<ReplyPiece[]> {
  const pieces: ReplyPiece[] = [];
  for await (const piece of provider.stream({ model: 'm', body: { model: 'm', messages: [] }, headers: {}, ...request }, signal)) pieces.push(piece);
  return pieces;
}

const anthropicEvents = [
  { type: 'message_start', message: {} },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüße' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't1', name: 'Read', input: {} } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"path":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"/q"}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  { type: 'message_stop' },
];

describe('the Messages API', () => {
  test('a reply arrives piece by piece: thinking, its signature, text, and calls whole', async () => {
    const { url, asked } = await serving((response) => stream(response, anthropicEvents));
    const pieces = await replyOf(anthropicProvider({ url, key: 'k' }), {
      body: { model: 'm', messages: [], tools: [] },
      headers: { 'anthropic-beta': 'b' },
    });
    expect(pieces).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'signature', signature: 'sig' },
      { kind: 'text', delta: 'Grüße' },
      { kind: 'tool_call', toolCallId: 't1', toolName: 'Read', arguments: { path: '/q' } },
    ]);
    expect(asked[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', 'anthropic-beta': 'b' },
      body: { model: 'm', stream: true, tools: [] },
    });
  });

  test('a limit is waited out as long as the provider says, an overload too, and then it is answered', async () => {
    const { url, asked } = await serving(
      (response) => response.writeHead(429, { 'retry-after': '0.01' }).end('{"error":{"message":"slow down"}}'),
      (response) => response.writeHead(529, { 'retry-after': '0.01' }).end(),
      (response) => stream(response, anthropicEvents),
    );
    expect(await replyOf(anthropicProvider({ url, key: 'k' }))).toHaveLength(4);
    expect(asked).toHaveLength(3);
  });

  test('what a provider refuses is said in its own words, and the key is in none of them', async () => {
    const { url, asked } = await serving((response) => response.writeHead(400).end('{"error":{"message":"messages: too long"}}'));
    const refused = replyOf(anthropicProvider({ url, key: 'sk-secret' }));
    await expect(refused).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      data: { status: 400 },
      message: expect.stringContaining('messages: too long'),
    });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('sk-secret') });
    expect(asked).toHaveLength(1);
  });

  test.each([
    [
      'an error in the middle',
      (response: ServerResponse) => stream(response, [...anthropicEvents.slice(0, 7), { type: 'error', error: { message: 'overloaded' } }]),
      /overloaded/,
    ],
    ['a stream that only ends', (response: ServerResponse) => stream(response, anthropicEvents.slice(0, 7)), /before it was whole/],
    [
      'a line that is cut',
      (response: ServerResponse) => {
        stream(response, anthropicEvents.slice(0, 3), false);
        setTimeout(() => response.destroy(), 20);
      },
      /broke off/,
    ],
    ['events that are no JSON', (response: ServerResponse) => stream(response, ['{"type": broken']), /cannot be read/],
    ['a server in trouble', (response: ServerResponse) => response.writeHead(500, { 'retry-after': '0.01' }).end('oops'), /500: oops/],
  ] as const)('%s is an error that says so', async (_, answer, message) => {
    const { url } = await serving(answer as Answer);
    await expect(replyOf(anthropicProvider({ url, key: 'k' }))).rejects.toThrow(message);
  });

  test('a stop ends the reply without an error', async () => {
    const { url } = await serving((response) => stream(response, anthropicEvents.slice(0, 7), false));
    const stop = new AbortController();
    const pieces: ReplyPiece[] = [];
    for await (const piece of anthropicProvider({ url, key: 'k' }).stream({ model: 'm', body: {}, headers: {} }, stop.signal)) {
      pieces.push(piece);
      if (piece.kind === 'text') stop.abort();
    }
    expect(pieces.at(-1)).toEqual({ kind: 'text', delta: 'Grüße' });
  });
});

describe('chat completions', () => {
  const chunk = (delta: unknown, finish: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const provider = (url: string, key?: string) => openaiProvider({ url: `${url}/v1`, id: 'local', title: 'Local', key, listTimeoutMs: 500 });

  test('text, reasoning, and calls put together from their pieces', async () => {
    const { url, asked } = await serving((response) =>
      stream(response, [
        chunk({ reasoning_content: 'hm' }),
        chunk({ content: 'Let me ' }),
        chunk({ content: 'look.' }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'Read', arguments: '{"pa' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: 'th":"/q"}' } }] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]),
    );
    expect(await replyOf(provider(url, 'k'))).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'text', delta: 'Let me ' },
      { kind: 'text', delta: 'look.' },
      { kind: 'tool_call', toolCallId: 'c1', toolName: 'Read', arguments: { path: '/q' } },
    ]);
    expect(asked[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer k' }, body: { stream: true } });
  });

  test('a server that is there lists its models, one that is not says so', async () => {
    const { url } = await serving((response) => response.writeHead(200).end('{"data":[{"id":"qwen3"},{"id":"llama"}]}'));
    expect(await provider(url).models()).toEqual({ models: ['qwen3', 'llama'] });
    expect(await provider('http://127.0.0.1:1').models()).toMatchObject({ models: [], problem: expect.stringContaining('cannot be reached') });
  });
});
