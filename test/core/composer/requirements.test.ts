import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planCompaction } from '../../../src/core/composer/compact.js';
import {
  applyPatch,
  buildPatch,
  collectContexts,
  composeMessages,
  type PreviewRequest,
  type PreviewSources,
  previewRecorded,
  recordedLayers,
  requestBody,
  shortenMemory,
} from '../../../src/core/composer/index.js';
import { countMessage, dialogueOf } from '../../../src/core/composer/memory.js';
import type { Entry } from '../../../src/core/contract/index.js';
import { type ComposeInput, type MemoryMessage, type Process, processes } from '../../../src/core/contract/index.js';
import { countTokens, pairedCalls } from '../../../src/core/formats/index.js';
import { filesBelow, isSource, textAt } from '../../support/source.js';

const blocks = { framework__context: 'FW', experience__context: 'EXP', knowledge__context: 'KN', todo__context: 'TODO', compression__context: 'SUM' };
const human = (content: string, id?: string): MemoryMessage => ({ role: 'human', content, ...(id ? { id } : {}) });
const ai = (content: string, id?: string): MemoryMessage => ({ role: 'ai', content, ...(id ? { id } : {}) });
const compose = (more: Partial<ComposeInput> = {}) =>
  composeMessages({ systemPrompt: 'P', checkpointMessages: [human('hi'), ai('hello')], contexts: blocks, query: 'q', queryPath: 'runtime', ...more });
const layersOf = (process: Process, enableShareContext?: boolean): string[] =>
  compose({ process, ...(enableShareContext === undefined ? {} : { enableShareContext }) }).messages.map(({ layer }) => layer);
const agents: readonly Process[] = ['sequential', 'dynamic', 'hierarchical', 'react'];

const previewContext = (entries: readonly Entry[], sources: PreviewSources, request: PreviewRequest) =>
  previewRecorded(recordedLayers(pairedCalls(entries)), sources, request);

function reasonOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return (error as { data: { reason: unknown } }).data.reason;
  }
  return 'nothing was refused';
}

/** The code of a file without comments: the rules about prompts concern code. */
const codeOf = (path: string): string => textAt(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
const engine = filesBelow('src/core', isSource);

describe('duties', () => {
  test('[A-01, A-02, A-34] the collector makes blocks, the composer makes messages', () => {
    const state = { messages: [human('hi')], compression__context: 'SUM', todo: [{ content: 'draft', status: 'pending' }] };
    const before = structuredClone(state);
    const { contexts } = collectContexts({ state });
    expect(Object.values(contexts).every((text) => typeof text === 'string')).toBe(true);
    const { messages } = composeMessages({ systemPrompt: 'P', checkpointMessages: state.messages, contexts, query: null, queryPath: 'checkpoint' });
    expect(messages.map(({ layer }) => layer)).toEqual(['system_prompt', 'todo__context', 'compression__context', 'checkpoint_messages']);
    expect(state).toEqual(before);
    // Sent messages cannot enter memory as they are: system messages are filtered out.
    expect(applyPatch({ messages: [] }, buildPatch({}, [['memory.append', messages]])).messages).toEqual([human('hi')]);
  });

  test('[A-03] unknown arguments are refused, a state included', () => {
    expect(
      reasonOf(() => composeMessages({ systemPrompt: 'P', checkpointMessages: [], contexts: {}, queryPath: 'none', state: { messages: [] } })),
    ).toBe('UNEXPECTED_ARGUMENT');
  });

  const text = fc.string({ unit: 'grapheme', maxLength: 12 });
  const memory = fc.array(
    fc.record({
      role: fc.constantFrom('human' as const, 'ai' as const, 'tool' as const),
      content: text,
      id: fc.string({ minLength: 1, maxLength: 4 }).map((id) => `m-${id}`),
    }),
    { maxLength: 6 },
  );
  const contexts = fc.dictionary(
    fc.oneof(
      fc.constantFrom(...Object.keys(blocks)),
      fc.string({ minLength: 1, maxLength: 5 }).map((name) => `${name}__context`),
    ),
    fc.oneof(text, fc.integer(), fc.constant(null)),
    { maxKeys: 8 },
  );
  const input = fc
    .record({
      systemPrompt: text,
      checkpointMessages: memory,
      contexts,
      query: fc.option(text),
      queryPath: fc.constantFrom('checkpoint' as const, 'runtime' as const, 'none' as const),
      humanMessage: fc.option(text),
      process: fc.constantFrom(...processes),
      enableShareContext: fc.boolean(),
    })
    .filter(({ queryPath, checkpointMessages }) => queryPath !== 'checkpoint' || checkpointMessages.some(({ role }) => role === 'human'))
    .filter(({ queryPath, query }) => queryPath !== 'none' || !query?.trim())
    .filter(({ queryPath, process }) => queryPath !== 'checkpoint' || !process?.startsWith('mapreduce'))
    .filter(({ queryPath, query, humanMessage }) => !humanMessage?.trim() || (queryPath !== 'checkpoint' && !query?.trim()));

  test('[A-35] memory must contain its query, and no system message', () => {
    const memory = [human('hi', 'm1'), ai('hello', 'm2')];
    const send =
      (checkpointMessages: MemoryMessage[], more: object = {}) =>
      () =>
        composeMessages({ systemPrompt: 'P', checkpointMessages, contexts: {}, query: 'hi', queryPath: 'checkpoint', ...more });
    expect(reasonOf(send([]))).toBe('QUERY_NOT_IN_MEMORY');
    expect(reasonOf(send([ai('hello')]))).toBe('QUERY_NOT_IN_MEMORY');
    expect(reasonOf(send(memory, { turnId: 'm3' }))).toBe('QUERY_NOT_IN_MEMORY');
    expect(send(memory)().messages).toHaveLength(3);
    expect(send(memory, { turnId: 'm1' })().messages).toHaveLength(3);
    expect(reasonOf(send([...memory, { role: 'system', content: 's' }]))).toBe('SYSTEM_IN_MEMORY');
  });

  test('[A-04] composing is deterministic, ordered, and loses only what `dropped` lists', () => {
    fc.assert(
      fc.property(input, (given) => {
        const before = structuredClone(given);
        const first = composeMessages(given);
        expect(composeMessages(given)).toEqual(first);
        expect(given).toEqual(before);
        const shuffled = { ...given, contexts: Object.fromEntries(Object.entries(given.contexts).reverse()) };
        expect(composeMessages(shuffled)).toEqual(first);

        const kept = first.messages.filter(({ layer }) => layer === 'checkpoint_messages');
        const gone = (layer: string) => first.dropped.find((one) => one.layer === layer);
        if (gone('checkpoint_messages')) expect(kept).toEqual([]);
        else expect(kept.map(({ role, content, id }) => ({ role, content, id }))).toEqual(given.checkpointMessages);
        for (const [key, value] of Object.entries(given.contexts)) {
          const shown = first.messages.filter(({ layer }) => layer === key);
          expect(shown.length + (gone(key) ? 1 : 0)).toBe(1);
          if (shown[0]) expect(shown[0].content).toBe(String(value).trim());
        }
        const order = [
          'system_prompt',
          'framework__context',
          'experience__context',
          'knowledge__context',
          'todo__context',
          'compression__context',
          'further',
          'checkpoint_messages',
          'human_message',
          'query',
        ];
        const places = first.messages.map(({ layer }) => order.indexOf(order.includes(layer) ? layer : 'further'));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect(first.messages.every((message) => message.tokens === countMessage(message))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('[A-05] composer and state builder contain no prompt text', () => {
    for (const name of ['compose', 'state', 'reduce', 'memory', 'layers']) {
      const sentences = [...codeOf(`src/core/composer/${name}.ts`).matchAll(/(?:'([^'\n]*)'|`([^`\n]*)`)/g)].map(
        (match) => match[1] ?? match[2] ?? '',
      );
      expect(
        sentences.filter((words) => /\b(you|your|please|must|always|never use|use the|tool to)\b/i.test(words) && !/\bmust be named\b/.test(words)),
      ).toEqual([]);
    }
  });

  test('[A-06] a failing service loses its block only, and is named', () => {
    const chunk = { sourceId: 'kb', docId: 'd', chunkId: 'c', content: 'Alpha' };
    const services = {
      knowledge: { retrieve: () => [chunk] },
      experience: {
        retrieve: (): never => {
          throw new Error('no index');
        },
      },
      framework: { text: () => ' Limits. ' },
    };
    const { contexts, problems } = collectContexts({ state: {}, services, query: 'q' });
    expect(contexts).toEqual({
      framework__context: 'Limits.',
      knowledge__context: '# Knowledge Context\n\n## Chunks\n### Chunk 1\n- Source: kb / d\nAlpha',
    });
    expect(problems).toEqual([{ layer: 'experience__context', reason: 'no index' }]);
    expect(Object.keys(contexts).every((key) => key.endsWith('__context'))).toBe(true);
    expect(collectContexts({ state: {}, services, query: ' ' }).contexts).toEqual({ framework__context: 'Limits.' });
  });

  test('[A-07] memory and results change by their reducers only', () => {
    const state = { messages: [human('old', 'm1')], mapreduce_results: [{ task_id: 't0' }] };
    const appended = applyPatch(
      state,
      buildPatch(state, [
        ['memory.appendUser', ' new ', 'm2'],
        ['mapreduce.append', [{ task_id: 't1' }]],
      ]),
    );
    expect(appended).toEqual({ messages: [human('old', 'm1'), human('new', 'm2')], mapreduce_results: [{ task_id: 't0' }, { task_id: 't1' }] });
    expect(applyPatch(appended, buildPatch(appended, [['memory.replace', [human('only')]], ['mapreduce.reset']]))).toEqual({
      messages: [human('only')],
      mapreduce_results: [],
    });
  });

  test('[A-08] no other folder of the engine names layers, except the contract', () => {
    const elsewhere = engine.filter((path) => !path.startsWith('src/core/composer/') && !path.startsWith('src/core/contract/'));
    expect(elsewhere.filter((path) => /__context['"`\]]/.test(codeOf(path)))).toEqual([]);
  });
});

describe('layers and their order', () => {
  test('[A-09, A-18, A-19] all layers in order, each block as one system message', () => {
    const { messages } = compose({ contexts: { zeta__context: 'Z', ...blocks, alpha__context: 'A', é__context: 'E' } });
    expect(messages.map(({ role, content }) => `${role} ${content}`)).toEqual([
      'system P',
      'system FW',
      'system EXP',
      'system KN',
      'system TODO',
      'system SUM',
      'system A',
      'system Z',
      'system E',
      'human hi',
      'ai hello',
      'human q',
    ]);
  });

  test('[A-10] a key without the suffix is refused, whatever its value', () => {
    for (const key of ['todo_context', 'messages', '__context', 'todo__context ', 'Todo__Context'])
      expect(reasonOf(() => compose({ contexts: { [key]: null } }))).toBe('INVALID_CONTEXT_KEY');
    expect(reasonOf(() => compose({ contexts: { checkpoint_messages__context: 'x' } }))).toBe('RESERVED_CONTEXT_KEY');
  });

  test('[A-11] the system prompt is the first message, not a block and not a field of the state', () => {
    expect(compose({ systemPrompt: '  P ' }).messages[0]).toMatchObject({ role: 'system', content: '  P ', layer: 'system_prompt' });
    expect(reasonOf(() => compose({ contexts: { system_prompt__context: 'x' } }))).toBe('RESERVED_CONTEXT_KEY');
    expect(reasonOf(() => buildPatch({}, [['set', 'system_prompt', 'x']]))).toBe('UNKNOWN_STATE_KEY');
  });

  test('[A-12] memory is dialogue: calls and results enter and leave it together', () => {
    const exchange: MemoryMessage[] = [
      { role: 'ai', content: '', tool_calls: [{ id: 'c1', name: 'f', args: {} }] },
      { role: 'tool', content: '42', tool_call_id: 'c1' },
    ];
    expect(dialogueOf([human('u'), ...exchange, ai('done')])).toEqual([human('u'), ai(''), ai('done')]);
    expect(buildPatch({}, [['memory.appendToolExchange', exchange]]).messages).toEqual(exchange);
    for (const alone of exchange) expect(reasonOf(() => buildPatch({}, [['memory.appendToolExchange', [alone]]]))).toBe('UNPAIRED_TOOL_CALL');
    expect(
      buildPatch({}, [
        [
          'memory.append',
          [
            { role: 'system', content: 's' },
            { ...human('x'), internal: true },
          ],
        ],
      ]),
    ).toEqual({});
  });

  test('[A-13] the todo comes from the state or the runtime, with the delegated task', () => {
    const state = {
      todo: {
        goal: 'Ship',
        items: [
          { id: 't1', description: 'Draft', status: 'running', result: 'half' },
          { id: 't2', description: 'Review', status: 'pending' },
        ],
      },
      assigned_task: 'Read it',
    };
    expect(collectContexts({ state }).contexts.todo__context).toBe(
      '# Todo Context\n\n## Team Todo\n- goal: Ship\n- [running] [t1] Draft -> half\n- [pending] [t2] Review\n\n## Current Focus\n- [t2] Review\n\n## Assigned Task\n- Read it',
    );
    expect(collectContexts({ state, services: { todo: { text: () => 'mine' } } }).contexts.todo__context).toBe('mine');
    expect(collectContexts({ state: { todo: { items: 'broken' } } }).contexts).toEqual({});
    expect(reasonOf(() => buildPatch({}, [['set', 'todo__context', 'x']]))).toBe('UNKNOWN_STATE_KEY');
  });

  test('[A-14, A-33] compaction is one patch; a restored state composes to the same messages', () => {
    const long = Array.from({ length: 12 }, (_, place) =>
      place % 2 === 0 ? human(`question ${place}`, `m${place}`) : ai(`answer ${place}. Done with ${place}.`, `m${place}`),
    );
    const state = { messages: long };
    const { patch, summary, messages } = shortenMemory({ messages: long, keepLast: 2 });
    const after = applyPatch(state, patch);
    expect(after).toEqual({ messages, compression__context: summary });
    const send = (kept: typeof after) =>
      composeMessages({
        systemPrompt: 'P',
        checkpointMessages: kept.messages as MemoryMessage[],
        contexts: collectContexts({ state: kept }).contexts,
        query: null,
        queryPath: 'checkpoint',
      });
    const restored = JSON.parse(JSON.stringify(after)) as typeof after;
    expect(send(restored)).toEqual(send(after));
    const replayed = applyPatch(restored, buildPatch(restored, [['memory.appendUser', 'question 10', 'm10']]));
    expect((replayed.messages as MemoryMessage[]).filter(({ role }) => role === 'human')).toHaveLength(
      (after.messages as MemoryMessage[]).filter(({ role }) => role === 'human').length,
    );
    expect(shortenMemory({ messages: [...messages, ...long], previousSummary: summary, keepLast: 2 }).summary).toContain('answer 1.');
  });

  test('[A-15] a summary is never a system message in memory', () => {
    const { patch } = shortenMemory({
      messages: [human('a'), ai('b'), ai('c'), { role: 'system', content: 'old summary' }, human('d'), ai('e')],
      keepLast: 1,
    });
    expect((patch.messages as MemoryMessage[]).some(({ role }) => role === 'system')).toBe(false);
    expect(applyPatch({ messages: [] }, patch).compression__context).toContain('Extracts of');
  });

  test('[A-16, A-17, A-31] only the summary can be stored; other blocks in a state are ignored', () => {
    for (const key of Object.keys(blocks)) {
      const kept = reasonOf(() => buildPatch({}, [['set', key, 'x']]));
      expect(kept).toBe(key === 'compression__context' ? 'nothing was refused' : 'UNKNOWN_STATE_KEY');
    }
    expect(collectContexts({ state: { ...blocks } }).contexts).toEqual({ compression__context: 'SUM' });
  });

  test('[A-20] no argument moves the summary', () => {
    expect(reasonOf(() => compose({ compressionPosition: 'last' }))).toBe('UNEXPECTED_ARGUMENT');
  });

  test('[A-21, A-22] the query appears once, by its path; the same turn on both is refused', () => {
    const times = (more: Partial<ComposeInput>) => compose(more).messages.filter(({ content }) => content === 'q').length;
    expect(times({})).toBe(1);
    expect(times({ checkpointMessages: [human('q')], queryPath: 'checkpoint' })).toBe(1);
    expect(times({ checkpointMessages: [human('q'), ai('ok')] })).toBe(2);
    expect(reasonOf(() => compose({ checkpointMessages: [human('q', 't1')], turnId: 't1' }))).toBe('DUAL_QUERY_PATH');
    expect(compose({ checkpointMessages: [human('q', 't1')], turnId: 't1', queryPath: 'checkpoint' }).dropped).toEqual([]);
  });
});

describe('sharing and processes', () => {
  test('[A-23, A-24, A-25, A-26, A-29] the switch removes the blocks of an agent, nothing else', () => {
    for (const process of agents) {
      expect(layersOf(process)).toEqual(['system_prompt', ...Object.keys(blocks), 'checkpoint_messages', 'checkpoint_messages', 'query']);
      expect(layersOf(process, false)).toEqual(['system_prompt', 'checkpoint_messages', 'checkpoint_messages', 'query']);
    }
    expect(compose({ enableShareContext: false }).dropped).toEqual(
      Object.entries(blocks).map(([layer, text]) => ({ layer, reason: 'sharing is off', messages: 1, tokens: countTokens(text) })),
    );
    expect(shortenMemory({ messages: [ai('a'), ai('b'), human('c')], keepLast: 1 }).patch).toHaveProperty('compression__context');
  });

  test('[A-27] a worker gets framework and knowledge and no memory, whatever the switch', () => {
    for (const sharing of [true, false])
      expect(layersOf('mapreduce-worker', sharing)).toEqual(['system_prompt', 'framework__context', 'knowledge__context', 'query']);
    expect(compose({ process: 'mapreduce-worker' }).dropped.find(({ layer }) => layer === 'checkpoint_messages')).toMatchObject({
      reason: 'mapreduce-worker does not get memory',
      messages: 2,
    });
  });

  test('[A-28] planner and reducer: three blocks with sharing, one without, never memory', () => {
    for (const process of ['mapreduce-planner', 'mapreduce-reducer'] as const) {
      expect(layersOf(process)).toEqual(['system_prompt', 'framework__context', 'experience__context', 'knowledge__context', 'query']);
      expect(layersOf(process, false)).toEqual(['system_prompt', 'framework__context', 'query']);
    }
  });

  test('[A-37] an input that the model would get twice or never is refused', () => {
    expect(reasonOf(() => compose({ process: 'mapreduce-reducer', queryPath: 'checkpoint' }))).toBe('QUERY_DROPPED');
    expect(reasonOf(() => compose({ queryPath: 'none' }))).toBe('QUERY_WITHOUT_PATH');
    expect(reasonOf(() => compose({ humanMessage: 'q' }))).toBe('DUAL_QUERY_PATH');
    expect(reasonOf(() => compose({ humanMessage: 'q', query: null, queryPath: 'checkpoint' }))).toBe('DUAL_QUERY_PATH');
    expect(compose({ humanMessage: 'q', query: null, queryPath: 'none' }).messages.at(-1)).toMatchObject({ content: 'q', layer: 'human_message' });
  });
});

describe('memory', () => {
  test('[A-30] an agent leaves exactly one line in memory, whatever its output', () => {
    const state = { messages: [{ role: 'ai', content: '【TASK t9】go', name: 'react_controller' }] };
    const { messages } = buildPatch(state, [
      ['memory.appendExecutionSummary', { agentId: 'coder', status: 'failed', failureKind: 'system', error: 'a\nb  c' }],
    ]);
    expect(messages).toEqual([
      { role: 'ai', content: '【RESULT】agent=coder task=t9 status=failed failure_kind=system error=a b c', name: 'datapillar' },
    ]);
  });

  test('[A-32] unknown calls, fields and arguments are refused by name', () => {
    expect(reasonOf(() => buildPatch({}, [['drop everything']]))).toBe('INVALID_STATE_CALL');
    expect(reasonOf(() => buildPatch({}, [['__proto__']]))).toBe('INVALID_STATE_CALL');
    expect(reasonOf(() => buildPatch({}, [['memory.append', 'text']]))).toBe('INVALID_STATE_CALL');
    expect(reasonOf(() => buildPatch({}, [['mapreduce.append', [1]], ['mapreduce.reset'], ['mapreduce.append', [2]]]))).toBe('PATCH_CONFLICT');
  });
});

describe('the compactor', () => {
  const call = (id: string): MemoryMessage => ({ role: 'ai', content: '', tool_calls: [{ id, name: 'Bash', args: { command: 'ls' } }] });
  const result = (id: string, content = 'ok'): MemoryMessage => ({ role: 'tool', content, tool_call_id: id, name: 'Bash' });
  const message = fc.constantFrom<'human' | 'ai' | 'exchange'>('human', 'ai', 'exchange');

  test('every policy keeps calls with results, the order and the newest message', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 20 }),
        fc.integer({ min: 1, max: 8 }),
        fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
        (kinds, keepLast, budgetTokens) => {
          const messages = kinds.flatMap((kind, place) =>
            kind === 'exchange'
              ? [call(`c${place}`), result(`c${place}`)]
              : [{ role: kind, content: `${kind} says number ${place}` } as MemoryMessage],
          );
          const { kept, removed } = planCompaction(messages, { keepLast, ...(budgetTokens === undefined ? {} : { budgetTokens }) });
          expect([...kept, ...removed].toSorted((a, b) => messages.indexOf(a) - messages.indexOf(b))).toEqual(messages);
          expect(kept.map((one) => messages.indexOf(one))).toEqual(kept.map((one) => messages.indexOf(one)).toSorted((a, b) => a - b));
          for (const part of [kept, removed]) {
            const calls = part.flatMap((one) => ((one.tool_calls as { id: string }[] | undefined) ?? []).map(({ id }) => id));
            expect(part.flatMap((one) => (typeof one.tool_call_id === 'string' ? [one.tool_call_id] : []))).toEqual(calls);
          }
          if (messages.length > 0) expect(kept.at(-1)).toBe(messages.at(-1));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('nothing changes within the budget; beyond it the current turn stays whole if it fits', () => {
    const messages = [
      human('first question'),
      ai('first answer'),
      human('second question'),
      call('c1'),
      result('c1', 'x'.repeat(400)),
      ai('second answer'),
    ];
    expect(planCompaction(messages, { budgetTokens: 10_000, keepLast: 1 }).removed).toEqual([]);
    expect(planCompaction(messages, { budgetTokens: 118, keepLast: 1 }).kept).toEqual([messages[0], ...messages.slice(2)]);
    expect(planCompaction(messages, { budgetTokens: 10, keepLast: 1 }).kept).toEqual([messages[2], messages[5]]);
  });

  test('an extractive summary quotes the messages and stays within its limit', () => {
    const messages = [
      human('Fix the flaky test'),
      call('c1'),
      result('c1'),
      call('c2'),
      result('c2'),
      { ...result('c3', 'exit 1'), is_error: true },
      ai('I looked at the queue. It leaks. Fixed by closing it.'),
    ];
    const { summary } = shortenMemory({ messages: [...messages, human('next')], keepLast: 1, budgetTokens: 2 });
    expect(summary).toBe(
      'Extracts of 7 earlier messages, in order:\n- asked: Fix the flaky test\n- called Bash 2 times, first: {"command":"ls"}\n- Bash failed: exit 1\n- assistant: I looked at the queue. … Fixed by closing it.',
    );
    const huge = Array.from({ length: 3_000 }, (_, place) => ai(`Statement number ${place}. ${'words '.repeat(40)}. The end of ${place}.`));
    const shortened = shortenMemory({ messages: [...huge, human('next')], keepLast: 1, previousSummary: 'Earlier: '.repeat(2_000) });
    expect(countTokens(shortened.summary)).toBeLessThan(2_200);
    expect(shortened.summary).toMatch(/shorter notes left out\)$/);
  });
});

describe('bodies for providers', () => {
  const messages: MemoryMessage[] = [
    { role: 'system', content: 'P' },
    human('u'),
    { role: 'ai', content: 'calling', tool_calls: [{ id: 'c1', name: 'f', args: { a: 1 } }] },
    { role: 'tool', content: '{"b":2}', tool_call_id: 'c1', name: 'f' },
    human('v'),
  ];

  test('each provider gets its own form', () => {
    expect(requestBody(messages, 'anthropic', 'm')).toMatchObject({
      system: [{ type: 'text', text: 'P' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'u' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'calling' },
            { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: '{"b":2}' },
            { type: 'text', text: 'v' },
          ],
        },
      ],
    });
    expect(requestBody(messages, 'openai', 'm')).toMatchObject({
      messages: [
        { role: 'system' },
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'c1' }] },
        { role: 'tool', tool_call_id: 'c1' },
        { role: 'user' },
      ],
    });
    expect(requestBody(messages, 'gemini')).toMatchObject({
      contents: [
        { role: 'user' },
        { role: 'model' },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: { b: 2 } } } }, { text: 'v' }] },
      ],
    });
  });

  test('[B-03] a call without its result is refused for every provider', () => {
    for (const provider of ['anthropic', 'openai', 'gemini'] as const)
      expect(
        reasonOf(() =>
          requestBody(
            messages.filter(({ role }) => role !== 'tool'),
            provider,
          ),
        ),
      ).toBe('UNPAIRED_TOOL_CALL');
  });
});

describe('a recorded context as layers', () => {
  const commit = 'ctx-00000001' as Entry['source']['commit'];
  const entry = (place: number, more: Partial<Entry>): Entry => ({
    key: `k${place}` as Entry['key'],
    role: 'user',
    kind: 'text',
    tokens: 1,
    source: { commit, index: place },
    ...more,
  });
  const entries: Entry[] = [
    entry(0, { kind: 'summary', text: 'Earlier: built it' }),
    entry(1, { text: 'Now test it' }),
    entry(2, { role: 'assistant', kind: 'thinking', text: 'hm' }),
    entry(3, { role: 'assistant', text: 'I will' }),
    entry(4, {
      role: 'assistant',
      kind: 'tool_call',
      toolName: 'TodoWrite',
      toolClass: 'plan',
      toolCallId: 'c1',
      arguments: { todos: [{ content: 'run tests', status: 'in_progress' }] },
    }),
    entry(5, { role: 'tool', kind: 'tool_result', toolCallId: 'c1', toolName: 'TodoWrite', text: 'ok' }),
    entry(6, { text: 'hidden', marks: ['hidden'] }),
    entry(7, { role: 'system', text: 'Today is Monday', marks: ['meta'] }),
  ];

  const bare = { systemPrompt: '', permitted: ['todo'] as const, services: {} };

  test('each entry goes to its layer, and each layer names its entries', () => {
    const { messages, messageOrigins, layers, dropped } = previewContext(entries, bare, {});
    expect(messages.map(({ layer, role }) => `${layer} ${role}`)).toEqual([
      'framework__context system',
      'todo__context system',
      'compression__context system',
      'checkpoint_messages human',
      'checkpoint_messages ai',
      'checkpoint_messages tool',
    ]);
    expect(messageOrigins).toEqual([['k7'], ['k4'], ['k0'], ['k1'], ['k3', 'k4'], ['k5']]);
    expect(messages[4]).toMatchObject({ content: 'I will', tool_calls: [{ id: 'c1', name: 'TodoWrite' }] });
    expect(layers.find(({ layer }) => layer === 'compression__context')).toMatchObject({
      lifetime: 'checkpoint',
      present: true,
      origins: [{ commit, entryKey: 'k0' }],
    });
    expect(layers.find(({ layer }) => layer === 'system_prompt')).toMatchObject({ origin: 'Not recorded', present: false });
    expect(dropped).toEqual([
      { layer: 'checkpoint_messages', reason: 'events, and thinking that no provider signed, have no place in memory', messages: 1, tokens: 1 },
    ]);
  });

  test('as a worker, the prompt is the query, and missing layers are listed', () => {
    const { messages, dropped } = previewContext(entries, bare, { process: 'mapreduce-worker', contexts: { framework__context: 'Limits' } });
    expect(messages.map(({ layer, content }) => `${layer}: ${content}`)).toEqual(['framework__context: Limits', 'query: Now test it']);
    expect(dropped.map(({ layer }) => layer)).toEqual(['todo__context', 'compression__context', 'checkpoint_messages', 'checkpoint_messages']);
  });

  test('[U11] a block that nothing permits is not in the preview, as it is not in the call', () => {
    const { messages } = previewContext(entries, { ...bare, permitted: [] }, {});
    expect(messages.map(({ layer }) => layer)).not.toContain('todo__context');
  });

  test('tasks that are created and updated one by one are a todo list', () => {
    const tasks = [
      entry(1, { role: 'assistant', kind: 'tool_call', toolName: 'TaskCreate', toolClass: 'plan', toolCallId: 'a', arguments: { subject: 'one' } }),
      entry(2, { role: 'assistant', kind: 'tool_call', toolName: 'TaskCreate', toolClass: 'plan', toolCallId: 'b', arguments: { subject: 'two' } }),
      entry(3, {
        role: 'assistant',
        kind: 'tool_call',
        toolName: 'TaskUpdate',
        toolClass: 'plan',
        toolCallId: 'c',
        arguments: { taskId: '1', status: 'completed' },
      }),
    ];
    expect(previewContext(tasks, bare, {}).messages.find(({ layer }) => layer === 'todo__context')?.content).toContain(
      '- [completed] [1] one\n- [pending] [2] two',
    );
  });
});
