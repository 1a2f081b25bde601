import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/base/index.js';
import { checkpoint, type WriteChain } from '../../../src/core/chain/index.js';
import type { CapturedCall, Commit } from '../../../src/core/contract/index.js';
import { captureCall, getRequest, listRequests } from '../../../src/core/requests/index.js';
import { openQuestions, reproduceTurn, rerunTurn, turnRequest } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';
import { drained, scripted } from '../../support/scripted-model.js';

/** A turn, and its call as recorded on the wire. */
function seen(provider: CapturedCall['provider'], path: string, body: JsonObject, reply: Json): { chain: WriteChain; turn: Commit } {
  const chain = emptyChain();
  const text = prompt('u1', 'fix it') + answer('a1', 'It is done now.', { parent: 'u1' });
  const turn = checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 'coder', checkpoint: 'turn_boundary' });
  captureCall(chain, { provider, path, at: turn.createdAt, headers: {}, body: JSON.stringify(body), status: 200, reply: JSON.stringify(reply) });
  const [row] = listRequests(chain, { turnId: turn.id });
  expect(row).toMatchObject({ source: 'wire', proof: 'digest', commit: turn.id });
  return { chain, turn };
}

const said = { choices: [{ message: { role: 'assistant', content: 'It is done now.' } }] };
const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const again = { kind: 'text', delta: 'Done again.' } as const;

describe('[R1] rerun of a turn whose call was recorded on the wire', () => {
  test('chat completions: the recorded body is sent, and the run is verified', async () => {
    const body = {
      model: 'gpt-test',
      temperature: 0.5,
      seed: 7,
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: [{ type: 'text', text: 'fix it' }], name: 'ann' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'reads', parameters } }],
    };
    const { chain, turn } = seen('openai', '/v1/chat/completions', body as unknown as JsonObject, said);
    const { result } = await drained(rerunTurn(chain, { turnId: turn.id, provider: 'openai' }, [scripted('openai', [again])]));
    const [call] = listRequests(chain, { id: result.commits[0] as Commit['id'] });
    expect(call).toMatchObject({ source: 'stemma', proof: 'digest', model: 'gpt-test' });
    expect(getRequest(chain, call?.requestId ?? '').body).toEqual(body);
    expect(reproduceTurn(chain, result.commits[0] as Commit['id'])).toMatchObject({ identical: true });
    const edits = [{ op: 'replace' as const, key: 'u1.0' as never, entry: { role: 'user' as const, kind: 'text' as const, text: 'look only' } }];
    const { result: edited } = await drained(rerunTurn(chain, { turnId: turn.id, provider: 'openai', edits }, [scripted('openai', [again])]));
    const [changed] = listRequests(chain, { id: edited.commits[0] as Commit['id'] }).filter(({ source }) => source === 'stemma');
    expect(changed).toMatchObject({ proof: 'digest' });
    expect(getRequest(chain, changed?.requestId ?? '').body).toEqual(JSON.parse(JSON.stringify(body).replace('fix it', 'look only')));
    const more = [{ op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: 'and be brief' } }];
    const { result: longer } = await drained(rerunTurn(chain, { turnId: turn.id, provider: 'openai', edits: more }, [scripted('openai', [again])]));
    const [written] = listRequests(chain, { id: longer.commits[0] as Commit['id'] }).filter(({ source }) => source === 'stemma');
    expect(getRequest(chain, written?.requestId ?? '').body).toMatchObject({
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'fix it' },
        { role: 'user', content: 'and be brief' },
      ],
    });
  });

  const calls = [
    [
      'the Responses API',
      'openai',
      '/v1/responses',
      {
        model: 'gpt-test',
        instructions: 'You help.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] }],
        tools: [{ type: 'function', name: 'read', description: 'reads', parameters }],
        store: false,
        temperature: 0.5,
        prompt_cache_key: 'k',
      },
      { id: 'r1', output: [{ type: 'message', id: 'm1', role: 'assistant', content: [{ type: 'output_text', text: 'It is done now.' }] }] },
    ],
    [
      'Codex, whose instructions are an item',
      'openai',
      '/v1/responses',
      {
        model: 'gpt-test',
        input: [
          { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You help.' }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] },
        ],
        tools: [{ type: 'function', name: 'read', description: 'reads', parameters }],
        temperature: 0.5,
      },
      { id: 'r1', output: [{ type: 'message', id: 'm1', role: 'assistant', content: [{ type: 'output_text', text: 'It is done now.' }] }] },
    ],
    [
      'Gemini',
      'gemini',
      '/v1beta/models/gemini-test:generateContent',
      {
        systemInstruction: { parts: [{ text: 'You help.' }] },
        contents: [{ role: 'user', parts: [{ text: 'fix it' }] }],
        tools: [{ functionDeclarations: [{ name: 'read', description: 'reads', parametersJsonSchema: parameters }] }],
        generationConfig: { topK: 3, temperature: 0.5 },
      },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'It is done now.' }] } }] },
    ],
  ] as const;

  test.each(calls)('%s: the recorded request, converted to the wire format of the rerun', async (_name, provider, path, body, reply) => {
    const { chain, turn } = seen(provider, path, body as unknown as JsonObject, reply as unknown as Json);
    expect(turnRequest(chain, turn, 'anthropic')).toMatchObject({ system: ['You help.'], tools: [{ name: 'read', input_schema: parameters }] });
    const { result } = await drained(rerunTurn(chain, { turnId: turn.id, provider: 'openai' }, [scripted('openai', [again])]));
    const [call] = listRequests(chain, { id: result.commits[0] as Commit['id'] });
    expect(getRequest(chain, call?.requestId ?? '').body).toEqual({
      // The server of another kind does not offer the recorded model.
      model: 'm',
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'fix it' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'reads', parameters } }],
    });
  });
  const wires = { openai: 'responses', gemini: 'gemini' } as const;

  test.each(calls)(
    '%s: this very body is sent to a server of its kind, and what it seals goes back to it',
    async (_name, provider, path, body, reply) => {
      const { chain, turn } = seen(provider, path, body as unknown as JsonObject, reply as unknown as Json);
      const wire = wires[provider];
      const name = wire === 'gemini' ? 'thoughtSignature' : 'encrypted_content';
      const call = { kind: 'tool_call', toolCallId: 'c1', toolName: 'read', arguments: { path: '/q' } } as const;
      const seal = { kind: 'signature', name, signature: 'sealed' } as const;
      const model = scripted(wire, wire === 'gemini' ? [call, seal] : [{ kind: 'thinking', delta: 'hm' }, seal, call], [again]);
      const questions = openQuestions(chain.newId);
      const { result } = await drained(
        rerunTurn(chain, { turnId: turn.id, provider: wire, unanswered: 'ask' }, [model], undefined, questions),
        ({ questionId }) => questionId && questions.answer(questionId, { text: 'what it says', isError: false }),
      );
      const { stream: _, ...same } = body as { stream?: true };
      const [first, second] = model.asked;
      expect(first).toEqual({ model: wire === 'gemini' ? 'gemini-test' : 'gpt-test', body: same, headers: {} });
      const list = wire === 'gemini' ? 'contents' : 'input';
      const [sent, then] = [first, second].map((each) => each?.body[list]) as [Json[], Json[]];
      expect(then.slice(0, sent.length)).toEqual(sent);
      expect(then.slice(sent.length)).toEqual(
        wire === 'gemini'
          ? [
              { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'read', args: { path: '/q' } }, thoughtSignature: 'sealed' }] },
              { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'read', response: { output: 'what it says' } } }] },
            ]
          : [
              { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sealed' },
              { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{"path":"/q"}' },
              { type: 'function_call_output', call_id: 'c1', output: 'what it says' },
            ],
      );
      const [row] = listRequests(chain, { id: result.commits[0] as Commit['id'] });
      expect(row).toMatchObject({ source: 'stemma', proof: 'digest' });
      expect(getRequest(chain, row?.requestId ?? '')).toMatchObject({ provider, body: same });
    },
  );

  test.each(calls)('%s: changed parts are sent, and all other parts stay as recorded', async (_name, provider, path, body, reply) => {
    const { chain, turn } = seen(provider, path, body as unknown as JsonObject, reply as unknown as Json);
    const wire = wires[provider];
    const model = scripted(wire, [again], [again]);
    const { tools, settings } = turnRequest(chain, turn, wire);
    const other = { name: 'list', description: 'lists', input_schema: { type: 'object' } };
    const request = { system: ['Be brief.'], tools: [...(tools as Record<string, unknown>[]), other], settings: { ...settings, extra: 1 } };
    await drained(rerunTurn(chain, { turnId: turn.id, provider: wire, request }, [model]));
    const edits = [{ op: 'replace' as const, key: 'u1.0' as never, entry: { role: 'user' as const, kind: 'text' as const, text: 'look only' } }];
    await drained(rerunTurn(chain, { turnId: turn.id, provider: wire, edits }, [model]));
    const asString = (value: unknown): string => JSON.stringify(value);
    const [changed, edited] = model.asked.map((each) => asString(each.body));
    const own = { gemini: '"parametersJsonSchema"', responses: '"strict":false' }[wire];
    for (const [text, isThere] of [
      ['Be brief.', true],
      ['You help.', false],
      ['fix it', true],
      ['"extra":1', true],
      ['"lists"', true],
      [own, true],
    ] as const)
      expect(changed?.includes(text), text).toBe(isThere);
    expect(edited).toBe(
      asString(Object.fromEntries(Object.keys(model.asked[1]?.body ?? {}).map((key) => [key, (body as JsonObject)[key]]))).replace(
        'fix it',
        'look only',
      ),
    );
  });
});
