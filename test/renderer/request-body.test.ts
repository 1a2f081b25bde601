import './page.js';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { curlOf, isMissing, shownBody } from '../../src/renderer/views/request/body.js';
import { isInstalled } from '../support/machine.js';
import { type Message, openWriter } from '../support/request-records.js';
import { callsOf } from '../support/requests.js';

test.skipIf(!isInstalled('curl')).each([
  ['anthropic', '/v1/messages', 'ANTHROPIC', 'x-api-key', { model: 'm', messages: [{ role: 'user', content: "it's ünïcode\n$HOME `x`" }] }],
  ['openai', '/chat/completions', 'OPENAI', 'authorization', { model: 'm', messages: [{ role: 'user', content: 'hello' }] }],
  ['openai', '/responses', 'OPENAI', 'authorization', { model: 'm', input: [{ type: 'message', role: 'user', content: 'hello' }] }],
  ['gemini', '/v1beta/models/m:generateContent', 'GEMINI', 'x-goog-api-key', { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }],
] as const)(
  'the command of a call to %s %s sends its body, and a key of the environment (needs curl)',
  async (provider, path, name, header, body) => {
    const seen: { url: string | undefined; key: unknown; beta: unknown; body: string }[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (data) => (text += data));
      request.on('end', () => {
        seen.push({ url: request.url, key: request.headers[header], beta: request.headers['anthropic-beta'], body: text });
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const command = curlOf({ provider, body, headers: { 'anthropic-beta': 'a,b' }, model: 'm' });
    expect(command).toContain(`$${name}_API_KEY`);
    const env = { PATH: process.env.PATH, [`${name}_API_KEY`]: 'sk-of-mine', [`${name === 'GEMINI' ? 'GOOGLE_GEMINI' : name}_BASE_URL`]: address };
    await promisify(execFile)('bash', ['-c', command], { env }).finally(() => server.close());
    expect(seen.map(({ body: text, ...rest }) => ({ ...rest, body: JSON.parse(text) }))).toEqual([
      { url: path, key: provider === 'openai' ? 'Bearer sk-of-mine' : 'sk-of-mine', beta: 'a,b', body },
    ]);
  },
);

test('the parts of a request and its cache prefix add up to the same tokens', () => {
  const writer = openWriter('s1');
  const shape = {
    system: [{ type: 'text', text: 'You help — gladly.', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'read', description: 'reads', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }],
  };
  writer.prompt('look');
  const asked = {
    role: 'user',
    content: [
      { type: 'text', text: '<system-reminder>\nnote\n</system-reminder>' },
      { type: 'text', text: 'look' },
    ],
  };
  writer.send({ ...shape, system: [{ type: 'text', text: 'You help — gladly.' }] }, [asked], {
    marks: [{ path: ['system', 0], value: { type: 'ephemeral' } }],
  });
  const said = writer.reply([
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a.txt' } },
  ]);
  const result: Message = {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: 'line' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
        ],
      },
    ],
  };
  writer.send({ ...shape, system: [{ type: 'text', text: 'You help — gladly.' }] }, [asked, said, result]);
  writer.reply([{ type: 'text', text: 'done' }]);
  const calls = callsOf(writer.text());
  expect(calls).toHaveLength(2);
  for (const { request, same } of calls) {
    const { tokens, messages } = shownBody(request);
    expect(same.cache.prefix).toEqual({ messages: messages.length, tokens: tokens.system + tokens.tools + tokens.messages });
  }
});

test('items and parts of every provider get the right kind and title', () => {
  const kinds = (body: Record<string, unknown>) =>
    shownBody({ body }).messages.flatMap(({ parts }) => parts.map(({ kind, title, text }) => [kind, title, text]));
  expect(
    kinds({
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' },
        { type: 'function_call', name: 'run', arguments: '{"a":1}', call_id: 'c' },
        { type: 'function_call_output', call_id: 'c', output: 'fine' },
      ],
    }),
  ).toEqual([
    ['thinking', 'Thinking', 'hm'],
    ['call', 'run', '{"a":1}'],
    ['result', 'Result', 'fine'],
  ]);
  expect(
    kinds({
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'run', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'fine' },
      ],
    }),
  ).toEqual([
    ['call', 'run', '{}'],
    ['result', 'Result', 'fine'],
  ]);
  const gemini = {
    systemInstruction: { parts: [{ text: 'You help.' }] },
    tools: [{ functionDeclarations: [{ name: 'run' }, { name: 'stop' }] }],
    contents: [
      { role: 'model', parts: [{ functionCall: { name: 'run', args: { a: 1 } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'run', response: 1 } }] },
    ],
  };
  expect(kinds(gemini).map(([kind, title]) => [kind, title])).toEqual([
    ['call', 'run'],
    ['result', 'Result'],
  ]);
  expect(shownBody({ body: gemini })).toMatchObject({ system: [{ text: 'You help.' }], tools: [{ title: 'run, stop' }] });
});

test('missing parts are found by the field names of each provider', () => {
  expect(isMissing('system', ['instructions', 'tools'])).toBe(true);
  expect(isMissing('system', ['systemInstruction'])).toBe(true);
  expect(isMissing('params', ['generationConfig'])).toBe(true);
  expect(isMissing('params', ['tools'])).toBe(false);
});
