import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../../src/core/base/index.js';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import type { CapturedCall } from '../../../../src/core/contract/index.js';
import { listSources } from '../../../../src/core/import/index.js';
import { captureCall, diffRequests, getRequest, listParts, listRequests, requestSeries } from '../../../../src/core/requests/index.js';
import { answer, call, prompt, result } from '../../../support/claude-lines.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, emptyProject, heldClock, scratch } from '../../../support/project.js';
import { type Message, openWriter } from '../../../support/request-records.js';

type Body = Record<string, unknown>;
const at = '2026-01-01T00:00:00.000Z' as CapturedCall['at'];
const paths = { anthropic: '/v1/messages', openai: '/v1/responses', gemini: '/v1beta/models/gemini-9:streamGenerateContent' } as const;

const seen = (provider: CapturedCall['provider'], body: Body, reply: unknown, more: Partial<CapturedCall> = {}): CapturedCall => ({
  provider,
  path: paths[provider],
  at,
  headers: { 'user-agent': 'test-agent/1.2.3 (here)', 'anthropic-version': '2023-06-01' },
  body: JSON.stringify(body),
  status: 200,
  reply: typeof reply === 'string' ? reply : JSON.stringify(reply),
  ...more,
});

function imported(chain: WriteChain, text: string, name = 's1.jsonl'): WriteChain {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  importInto(chain, path);
  return chain;
}

const text = (words: string) => ({ type: 'text', text: words });
const mark = { cache_control: { type: 'ephemeral' } };

/** A body of Claude Code: a billing block that changes with every call, cache marks that move on, an account. */
const claudeBody = (turn: number, messages: unknown[]): Body => ({
  model: 'claude-test',
  messages: messages.map((message, index) =>
    index === messages.length - 1
      ? { ...(message as Body), content: [{ ...((message as { content: Body[] }).content[0] as Body), ...mark }] }
      : message,
  ),
  system: [text(`x-anthropic-billing-header: cc_version=1; cch=${turn}`), { ...text('You help. '.repeat(100)), ...mark }],
  tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }],
  metadata: { user_id: JSON.stringify({ device_id: 'd3v1ce', account_uuid: 'acc0unt', session_id: '11111111-2222-4333-8444-555555555555' }) },
  max_tokens: 100,
  stream: true,
});

const without = ({ metadata: _, user: __, client_metadata: ___, ...rest }: Body): Body => rest;

describe('a call that was seen on the wire', () => {
  test('[R1] its body comes back as sent and verified, and shared parts are stored once', () => {
    const chain = emptyChain();
    const messages: unknown[] = [];
    const bodies = Array.from({ length: 12 }, (_, turn) => {
      messages.push({ role: 'user', content: [text(`question ${turn} ${'words '.repeat(200)}`)] });
      const body = claudeBody(turn, [...messages]);
      messages.push({ role: 'assistant', content: [text(`answer ${turn}`)] });
      return body;
    });
    const ids = bodies.map(
      (body, turn) => captureCall(chain, seen('anthropic', body, { type: 'message', id: `msg_${turn}`, content: [] })).requestId,
    );
    const listed = listRequests(chain, {});
    expect(listed.map(({ requestId, proof, source, problem }) => ({ requestId, proof, source, problem }))).toEqual(
      ids.map((requestId) => ({ requestId, proof: 'digest', source: 'wire', problem: undefined })),
    );
    for (const [turn, id] of ids.entries()) {
      const got = getRequest(chain, id);
      expect(JSON.stringify(got.body)).toBe(JSON.stringify(without(bodies[turn] as Body)));
      expect(got).toMatchObject({ provider: 'anthropic', proof: 'digest', missing: ['metadata'], headers: { 'anthropic-version': '2023-06-01' } });
    }
    const stored = chain.db.one<{ shapes: number; messages: number }>(
      'SELECT (SELECT COUNT(*) FROM requestShape) AS shapes, (SELECT COUNT(*) FROM requestMessage) AS messages',
    );
    expect(stored).toEqual({ shapes: 1, messages: 23 });
    expect(listParts(chain)).toMatchObject([{ calls: 12, agents: ['test-agent'], versions: ['1.2.3'] }, { calls: 12 }]);
    expect(diffRequests(chain, ids[0] as string, ids[1] as string).cache).toMatchObject({ prefix: { messages: 1 }, brokenAt: null });
  });

  test.each([
    [
      'OpenAI chat',
      'openai',
      {
        model: 'gpt',
        messages: [
          { role: 'system', content: 'help' },
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
          { role: 'tool', tool_call_id: 'c1', content: 'done' },
        ],
        tools: [{ type: 'function', function: { name: 'f' } }],
        stream: true,
        user: 'acc0unt',
      },
      {
        id: 'chatcmpl-1',
        choices: [{ message: { role: 'assistant', content: 'hello' } }],
        usage: { prompt_tokens: 30, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 10 } },
      },
      { input: 20, output: 4, cacheRead: 10, cacheWrite: null },
    ],
    [
      'OpenAI responses',
      'openai',
      {
        model: 'gpt',
        instructions: 'help',
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
          { type: 'function_call_output', call_id: 'c1', output: 'x' },
        ],
        tools: [],
        stream: true,
        client_metadata: { thread_id: 't-1', 'x-codex-installation-id': 'acc0unt' },
      },
      'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","output":[{"type":"message","id":"m1","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":30,"output_tokens":4,"input_tokens_details":{"cached_tokens":10}}}}\n\n',
      { input: 20, output: 4, cacheRead: 10, cacheWrite: null },
    ],
    [
      'OpenAI responses with a bare question',
      'openai',
      { model: 'gpt', input: 'just words' },
      '',
      { input: null, output: null, cacheRead: null, cacheWrite: null },
    ],
    [
      'Gemini',
      'gemini',
      {
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args: {} } }] },
        ],
        systemInstruction: { role: 'user', parts: [{ text: 'help' }] },
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        generationConfig: { topK: 1 },
      },
      'data: {"candidates":[{"content":{"parts":[{"text":"hel"}]}}],"responseId":"r1"}\r\n\r\ndata: {"candidates":[{"content":{"parts":[{"text":"lo"}]}}],"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":4}}\r\n\r\n',
      { input: 30, output: 4, cacheRead: null, cacheWrite: null },
    ],
  ] as const)('%s: body and usage in the words of its provider', (_, provider, body, reply, usage) => {
    const chain = emptyChain();
    const { requestId } = captureCall(chain, seen(provider, body, reply));
    const got = getRequest(chain, requestId);
    expect(JSON.stringify(got.body)).toBe(JSON.stringify(without(body)));
    expect(got).toMatchObject({ provider, proof: 'digest' });
    expect(listRequests(chain, {})).toMatchObject([{ tokens: usage, model: provider === 'gemini' ? 'gemini-9' : 'gpt', proof: 'digest' }]);
    expect(atOnce(requestSeries(chain, {}))).toHaveLength(1);
  });

  test('any JSON comes back as it was sent, whoever it was for', { tags: 'long' }, () => {
    const key = fc.oneof(fc.constantFrom('role', 'content', 'type', 'text', 'cache_control', 'id', 'constructor'), fc.string({ maxLength: 6 }));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }));
    const message = fc.dictionary(key, value, { maxKeys: 4 });
    const body = fc.record(
      {
        model: fc.string(),
        messages: fc.array(message, { maxLength: 4 }),
        input: fc.array(message, { maxLength: 4 }),
        contents: fc.array(message, { maxLength: 4 }),
        system: fc.array(message, { maxLength: 2 }),
        instructions: fc.string(),
        systemInstruction: message,
        tools: fc.array(message, { maxLength: 2 }),
        temperature: fc.double({ noNaN: true, noDefaultInfinity: true }),
      },
      { requiredKeys: [] },
    );
    const chain = emptyChain();
    fc.assert(
      fc.property(fc.constantFrom('anthropic', 'openai', 'gemini' as const), body, (provider, sent) => {
        const plain = JSON.parse(JSON.stringify(sent)) as Body;
        const { requestId } = captureCall(chain, seen(provider as 'openai', plain, ''));
        const got = getRequest(chain, requestId);
        expect(got.problem).toBeUndefined();
        expect(got.proof).toBe('digest');
        expect(got.body).toEqual(plain);
      }),
      { numRuns: 150 },
    );
  });

  test('__proto__ is a member like any other, and a cache mark below it is reported', () => {
    const chain = emptyChain();
    const odd = JSON.parse('{"model":"m","messages":[{"role":"user","__proto__":{"a":[1]},"content":[]}],"__proto__":{"b":2}}') as Body;
    expect(JSON.stringify(getRequest(chain, captureCall(chain, seen('anthropic', odd, '')).requestId).body)).toBe(JSON.stringify(odd));
    const marked = JSON.parse('{"model":"m","messages":[{"role":"user","__proto__":{"cache_control":1},"content":[]}]}') as Body;
    const got = getRequest(chain, captureCall(chain, seen('anthropic', marked, '')).requestId);
    expect(got).toMatchObject({ proof: 'recorded', problem: expect.stringContaining('which does not exist') });
    expect(({} as Body).cache_control).toBeUndefined();
  });

  test.each([
    ['no JSON', 'not json'],
    ['a list', '[]'],
  ])('a body that is %s is refused, and nothing is stored', (_, body) => {
    const chain = emptyChain();
    expect(() => captureCall(chain, { ...seen('openai', {}, ''), body })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
    expect(listRequests(chain, {})).toEqual([]);
  });
});

describe('where a captured call belongs', () => {
  const session =
    prompt('u1', 'list the files') +
    call('a1', 't1', 'Bash', { command: 'ls' }, { parent: 'u1' }) +
    result('r1', 't1', 'README.md', { parent: 'a1' }) +
    answer('a2', 'One file, and it is the README.', { parent: 'r1' });
  const first = seen(
    'anthropic',
    { model: 'm', messages: [{ role: 'user', content: 'list the files' }] },
    { type: 'message', id: 'msg_x', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] },
  );
  const second = seen(
    'anthropic',
    {
      model: 'm',
      messages: [
        { role: 'user', content: 'list the files' },
        { role: 'assistant', content: 'ls' },
      ],
    },
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"One file, and"}}\n\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":" it is the README."}}\n\n',
  );

  test.each(['before', 'after'])('[R1] captured %s its transcript is imported, it stands at the commit that holds its answer', (when) => {
    const chain = emptyChain(heldClock(Date.parse(at)));
    if (when === 'after') imported(chain, session);
    const ids = [first, second].map((each) => captureCall(chain, each).requestId);
    if (when === 'before') imported(chain, session);
    const rows = listRequests(chain, { sessionId: 's1' });
    expect(rows.map(({ requestId, replyKey, proof }) => [requestId, replyKey, proof])).toEqual([
      [ids[0], 'a1.0', 'digest'],
      [ids[1], 'a2.0', 'digest'],
    ]);
    for (const row of rows) {
      expect(row.commit).not.toBeNull();
      expect(listRequests(chain, { id: row.commit as never }).map((each) => each.requestId)).toContain(row.requestId);
    }
    expect(listSources(chain).map(({ format }) => format)).toEqual(['claude-code-v1']);
  });

  test('words that two sessions share join each to its own', () => {
    const chain = emptyChain(heldClock(Date.parse(at)));
    const body = (id: string) => ({ model: 'm', input: [{ role: 'user', content: id }], client_metadata: { thread_id: id } });
    const ids = ['s2', 's1'].map(
      (id) => captureCall(chain, seen('openai', body(id), { output: [{ id: 'm', content: [{ text: 'Done.' }] }] })).requestId,
    );
    imported(chain, prompt('u1', 'go', { session: 's1' } as never) + answer('a1', 'Done.', { parent: 'u1' }));
    expect(listRequests(chain, { sessionId: 's1' })).toMatchObject([{ requestId: ids[1], replyKey: 'a1.0' }]);
    expect(listRequests(chain, { sessionId: 's2' })).toMatchObject([{ requestId: ids[0], replyKey: null, commit: null }]);
  });

  test('a call that is recorded and captured is one call at the recorded place', () => {
    const writer = openWriter('s1', 'agent7');
    const messages: Message[] = [{ role: 'user', content: [text('one')] }];
    writer.prompt('one');
    const sent = writer.send({ system: [text('help')], tools: [] }, [...messages]);
    writer.reply([text('yes')]);
    const chain = imported(emptyChain(heldClock(Date.parse(at))), writer.text());
    const [recorded] = listRequests(chain, {});
    const messageId = chain.db.one<{ replyMessage: string }>('SELECT replyMessage FROM request')?.replyMessage;
    const { requestId } = captureCall(chain, seen('anthropic', sent.body, { type: 'message', id: messageId, content: [text('yes')] }));
    expect(listRequests(chain, {})).toMatchObject([
      { requestId, source: 'wire', proof: 'digest', agentId: 'agent7', sessionId: 's1', commit: recorded?.commit, replyKey: recorded?.replyKey },
    ]);
    expect(getRequest(chain, requestId).digest).toBe(recorded && getRequest(chain, recorded.requestId).digest);
  });
});

describe('secrets of the sender', () => {
  test('[R5] no header, key, cookie or account of a captured call is anywhere in the store', () => {
    const project = emptyProject();
    const secrets = ['sk-ant-very-secret', 'Bearer tok-secret', 'sid=cookie-secret', 'acc0unt', 'd3v1ce'];
    captureCall(
      project.chain,
      seen('anthropic', claudeBody(1, [{ role: 'user', content: [text('a question that is stored')] }]), '', {
        headers: { 'x-api-key': secrets[0] as string, authorization: secrets[1] as string, cookie: secrets[2] as string, 'user-agent': 'a/1' },
      }),
    );
    captureCall(project.chain, seen('openai', { model: 'm', input: 'x', user: 'acc0unt', client_metadata: { a: 'd3v1ce' } }, ''));
    project.chain.db.run("INSERT INTO requestReply (project, mark, request) SELECT project, 'probe-that-is-found', no FROM request");
    const files = readdirSync(project.dir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const bytes = Buffer.concat(files.map((each) => readFileSync(join(each.parentPath, each.name))));
    const texts = project.chain.db
      .all<{ no: number }>('SELECT no FROM artifact')
      .map(({ no }) => Buffer.from(project.chain.artifacts.read(no as never)));
    const all = Buffer.concat([bytes, ...texts]);
    expect(all.includes('probe-that-is-found')).toBe(true);
    expect(all.includes('a question that is stored')).toBe(true);
    for (const secret of secrets) expect(all.includes(secret), secret).toBe(false);
  });
});
