// Histories of the kinds in fixtures/cases with faults at other places: what is missing, empty, null or unknown.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { ContextId } from '../../src/core/base/index.js';
import { tips, type WriteChain } from '../../src/core/chain/index.js';
import { atOnce, checkProject } from '../../src/core/project/index.js';
import { listSessions } from '../../src/core/sessions/index.js';
import { loadPrices } from '../../src/core/usage/index.js';
import { answer, call, prompt } from '../support/claude-lines.js';
import { codexAnswered, codexAsked, codexLine, codexTurn } from '../support/codex-lines.js';
import { usageCalls, usageSessions } from '../support/counted.js';
import { reply, session, usage } from '../support/counted-lines.js';
import { importInto, said } from '../support/imports.js';
import { emptyChain, emptyProject, scratch } from '../support/project.js';

beforeAll(() => loadPrices());

const uuidOf = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
type Line = Record<string, unknown>;
const changed = (line: string, change: (record: Line) => Line): string => `${JSON.stringify(change(JSON.parse(line) as Line))}\n`;

/** Imports files, one after the other, into an empty project. */
function imported(...files: readonly (readonly [name: string, text: string])[]): WriteChain {
  const folder = scratch();
  const chain = emptyChain();
  for (const [name, text] of files) {
    writeFileSync(join(folder, name), text);
    importInto(chain, join(folder, name));
  }
  return chain;
}

const outputs = (chain: WriteChain): number => usageSessions(chain, { groupBy: null }).totals.tokens.output;

describe('Claude Code', () => {
  const [origin, child, grandchild] = [uuidOf(1), uuidOf(2), uuidOf(3)];
  /** A branch, as `/branch` writes it: it repeats the first lines with their ids and names the session that they are of. */
  const branch = (of: readonly string[], lines: number, id: string): string[] => [
    ...of.slice(0, lines).map((line) =>
      changed(line, ({ sessionId, uuid, ...record }) => ({
        ...{ ...record, uuid, sessionId: id },
        forkedFrom: { sessionId, messageUuid: uuid },
      })),
    ),
    ...session(id, 1, id).map((line, at) => (at > 0 ? line : changed(line, (record) => ({ ...record, parentUuid: uuidIn(of[lines - 1]) })))),
  ];
  const uuidIn = (line = ''): unknown => (JSON.parse(line) as Line).uuid;

  test('[N22] a branch that says what it repeats counts nothing twice, in each order', () => {
    const first = session(origin, 3, origin);
    const second = branch(first, 4, child);
    const third = branch(second, 6, grandchild);
    const files = [first, second, third].map((lines, at) => [`${uuidOf(at + 1)}.jsonl`, lines.join('')] as const);
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [1, 2, 0],
    ]) {
      const chain = imported(...order.map((at) => files[at] as (typeof files)[number]));
      expect([usageCalls(chain, {}).total, outputs(chain)], order.join()).toEqual([5, 20 + 21 + 22 + 20 + 20]);
      const turns = listSessions(chain, {}).sessions.map(({ sessionId, turns }) => [sessionId, turns]);
      expect(turns.sort(), order.join()).toEqual([
        [origin, 3],
        [child, 3],
        [grandchild, 4],
      ]);
    }
  });

  test.each(['sessionId', 'messageUuid'])("[N22] a branch whose lines lack their origin's %s counts each call once, in each order", (missing) => {
    const first = session(origin, 3, origin);
    const second = branch(first, 4, child).map((line) =>
      changed(line, ({ forkedFrom, ...record }) => ({
        ...record,
        ...(forkedFrom !== undefined && { forkedFrom: { ...(forkedFrom as Line), [missing]: undefined } }),
      })),
    );
    const files = [first, second].map((lines, at) => [`${uuidOf(at + 1)}.jsonl`, lines.join('')] as const);
    for (const order of [files, files.toReversed()]) {
      const chain = imported(...order);
      expect([usageCalls(chain, {}).total, outputs(chain)]).toEqual([4, 20 + 21 + 22 + 20]);
    }
  });

  test('[N22] an import reads no records of branches that wait for other files', () => {
    const waiting = Array.from({ length: 20 }, (_, at) => {
      const id = uuidOf(100 + at);
      return [`${id}.jsonl`, branch(session(uuidOf(200 + at), 1, uuidOf(200 + at)), 2, id).join('')] as const;
    });
    const chain = imported(...waiting);
    const read = vi.spyOn(chain.db, 'all');
    const path = join(scratch(), `${origin}.jsonl`);
    writeFileSync(path, session(origin, 1, origin).join(''));
    importInto(chain, path);
    expect(Math.max(...read.mock.results.map(({ value }) => (value as unknown[]).length))).toBeLessThan(waiting.length);
  });

  test('[N20] a branch names no other session by a part of a name', () => {
    const first = session(origin, 2, origin);
    const named = branch(first, 4, child).map((line) => line.replaceAll(`{"sessionId":"${origin}"`, '{"sessionId":".jsonl"'));
    const grown = `${named.join('')}${prompt('later', 'later', { parent: `${child}-a0`, extra: { sessionId: child } })}`;
    const chain = imported([`${child}.jsonl`, named.join('')], [`${child}.jsonl`, grown]);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 4, branches: 1 }]);
  });

  test('[N20] replies whose ids are empty count once each', () => {
    const counts = { id: '', usage: usage(1_000, 0, 0, 100) };
    const lines = [
      prompt('u1', 'one'),
      reply('a1', { parent: 'u1', ...counts }),
      prompt('u2', 'two', { parent: 'a1' }),
      reply('a2', { parent: 'u2', ...counts }),
    ];
    const chain = imported(['s.jsonl', lines.join('')]);
    expect([usageCalls(chain, {}).total, outputs(chain)]).toEqual([2, 200]);
  });

  test('[S13] names that are empty or missing are no damage', () => {
    const project = emptyProject();
    const path = join(scratch(), 's.jsonl');
    const nameless = changed(call('a1', 'c1', 'Read', {}, { parent: 'u1' }), (record) => ({
      ...record,
      message: { id: '', role: 'assistant', model: 'm', content: [{ type: 'tool_use' }, { type: 'tool_use', id: '', name: '', input: null }] },
    }));
    writeFileSync(path, `${prompt('u1', 'one')}${nameless}`);
    importInto(project.chain, path);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[F10] messages without ids are named where others have ids', () => {
    const bare = [prompt('u2', 'two', { parent: 'a1' }), answer('a2', 'yes', { parent: 'u2' })].map((line) =>
      changed(line, ({ uuid: _, ...record }) => record),
    );
    const path = join(scratch(), 's.jsonl');
    writeFileSync(path, [prompt('u1', 'one'), answer('a1', 'yes', { parent: 'u1' }), ...bare].join(''));
    const reason = '2 messages from this line on have no uuid: not read';
    expect(importInto(emptyChain(), path).skipped).toEqual([{ path, line: 3, reason }]);
  });
});

describe('Codex', () => {
  const name = `rollout-2026-01-01T00-00-00-${uuidOf(4)}.jsonl`;
  const meta = codexLine('session_meta', { id: uuidOf(4), cwd: '/work' });

  test.each<[string, string, object | null]>([
    ['an item of an unknown kind', 'response_item', { type: 'hologram' }],
    ['an item without content', 'response_item', null],
    ['a snapshot of files', 'response_item', { type: 'ghost_snapshot', ghost_commit: {} }],
    ['an event without content', 'event_msg', null],
    ['a line of an unknown kind without content', 'new_this_year', null],
  ])('[N27] %s is no turn, wherever it stands', (_, type, payload) => {
    const lines = [meta, codexTurn(1), codexAsked(2, 'two'), codexAnswered(2, 'done')].join('').split(/(?<=\n)/);
    const text = lines.flatMap((line) => [line, codexLine(type, payload as object)]).join('');
    expect(listSessions(imported([name, text]), {}).sessions).toMatchObject([{ turns: 2, branches: 1 }]);
  });

  test('[N27] a turn without a prompt can begin with a call of an unknown kind', () => {
    const called =
      codexLine('event_msg', { type: 'task_started', turn_id: 'turn-2' }) + codexLine('response_item', { type: 'mcp_call', id: 'mcp-1' });
    const text = [meta, codexTurn(1), called, codexAsked(3, 'three'), codexAnswered(3, 'done')].join('');
    expect(listSessions(imported([name, text]), {}).sessions).toMatchObject([{ turns: 3, branches: 1 }]);
  });
});

const writtenLines = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const secondOf = (n: number): string => new Date(Date.parse('2026-01-01T00:00:00.000Z') + n * 1_000).toISOString();

describe('pi', () => {
  const header = (id: string, second: number, more: object = {}): object => ({
    ...{ type: 'session', version: 3, id, cwd: '/work', ...more },
    timestamp: secondOf(second),
  });
  const record = (n: number, type: string, more: object): object => ({
    ...{ type, id: String(n).padStart(8, '0'), parentId: n === 1 ? null : String(n - 1).padStart(8, '0') },
    ...{ timestamp: secondOf(n), ...more },
  });
  const asks = (n: number): object => record(n, 'message', { message: { role: 'user', content: [{ type: 'text', text: `question ${n}` }] } });
  const counts = (input: number, output: number, more: object = {}): object => ({ input, output, cacheRead: 0, cacheWrite: 0, ...more });
  const answers = (n: number, usage: object, content: readonly object[] = [{ type: 'text', text: 'yes' }]): object =>
    record(n, 'message', { message: { role: 'assistant', api: 'anthropic-messages', model: 'm', content, usage, stopReason: 'stop' } });

  test('[N1] calls that only write a summary, keep a cache warm or belong to a tool count', () => {
    const text = writtenLines(
      header('s1', 0),
      asks(1),
      answers(2, counts(1, 1), [{ type: 'toolCall', id: 'c1', name: 'ask', arguments: {} }]),
      record(3, 'message', { message: { role: 'toolResult', toolCallId: 'c1', toolName: 'ask', content: 'done', usage: counts(20, 2) } }),
      record(4, 'usage', { kind: 'cache_warm', provider: 'p', model: 'm', usage: counts(300, 3) }),
      record(5, 'compaction', { summary: 'so far', firstKeptEntryId: '00000003', usage: counts(4_000, 4) }),
      record(6, 'branch_summary', { fromId: '00000002', summary: 'elsewhere', usage: counts(50_000, 5) }),
    );
    const chain = imported(['s.jsonl', text]);
    expect(usageCalls(chain, {}).calls.map(({ beside, tokens: { input } }) => [beside, input])).toEqual([
      [undefined, 1],
      ['ask', 20],
      ['cache_warm', 300],
      ['compaction', 4_000],
      ['branch_summary', 50_000],
    ]);
    expect(outputs(chain)).toBe(15);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1, branches: 1, peakTokens: 1 }]);
  });

  test('[N3] cache writes that live for an hour, and thoughts, are counted as such', () => {
    const text = writtenLines(header('s1', 0), asks(1), answers(2, counts(1, 9, { cacheWrite: 70, cacheWrite1h: 60, reasoning: 5 })));
    expect(usageCalls(imported(['s.jsonl', text]), {}).calls).toMatchObject([{ tokens: { cacheWrite: 70, cacheWrite1h: 60, reasoning: 5 } }]);
    const apart = record(3, 'usage', { kind: 'ask', model: 'm', usage: counts(1, 1, { cacheWrite: 50, cacheWrite1h: 40 }) });
    const beside = writtenLines(header('s1', 0), asks(1), answers(2, counts(1, 9)), apart);
    expect(usageCalls(imported(['s.jsonl', beside]), {}).calls.at(-1)).toMatchObject({ beside: 'ask', tokens: { cacheWrite1h: 40 } });
    const impossible = writtenLines(header('s1', 0), asks(1), answers(2, counts(-1, 9, { cacheWrite: 70, cacheWrite1h: 60 })));
    expect(usageCalls(imported(['s.jsonl', impossible]), {}).calls[0]?.tokens).not.toHaveProperty('cacheWrite1h');
  });

  test('[N22] a fork and its origin are two sessions in each order, and count nothing twice', () => {
    const [origin, child] = [uuidOf(1), uuidOf(2)];
    const shared = [asks(1), answers(2, counts(10, 1))];
    const fork = [header(child, 9, { parentSession: `/home/ada/2026_${origin}.jsonl` }), ...shared, asks(3), answers(4, counts(20, 2))];
    const files = [
      [`2026_${origin}.jsonl`, writtenLines(header(origin, 0), ...shared)],
      [`2027_${child}.jsonl`, writtenLines(...fork)],
    ] as const;
    for (const order of [files, files.toReversed()]) {
      const chain = imported(...order);
      const found = listSessions(chain, {}).sessions.map(({ sessionId, turns }) => [sessionId, turns]);
      expect(found.sort()).toEqual([
        [origin, 1],
        [child, 2],
      ]);
      expect([usageCalls(chain, {}).total, outputs(chain)]).toEqual([2, 3]);
    }
  });
});

describe('Qwen Code', () => {
  const line = (id: string, parent: string | null, sessionId: string, type: string, more: object): object => ({
    ...{ uuid: id, parentUuid: parent, sessionId, type, cwd: '/work' },
    ...more,
  });
  const asks = (text: string): object => ({ message: { role: 'user', parts: [{ text }] } });
  const answers = (part: object, usageMetadata?: object): object => ({ model: 'm', message: { role: 'model', parts: [part] }, usageMetadata });
  const counts = { promptTokenCount: 100, candidatesTokenCount: 10 };

  test('[N22] a fork and its origin are two sessions in each order, and count nothing twice', () => {
    const shared = [line('u1', null, uuidOf(1), 'user', asks('one')), line('a1', 'u1', uuidOf(1), 'assistant', answers({ text: 'yes' }, counts))];
    const copies = shared.map((record) => ({
      ...record,
      ...{ sessionId: uuidOf(2), forkedFrom: { sessionId: uuidOf(1), messageUuid: 'x' } },
    }));
    const files = [
      [`${uuidOf(1)}.jsonl`, writtenLines(...shared)],
      [`${uuidOf(2)}.jsonl`, writtenLines(...copies, line('u2', 'a1', uuidOf(2), 'user', asks('two')))],
    ] as const;
    for (const order of [files, files.toReversed()]) {
      const chain = imported(...order);
      const found = listSessions(chain, {}).sessions.map(({ sessionId, turns }) => [sessionId, turns]);
      expect(found.sort()).toEqual([
        [uuidOf(1), 1],
        [uuidOf(2), 2],
      ]);
      expect(outputs(chain)).toBe(10);
    }
  });

  test('[N20] a text and a tool call that a subagent writes in two lines are one call', () => {
    const text = writtenLines(
      ...[
        line('u1', null, 's1', 'user', asks('one')),
        line('a1', 'u1', 's1', 'assistant', answers({ text: 'reading' }, counts)),
        line('a2', 'a1', 's1', 'assistant', answers({ functionCall: { id: 'c1', name: 'read_file', args: {} } })),
      ].map((record) => ({ ...record, isSidechain: true, agentId: 'agent' })),
    );
    expect(usageCalls(imported(['agent-1.jsonl', text]), {}).calls.map(({ tokens: { output } }) => output)).toEqual([10]);
  });
});

describe('Cline and Roo Code', () => {
  const prompt = (...texts: readonly string[]): object => ({ role: 'user', content: texts.map((text) => ({ type: 'text', text })) });
  const reply = (text: string, more: object = {}): object => ({ role: 'assistant', content: [{ type: 'text', text }], ...more });
  const request = (more: object): object => ({ ts: 1_770_000_000_000, type: 'say', say: 'api_req_started', text: JSON.stringify(more) });
  const environment = '<environment_details>\n# Open files\n</environment_details>';

  /** A task folder with its documents. */
  function task(messages: readonly object[], shown: readonly object[] = [], chain = emptyChain(), folder = scratch()): WriteChain {
    const models = { model_usage: [{ ts: 1_769_000_000_000, model_id: 'm' }] };
    for (const [name, value] of Object.entries({ api_conversation_history: messages, ui_messages: shown, task_metadata: models }))
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(value));
    expect(importInto(chain, folder).skipped).toEqual([]);
    return chain;
  }

  test('[N20] results and details that the agent adds are no prompts, but feedback is', () => {
    const asText = ["[read_file for 'a'] Result:", 'the text of a', environment];
    const asBlock = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'b' },
        { type: 'text', text: environment },
      ],
    };
    const feedback = ['[attempt_completion] Result:', 'The user says:\n<feedback>\nmore\n</feedback>', environment];
    const answers = ['one', 'two', 'three', 'four'].map((text) => reply(text));
    const users = [prompt('<task>fix it</task>', environment), prompt(...asText), asBlock, prompt(...feedback)];
    const messages = users.flatMap((user, at) => [user, answers[at] as object]);
    expect(listSessions(task(messages), {}).sessions).toMatchObject([{ turns: 2, branches: 1 }]);
  });

  const result = (content: unknown): object => ({ type: 'tool_result', tool_use_id: 'c1', content });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  test.each<[string, number, readonly object[]]>([
    ['a result of a command of two lines', 1, [{ type: 'text', text: "[execute_command for 'cd a\nnpm test'] Result:" }]],
    ['a file with a tag of feedback', 1, [result('export const tags = {\n<feedback>\n}')]],
    ['an image of a result', 1, [result('a page'), image]],
    ['feedback on a result', 2, [result([{ type: 'text', text: 'The user denied this and provided feedback:\n<feedback>\nno\n</feedback>' }])]],
    ['an image without a result', 2, [image]],
  ])('[N20] %s makes the task %i turns long', (_, turns, content) => {
    const chain = task([prompt('ask'), reply('one'), { role: 'user', content }, reply('two')]);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns }]);
  });

  test('[N20] the calls of a task have the counts, models and times that stand beside its messages', () => {
    const counts = { tokensIn: 100, tokensOut: 10, cacheReads: 30, cacheWrites: 20 };
    const shown = [request(counts), request({ ...counts, apiProtocol: 'anthropic' }), request({ request: 'canceled' })];
    const chain = task([prompt('ask'), reply('one'), prompt('go on'), reply('two'), prompt('end'), reply('three')], shown);
    expect(usageCalls(chain, {}).calls.map(({ model, at, tokens: { input, output } }) => [model, at, input, output])).toEqual([
      ['m', '2026-02-02T02:40:00.000Z', 100, 10],
      ['m', '2026-02-02T02:40:00.000Z', 50, 10],
      ['m', '2026-02-02T02:40:00.000Z', null, null],
    ]);
  });

  test.each([
    ['a summary', { isSummary: true, condenseId: 'x' }, { condenseParent: 'x' }],
    ['a mark of what is left out', { isTruncationMarker: true, truncationId: 'x' }, { truncationParent: 'x' }],
  ])('[C9] %s replaces the messages that name it', (_, mark, tag) => {
    const messages = [prompt('first'), reply('old', tag), { ...prompt('old, too'), ...tag }, { ...prompt('instead'), ...mark }, reply('new')];
    const chain = task(messages);
    const [tip] = tips(chain, {});
    expect(said(chain, tip?.id as ContextId)).toEqual(['user summary  instead', 'user text  first', 'assistant text  new']);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 2 }]);
  });

  test('[C9] a compaction keeps what only a later one replaces, and an old summary keeps the task', () => {
    const [tag, later] = [{ truncationParent: 'x' }, { condenseParent: 'y' }];
    const chain = task([
      ...[{ ...prompt('first'), ...later }, reply('old', { ...tag, ...later })],
      { ...prompt('mark'), ...later, isTruncationMarker: true, truncationId: 'x' },
      ...[reply('kept', later), { ...prompt('summary'), isSummary: true, condenseId: 'y' }, reply('new')],
    ]);
    const [tip] = tips(chain, {});
    const calls = usageCalls(chain, {}).calls;
    expect(calls).toHaveLength(3);
    expect(said(chain, calls[1]?.commit as ContextId)).toEqual(['user summary  mark', 'user text  first', 'assistant text  kept']);
    expect(said(chain, tip?.id as ContextId)).toEqual(['user summary  summary', 'assistant text  new']);
    const old = task([prompt('first'), { ...prompt('summary'), isSummary: true }, reply('new')]);
    expect(said(old, tips(old, {})[0]?.id as ContextId)).toEqual(['user summary  summary', 'user text  first', 'assistant text  new']);
  });

  test('[N20] an answer with a time has the counts of the last request before it', () => {
    const start = 1_770_000_000_000;
    const shown = [10, 20, 30].map((output, at) => ({ ...request({ tokensIn: 1, tokensOut: output }), ts: start + at * 1_000 }));
    const messages = [
      prompt('ask'),
      { ...prompt('summary'), isSummary: true },
      reply('three', { ts: start + 2_500 }),
      reply('more', { ts: start + 2_600 }),
    ];
    expect(usageCalls(task(messages, shown), {}).calls.map(({ tokens: { output } }) => output)).toEqual([30, null]);
  });

  test('[C9] a task that is imported again after a summary repeats no message', () => {
    const [asked, replied, folder] = [prompt('ask'), reply('old'), scratch()];
    const chain = task([asked, replied], [], emptyChain(), folder);
    const tag = { condenseParent: 'x' };
    const summary = { ...prompt('instead'), isSummary: true, condenseId: 'x' };
    task([{ ...asked, ...tag }, { ...replied, ...tag }, summary, reply('new')], [], chain, folder);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1, branches: 1 }]);
    expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([['user summary  instead', 'assistant text  new']]);
  });

  test('[N22] a fork, which names no origin, counts no call twice', () => {
    const messages = [
      { ...prompt('ask'), id: 'u1', ts: 1_770_000_000_001 },
      { ...reply('yes', { metrics: { inputTokens: 5, outputTokens: 1 } }), id: 'a1', ts: 1_770_000_000_002 },
    ];
    const files = ['1', '2'].map((sessionId) => {
      const document = { version: 1, updated_at: '2026-02-02T00:00:00.000Z', agent: 'lead', sessionId, messages };
      return [`${sessionId}.messages.json`, JSON.stringify(document)] as const;
    });
    const chain = imported(...files);
    expect(listSessions(chain, {}).sessions).toHaveLength(2);
    expect([usageCalls(chain, {}).total, outputs(chain)]).toEqual([1, 1]);
  });
});
