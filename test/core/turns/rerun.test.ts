import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, entries, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit } from '../../../src/core/contract/index.js';
import { getRequest, listRequests } from '../../../src/core/requests/index.js';
import {
  compareTurns,
  type ModelProvider,
  openQuestions,
  type ReplyPiece,
  reproduceTurn,
  rerunTurn,
  rowFacts,
  turnOf,
  turnRequest,
} from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, heldClock } from '../../support/project.js';
import { drained, scripted } from '../../support/scripted-model.js';

const turn = (chain: WriteChain, text: string): Commit =>
  checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 'coder', checkpoint: 'turn_boundary' });

const reading = (chain: WriteChain): Commit =>
  turn(
    chain,
    prompt('u1', 'fix it') +
      call('c1', 't1', 'Read', { file_path: '/q.js' }, { parent: 'u1' }) +
      result('r1', 't1', 'const n = 1;', { parent: 'c1' }) +
      answer('a1', 'done', { parent: 'r1' }),
  );

const text = (delta: string): ReplyPiece => ({ kind: 'text', delta });
const reads = (id: string, path = '/q.js'): ReplyPiece => ({ kind: 'tool_call', toolCallId: id, toolName: 'Read', arguments: { file_path: path } });
const usage: ReplyPiece = { kind: 'usage', tokens: { input: 10, output: 5, cacheRead: 2 }, cost: 0.25 };

describe('runs of Stemma itself', () => {
  test('[W42] every turn that Stemma ran is rebuilt identical, on each wire', async () => {
    const chain = emptyChain();
    const { id: turnId } = reading(chain);
    const replies = (): ReplyPiece[][] => [
      [
        { kind: 'thinking', delta: 'let me ' },
        { kind: 'thinking', delta: 'look' },
        { kind: 'signature', signature: 'sig' },
        text('I look. '),
        reads('n1'),
        usage,
      ],
      [text('Grüße, it was 1'), { kind: 'end', reason: 'end_turn' }, usage],
    ];
    const edits = [{ op: 'replace' as const, key: 'u1.0' as EntryKey, entry: { role: 'user' as const, kind: 'text' as const, text: 'look only' } }];
    const request = { system: ['Be short.'], tools: [{ name: 'Read', input_schema: { type: 'object' } }], settings: { max_tokens: 99 } };
    for (const wire of ['anthropic', 'openai'] as const)
      for (const changed of [{}, { edits }, { request }, { edits, request }]) {
        const { result: ran } = await drained(rerunTurn(chain, { turnId, provider: wire, ...changed }, [scripted(wire, ...replies())]));
        const proof = reproduceTurn(chain, ran.commits[0] as ContextId);
        expect(proof).toMatchObject({ identical: true, calls: 2, differences: [], missing: [] });
        expect(proof.requestHash).toBe(proof.recordedHash);
      }
    const { result: said } = await drained(rerunTurn(chain, { turnId, provider: 'recorded' }, []));
    const kept = said.commits[0] as ContextId;
    expect(rowFacts(chain, [kept])).toMatchObject([{ ms: null, tools: 1, model: 'm' }]);
    expect(turnOf(chain, kept).calls).toMatchObject([{ ms: null, startedAt: null }]);
    expect(reproduceTurn(chain, said.commits[0] as ContextId)).toMatchObject({ identical: true, calls: 1 });
  });

  test('thinking that a provider does not show goes back to it with its signature', async () => {
    const chain = emptyChain();
    const { id: turnId } = reading(chain);
    const model = scripted('anthropic', [{ kind: 'signature', signature: 'sealed' }, reads('n1')], [text('Done.')]);
    await drained(rerunTurn(chain, { turnId, provider: 'anthropic' }, [model]));
    expect(JSON.stringify(model.asked[1]?.body)).toContain('{"type":"thinking","thinking":"","signature":"sealed"}');
  });

  test('an empty signature is no thought', async () => {
    const chain = emptyChain();
    const { id: turnId } = reading(chain);
    const model = scripted('anthropic', [text('I look.'), { kind: 'signature', signature: '' }, text(' Done.')]);
    const { result: ran } = await drained(rerunTurn(chain, { turnId, provider: 'anthropic' }, [model]));
    const { entries: made } = entries(chain, { id: ran.commits[0] as ContextId });
    expect(made.at(-1)).toMatchObject({ kind: 'text', text: 'I look. Done.' });
  });

  test('a body that cannot be rebuilt is not identical, and the part is named', async () => {
    const chain = emptyChain();
    const { result: ran } = await drained(
      rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic' }, [scripted('anthropic', [text('hi')])]),
    );
    const id = ran.commits[0] as ContextId;
    const stored = chain.db.one<{ calls: string }>('SELECT calls FROM modelRun')?.calls ?? '';
    chain.db.run(
      'UPDATE modelRun SET calls = ?',
      stored.replace(/"messages":\["..../, '"messages":["0000').replace(/"digest":"..../, '"digest":"0000'),
    );
    expect(reproduceTurn(chain, id)).toMatchObject({ identical: false, differences: [{ reason: expect.stringContaining('message 1 of 1') }] });
  });

  test('its calls are listed, and the turn has model, time and cost', async () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const provider = scripted('anthropic', [reads('n1'), usage], [text('it was 1'), usage]);
    const slow: ModelProvider = {
      ...provider,
      async *stream(asked, signal) {
        clock.at += 1_500;
        yield* provider.stream(asked, signal);
      },
    };
    const { parts, result: ran } = await drained(rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic', model: 'm2' }, [slow]));
    const id = ran.commits[0] as ContextId;
    const rows = listRequests(chain, { turnId: id });
    expect(rows).toMatchObject([
      { source: 'stemma', model: 'm2', messageCount: 1, proof: 'digest', tokens: { input: 10, output: 5, cacheRead: 2, cacheWrite: null } },
      { source: 'stemma', messageCount: 3, proof: 'digest' },
    ]);
    expect(getRequest(chain, rows[1]?.requestId ?? '').body).toEqual(provider.asked[1]?.body);
    expect(turnOf(chain, id)).toMatchObject({ model: 'm2', usage: { input: 20, output: 10 }, cost: 0.5 });
    expect(compareTurns(chain, ran.base, id).b).toMatchObject({ ms: 3_000, cost: 0.5 });
    expect(rowFacts(chain, [id])).toMatchObject([{ ms: 3_000, tools: 1 }]);
    expect(parts.filter((part) => part.kind === 'usage')).toHaveLength(2);
    expect(parts.at(-1)).toEqual({ sample: 0, kind: 'commit', delta: id });
  });
});

describe('a changed request', () => {
  test('changed system prompt, tools and settings are sent in each wire format', async () => {
    const chain = emptyChain();
    const { id: turnId } = reading(chain);
    const request = {
      system: ['Be short.', 'Be kind.'],
      tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
      settings: { temperature: 0.3, max_tokens: 50 },
    };
    const [anthropic, openai] = [scripted('anthropic', [text('a')]), scripted('openai', [text('b')])];
    await drained(rerunTurn(chain, { turnId, provider: 'anthropic', model: 'x', request }, [anthropic]));
    await drained(rerunTurn(chain, { turnId, provider: 'openai', model: 'y', request }, [openai]));
    expect(anthropic.asked[0]?.body).toMatchObject({
      model: 'x',
      system: [{ text: 'Be short.' }, { text: 'Be kind.' }],
      tools: request.tools,
      temperature: 0.3,
      max_tokens: 50,
    });
    expect(openai.asked[0]?.body).toMatchObject({
      model: 'y',
      temperature: 0.3,
      messages: [{ role: 'system', content: 'Be short.\n\nBe kind.' }, { role: 'user' }],
      tools: [{ type: 'function', function: { name: 'Read', description: 'reads', parameters: { type: 'object' } } }],
    });
    await expect(drained(rerunTurn(chain, { turnId, provider: 'recorded', request }, []))).rejects.toThrow(/Choose a model/);
  });

  test('the editable request is the one the turn used', async () => {
    const chain = emptyChain();
    const request = {
      system: ['Be short.'],
      tools: [{ name: 'Read', input_schema: { type: 'object' } }],
      settings: { max_tokens: 7, thinking: { type: 'disabled' } },
    };
    const { result: ran } = await drained(
      rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic', model: 'x', request }, [scripted('anthropic', [text('a')])]),
    );
    const row = { id: ran.commits[0] as ContextId };
    expect(turnRequest(chain, row, 'anthropic')).toMatchObject({ model: 'x', ...request });
    expect(turnRequest(chain, row, 'openai').settings).toEqual({ max_tokens: 7 });
  });
});

describe('calls without a recorded result', () => {
  test('wait for a person, whose answer goes to the model and the branch', async () => {
    const chain = emptyChain();
    const questions = openQuestions(() => 'q1');
    const provider = scripted('anthropic', [reads('n1', '/other')], [text('thanks')]);
    const { parts, result: ran } = await drained(
      rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic', unanswered: 'ask' }, [provider], undefined, questions),
      (part) => part.kind === 'question' && questions.answer(part.questionId ?? '', { text: 'let me = 2', isError: false }),
    );
    expect(parts.find((part) => part.kind === 'question')).toMatchObject({ toolName: 'Read', delta: '{"file_path":"/other"}' });
    expect(parts.find((part) => part.kind === 'tool_result')).toMatchObject({ from: 'person', delta: 'let me = 2' });
    expect(JSON.stringify(provider.asked[1]?.body.messages)).toContain('let me = 2');
    expect(entries(chain, { id: ran.commits[0] as ContextId }).entries.map((entry) => entry.text ?? entry.toolName)).toEqual([
      'fix it',
      'Read',
      'let me = 2',
      'thanks',
    ]);
    expect(() => questions.answer('q1', undefined)).toThrow(/No run waits/);
  });

  test('stop the run when the person says so, with the call open', async () => {
    const chain = emptyChain();
    const questions = openQuestions(() => 'q1');
    const { parts, result: ran } = await drained(
      rerunTurn(
        chain,
        { turnId: reading(chain).id, provider: 'anthropic', unanswered: 'ask' },
        [scripted('anthropic', [reads('n1', '/x')])],
        undefined,
        questions,
      ),
      (part) => part.kind === 'question' && questions.answer(part.questionId ?? '', undefined),
    );
    expect(parts.at(-2)).toMatchObject({ kind: 'notice', delta: expect.stringContaining('stays open') });
    expect(ran.commits).toHaveLength(1);
  });
});

describe('samples', () => {
  test('run in parallel; one that fails reports why, and the others continue', async () => {
    const chain = emptyChain();
    const provider = scripted('anthropic', [text('one')], new Error('the line is cut'), [text('three')]);
    const { parts, result: ran } = await drained(rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic', samples: 3 }, [provider]));
    expect(ran.commits).toHaveLength(2);
    expect(parts.filter((part) => part.kind === 'failed')).toEqual([{ sample: 1, kind: 'failed', delta: 'the line is cut' }]);
  });

  test('a stop ends all of them, and incomplete ones make no branch', async () => {
    const chain = emptyChain();
    const stop = new AbortController();
    const { id: turnId } = reading(chain);
    const before = tips(chain, {}).length;
    const provider: ModelProvider = {
      ...scripted('anthropic'),
      async *stream(_, signal) {
        yield text('a ');
        if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      },
    };
    const { result: ran } = await drained(rerunTurn(chain, { turnId, provider: 'anthropic', samples: 4 }, [provider], stop.signal), () =>
      stop.abort(),
    );
    expect(ran.commits).toEqual([]);
    expect(tips(chain, {}).length - before).toBeLessThanOrEqual(1);
  });

  test('a provider does not get the reason of a stop, because its error is stored', async () => {
    const chain = emptyChain();
    const stop = new AbortController();
    const reasons: unknown[] = [];
    const provider: ModelProvider = {
      ...scripted('anthropic'),
      async *stream(_, signal) {
        yield text('a ');
        if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        reasons.push(signal?.reason?.message);
      },
    };
    const running = rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic' }, [provider], stop.signal);
    await drained(running, () => stop.abort(new Error('a secret reason')));
    expect(reasons).toEqual(['This operation was aborted']);
  });

  test('the model call stops when the reader stops', async () => {
    const chain = emptyChain();
    let isStopped = false;
    const provider: ModelProvider = {
      ...scripted('anthropic'),
      async *stream(_, signal) {
        signal?.addEventListener('abort', () => {
          isStopped = true;
        });
        yield text('a ');
        yield text('b ');
      },
    };
    const running = rerunTurn(chain, { turnId: reading(chain).id, provider: 'anthropic' }, [provider]);
    await running.next();
    await running.return(undefined as never);
    expect(isStopped).toBe(true);
  });
});
