import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelProvider, ModelRequest, ReplyPiece } from '../../../src/core/project/index.js';
import { anthropicProvider, geminiProvider, openaiProvider, responsesProvider } from '../../../src/main/providers/index.js';
import { type Answer, completionEvents, type ModelServer, messageEvents, modelServer, stream } from '../../support/model-server.js';

async function serving(...answers: Answer[]): Promise<ModelServer> {
  const server = await modelServer(...answers);
  onTestFinished(() => server.close());
  return server;
}

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
  test('a reply arrives in pieces: thinking, its signature, text, and complete calls', async () => {
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
      { kind: 'end', reason: 'tool_use' },
    ]);
    expect(asked[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', 'anthropic-beta': 'b' },
      body: { model: 'm', stream: true, tools: [] },
    });
  });

  test('the parts of a signature are one signature, and each hidden thought has its own', async () => {
    const thought = (index: number, ...parts: string[]) => [
      { type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } },
      ...['', ...parts].map((signature) => ({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } })),
      { type: 'content_block_stop', index },
    ];
    const events = [...thought(0, 'a', 'b'), ...thought(1, 'c'), ...thought(2), { type: 'message_stop' }];
    const { url } = await serving((response) => stream(response, events));
    expect(await replyOf(anthropicProvider({ url, key: 'k' }))).toEqual([
      { kind: 'signature', signature: 'ab' },
      { kind: 'signature', signature: 'c' },
    ]);
  });

  test('a request on a connection that the server had closed is sent again on a new one', async () => {
    const answers = (response: ServerResponse): void => stream(response, anthropicEvents);
    const hangUp = (response: ServerResponse): void => void response.socket?.destroy();
    const { url, asked } = await serving(answers, hangUp, answers, hangUp, hangUp);
    const provider = anthropicProvider({ url, key: 'k' });
    const first = await replyOf(provider);
    expect(await replyOf(provider)).toEqual(first);
    expect(asked).toHaveLength(3);
    await expect(replyOf(provider)).rejects.toMatchObject({ message: expect.stringContaining('it cannot be reached') });
    expect(asked).toHaveLength(5);
  });

  test('waits out a rate limit or an overload as long as the provider says, then gets the reply', async () => {
    const { url, asked } = await serving(
      (response) => response.writeHead(429, { 'retry-after': '0.01' }).end('{"error":{"message":"slow down"}}'),
      (response) => response.writeHead(529, { 'retry-after': '0.01' }).end(),
      (response) => stream(response, anthropicEvents),
    );
    const pieces = await replyOf(anthropicProvider({ url, key: 'k' }));
    expect(pieces.slice(0, 2)).toMatchObject([
      { kind: 'waiting', ms: 10, reason: expect.stringContaining('429: slow down') },
      { kind: 'waiting', ms: 10, reason: expect.stringContaining('529') },
    ]);
    expect(pieces).toHaveLength(7);
    expect(asked).toHaveLength(3);
  });

  test('does not wait for a distant rate limit, and says when to retry', async () => {
    const { url, asked } = await serving((response) => response.writeHead(429, { 'retry-after': '600' }).end('{"error":{"message":"slow down"}}'));
    await expect(replyOf(anthropicProvider({ url, key: 'k' }))).rejects.toMatchObject({
      message: expect.stringContaining('Retry in 10 minutes'),
      data: { status: 429, retryAfterMs: 600_000 },
    });
    expect(asked).toHaveLength(1);
  });

  test('reads a date in retry-after; a stop ends the wait at once and without an error', async () => {
    const stop = new AbortController();
    const { url } = await serving((response) => response.writeHead(503, { 'retry-after': new Date(Date.now() + 50_000).toUTCString() }).end());
    const pieces: ReplyPiece[] = [];
    for await (const piece of anthropicProvider({ url, key: 'k' }).stream({ model: 'm', body: {}, headers: {} }, stop.signal)) {
      pieces.push(piece);
      stop.abort();
    }
    expect(pieces).toMatchObject([{ kind: 'waiting', reason: expect.stringContaining('503') }]);
    expect((pieces[0] as { ms: number }).ms).toBeGreaterThan(30_000);
  });

  test('a reply includes the counted tokens and the reason why it ended', async () => {
    const { url } = await serving((response) => stream(response, messageEvents({ text: 'one two' })));
    expect((await replyOf(anthropicProvider({ url, key: 'k' }))).filter(({ kind }) => kind === 'usage' || kind === 'end')).toEqual([
      { kind: 'usage', tokens: { input: 100, output: 1, cacheRead: 20 } },
      { kind: 'usage', tokens: { output: 42 } },
      { kind: 'end', reason: 'end_turn' },
    ]);
  });

  test('sends nothing without a key, and the error names the key', async () => {
    const { url, asked } = await serving();
    await expect(replyOf(anthropicProvider({ url, key: async () => undefined }))).rejects.toThrow(/has no key/);
    expect(asked).toEqual([]);
  });

  test("an error contains the provider's words and never the key", async () => {
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
    ['a stream that ends early', (response: ServerResponse) => stream(response, anthropicEvents.slice(0, 7)), /incomplete/],
    [
      'a line that is cut off',
      (response: ServerResponse) => {
        stream(response, anthropicEvents.slice(0, 3), false);
        setTimeout(() => response.destroy(), 20);
      },
      /broke off/,
    ],
    ['events that are not JSON', (response: ServerResponse) => stream(response, ['{"type": broken']), /not JSON/],
    ['a failing server', (response: ServerResponse) => response.writeHead(500, { 'retry-after': '0.01' }).end('oops'), /500: oops/],
  ] as const)('%s is an error that names the cause', async (_, answer, message) => {
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

  test('text and reasoning arrive in pieces; calls are assembled', async () => {
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
      { kind: 'end', reason: 'tool_calls' },
      { kind: 'tool_call', toolCallId: 'c1', toolName: 'Read', arguments: { path: '/q' } },
    ]);
    expect(asked[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer k' }, body: { stream: true } });
  });

  test('a running server lists its models; for another, the problem is named', async () => {
    const { url } = await serving((response) => response.writeHead(200).end('{"data":[{"id":"qwen3"},{"id":"llama"}]}'));
    expect(await provider(url).models()).toEqual({ models: ['qwen3', 'llama'] });
    expect(await provider('http://127.0.0.1:1').models()).toMatchObject({ models: [], problem: expect.stringContaining('cannot be reached') });
  });

  test('a server that cannot list models has none; one that refuses the key has a problem', async () => {
    const answering = async (status: number, body: string) => (await serving((response) => response.writeHead(status).end(body))).url;
    for (const [status, body] of [
      [404, 'no such page'],
      [200, '<html>'],
      [200, '{"data":[null,{"id":5}]}'],
    ] as const)
      expect(await provider(await answering(status, body)).models()).toEqual({ models: [] });
    expect(await provider(await answering(401, '{}')).models()).toMatchObject({ problem: expect.stringContaining('401') });
  });

  test('counts come after the last text, with cached tokens apart', async () => {
    const { url, asked } = await serving((response) => stream(response, completionEvents('all good')));
    const pieces = await replyOf(provider(url));
    expect(pieces.filter(({ kind }) => kind !== 'text')).toEqual([
      { kind: 'end', reason: 'stop' },
      { kind: 'usage', tokens: { input: 60, output: 9, cacheRead: 30 } },
    ]);
    expect(asked[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
  });

  test.each([
    [
      'an error in the middle',
      (response: ServerResponse) => stream(response, [chunk({ content: 'a' }), { error: { message: 'out of memory' } }]),
      /out of memory/,
    ],
    ['a stream that ends early', (response: ServerResponse) => stream(response, [chunk({ content: 'a' })]), /incomplete/],
    ['events that are not JSON', (response: ServerResponse) => stream(response, ['{"choices": broken']), /not JSON/],
    ['an unknown model', (response: ServerResponse) => response.writeHead(404).end('{"error":{"message":"no model m"}}'), /404: no model m/],
    [
      'a line that is cut off',
      (response: ServerResponse) => {
        stream(response, [chunk({ content: 'a' })], false);
        setTimeout(() => response.destroy(), 20);
      },
      /broke off/,
    ],
  ] as const)('%s is an error that names the cause', async (_, answer, message) => {
    const { url } = await serving(answer as Answer);
    await expect(replyOf(provider(url))).rejects.toThrow(message);
  });
});

describe('the Responses API', () => {
  const provider = (url: string) => responsesProvider({ url: `${url}/v1`, id: 'r', title: 'Responses', key: 'k' });
  const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
  const usage = { input_tokens: 90, input_tokens_details: { cached_tokens: 30 }, output_tokens: 9 };
  const completed = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } };

  test('thinking with its signature, text, and both kinds of calls', async () => {
    const { url, asked } = await serving((response) =>
      stream(response, [
        { type: 'response.created', response: { id: 'resp_1' } },
        { type: 'response.output_item.added', item: { type: 'reasoning', id: 'rs_1', summary: [] } },
        { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
        { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', delta: 'hm' },
        { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 1 },
        { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', delta: 'so' },
        done({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sealed' }),
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Let me ' },
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'look.' },
        done({ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] }),
        done({ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'shell', arguments: '{"cmd":"ls"}' }),
        done({ type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'apply_patch', input: '*** Begin' }),
        completed,
      ]),
    );
    expect(await replyOf(provider(url), { body: { model: 'm', input: [], store: false } })).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'thinking', delta: '\n\n' },
      { kind: 'thinking', delta: 'so' },
      { kind: 'signature', name: 'encrypted_content', signature: 'sealed' },
      { kind: 'text', delta: 'Let me ' },
      { kind: 'text', delta: 'look.' },
      { kind: 'tool_call', toolCallId: 'c1', toolName: 'shell', arguments: { cmd: 'ls' } },
      { kind: 'tool_call', toolCallId: 'c2', toolName: 'apply_patch', arguments: { input: '*** Begin' } },
      { kind: 'usage', tokens: { input: 60, output: 9, cacheRead: 30 } },
      { kind: 'end', reason: 'completed' },
    ]);
    expect(asked[0]).toMatchObject({
      path: '/v1/responses',
      headers: { authorization: 'Bearer k' },
      body: { model: 'm', input: [], store: false, stream: true },
    });
  });

  test('reads whole items too; a reply that was cut short says why', async () => {
    const { url } = await serving((response) =>
      stream(response, [
        done({ type: 'reasoning', id: 'rs_1', summary: [{ text: 'one' }, { text: 'two' }] }),
        done({
          type: 'message',
          id: 'msg_1',
          content: [
            { type: 'output_text', text: 'All ' },
            { type: 'refusal', refusal: 'no' },
          ],
        }),
        { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } },
      ]),
    );
    expect(await replyOf(provider(url))).toEqual([
      { kind: 'thinking', delta: 'one\n\ntwo' },
      { kind: 'text', delta: 'All no' },
      { kind: 'end', reason: 'max_output_tokens' },
    ]);
  });

  test.each([
    ['an error', [{ type: 'error', message: 'overloaded' }], /overloaded/],
    ['an error in its envelope', [{ type: 'error', error: { message: 'overloaded' } }], /overloaded/],
    ['a failure', [{ type: 'response.failed', response: { error: { message: 'the model broke' } } }], /the model broke/],
    ['a stream that ends early', [{ type: 'response.output_text.delta', delta: 'a' }], /incomplete/],
  ])('%s is an error that names the cause', async (_, values, message) => {
    const { url } = await serving((response) => stream(response, values));
    await expect(replyOf(provider(url))).rejects.toThrow(message);
  });
});

describe('Gemini', () => {
  const provider = (url: string) => geminiProvider({ url, key: 'k' });
  const said = (parts: readonly object[], more: object = {}) => ({ responseId: 'r1', candidates: [{ content: { role: 'model', parts }, ...more }] });

  test('thinking, text and calls with signatures; a call without an id gets one', async () => {
    const { url, asked } = await serving((response) =>
      stream(response, [
        said([{ text: 'hm', thought: true }]),
        said([{ text: 'Let me ' }]),
        said([{ text: 'look.' }]),
        said([{ functionCall: { id: 'c1', name: 'read', args: { path: '/q' } }, thoughtSignature: 'sig' }, { functionCall: { name: 'list' } }]),
        {
          ...said([{ text: '' }], { finishReason: 'STOP' }),
          usageMetadata: { promptTokenCount: 90, cachedContentTokenCount: 30, candidatesTokenCount: 5, thoughtsTokenCount: 4 },
        },
      ]),
    );
    expect(await replyOf(provider(url), { model: 'gemini-3/x', body: { contents: [] } })).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'text', delta: 'Let me ' },
      { kind: 'text', delta: 'look.' },
      { kind: 'tool_call', toolCallId: 'c1', toolName: 'read', arguments: { path: '/q' } },
      { kind: 'signature', name: 'thoughtSignature', signature: 'sig' },
      { kind: 'tool_call', toolCallId: 'call-r1-1', toolName: 'list', arguments: {} },
      { kind: 'usage', tokens: { input: 60, output: 9, cacheRead: 30 } },
      { kind: 'end', reason: 'STOP' },
    ]);
    expect(asked[0]).toMatchObject({
      path: '/v1beta/models/gemini-3%2Fx:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'k' },
      body: { contents: [] },
    });
  });

  test('lists models that answer; an address with a version stays as it is', async () => {
    const models = [
      { name: 'models/g-1', supportedGenerationMethods: ['generateContent'] },
      { name: 'models/e-1', supportedGenerationMethods: ['embedContent'] },
    ];
    const { url, asked } = await serving((response) => response.writeHead(200).end(JSON.stringify({ models })));
    expect(await provider(`${url}/v1/`).models()).toEqual({ models: ['g-1'] });
    expect(asked[0]?.path).toBe('/v1/models?pageSize=1000');
  });

  test.each([
    ['a refused prompt', [{ promptFeedback: { blockReason: 'SAFETY' } }], /SAFETY/],
    ['an error in the middle', [said([{ text: 'a' }]), { error: { message: 'overloaded' } }], /overloaded/],
    ['a stream that ends early', [said([{ text: 'a' }])], /incomplete/],
  ])('%s is an error that names the cause', async (_, values, message) => {
    const { url } = await serving((response) => stream(response, values));
    await expect(replyOf(provider(url))).rejects.toThrow(message);
  });
});
