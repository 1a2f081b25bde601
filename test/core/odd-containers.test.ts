// Histories in databases and documents: what was removed, repeated or not yet whole.
import { hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, test } from 'vitest';
import { tips, type WriteChain } from '../../src/core/chain/index.js';
import { listSessions } from '../../src/core/sessions/index.js';
import { loadPrices } from '../../src/core/usage/index.js';
import { usageCalls } from '../support/counted.js';
import { importInto, said } from '../support/imports.js';
import { emptyChain, scratch } from '../support/project.js';

beforeAll(() => loadPrices());

type Row = readonly (string | number | Buffer)[];

/** Writes a database with the rows of tables, and imports it. */
function importTables(chain: WriteChain, path: string, tables: Readonly<Record<string, readonly Row[]>>): void {
  rmSync(path, { force: true });
  const db = new Database(path);
  for (const [table, rows] of Object.entries(tables)) {
    db.exec(`CREATE TABLE ${table}`);
    const [name = ''] = table.split('(');
    for (const row of rows) db.prepare(`INSERT INTO ${name} VALUES (${row.map(() => '?').join(', ')})`).run(...row);
  }
  db.close();
  importInto(chain, path);
}

const texts = (chain: WriteChain): string[][] => tips(chain, {}).map(({ id }) => said(chain, id, 'root').map((line) => line.split('  ')[1] ?? ''));
const second = (n: number): string => new Date(1_770_000_000_000 + n * 1_000).toISOString();

describe('Cursor', () => {
  const bubble = (n: number, type: 1 | 2, text: string, inputTokens = 0): object => ({
    ...{ bubbleId: `b${n}`, type, text, createdAt: second(n), tokenCount: { inputTokens, outputTokens: inputTokens } },
  });
  const composer = (bubbles: readonly object[], named: readonly string[], status = 'completed'): Row[] => {
    const data = {
      composerId: 'c1',
      name: 'chat',
      status,
      lastUpdatedAt: second(9),
      fullConversationHeadersOnly: named.map((bubbleId) => ({ bubbleId })),
    };
    return [
      ['composerData:c1', JSON.stringify(data)],
      ...bubbles.map((one) => [`bubbleId:c1:${(one as { bubbleId: string }).bubbleId}`, JSON.stringify(one)]),
    ];
  };
  const table = 'cursorDiskKV(key TEXT PRIMARY KEY, value TEXT)';

  test('[F36] what was taken back is a branch of the message before it', () => {
    const chain = emptyChain();
    const bubbles = [bubble(1, 1, 'one'), bubble(2, 2, 'yes'), bubble(3, 1, 'old'), bubble(4, 2, 'no'), bubble(5, 1, 'new'), bubble(6, 2, 'ok')];
    importTables(chain, join(scratch(), 'state.vscdb'), { [table]: composer(bubbles, ['b1', 'b2', 'b5', 'b6']) });
    expect(texts(chain).sort()).toEqual([
      ['one', 'yes', 'new', 'ok'],
      ['one', 'yes', 'old', 'no'],
    ]);
  });

  test('[F36] each prompt that was taken back is a branch of what Cursor showed at its time', () => {
    const chain = emptyChain();
    const bubbles = ['one', 'yes', 'old', 'no', 'new', 'ok', 'more', 'well'].map((text, n) => bubble(n, n % 2 === 0 ? 1 : 2, text));
    importTables(chain, join(scratch(), 'state.vscdb'), { [table]: composer(bubbles, ['b0', 'b1', 'b4', 'b5']) });
    expect(texts(chain).sort()).toEqual([
      ['one', 'yes', 'new', 'ok', 'more', 'well'],
      ['one', 'yes', 'old', 'no'],
    ]);
  });

  test('[F36] what was taken back continues an answer that is being written', () => {
    const chain = emptyChain();
    const bubbles = [bubble(1, 1, 'one'), bubble(2, 2, 'half'), bubble(3, 2, 'other')];
    importTables(chain, join(scratch(), 'state.vscdb'), { [table]: composer(bubbles, ['b1', 'b2'], 'generating') });
    expect(texts(chain)).toEqual([['one', 'half', 'other']]);
  });

  test('[N30] an answer that was imported while it was written is read again when it is whole', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'state.vscdb');
    const begun = [bubble(1, 1, 'one'), bubble(2, 2, 'half', 5)];
    importTables(chain, path, { [table]: composer(begun, ['b1', 'b2'], 'generating') });
    const whole = [bubble(1, 1, 'one'), bubble(2, 2, 'half and the rest', 700), bubble(3, 1, 'two')];
    importTables(chain, path, { [table]: composer(whole, ['b1', 'b2', 'b3']) });
    expect(texts(chain)).toContainEqual(['one', 'half and the rest', 'two']);
    expect(usageCalls(chain, {}).calls.map(({ tokens: { output } }) => output)).toEqual([700]);
  });

  test('[F36] equal prompts of the command line are as many turns, and facts of the machine none', () => {
    const messages = [
      { role: 'user', content: '<user_info>Linux</user_info>' },
      ...[1, 2, 3].flatMap(() => [
        { role: 'user', content: 'go on' },
        { role: 'assistant', content: 'ok' },
      ]),
    ].map((message) => Buffer.from(JSON.stringify(message)));
    const idOf = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');
    const root = Buffer.concat(messages.flatMap((bytes) => [Buffer.from([0x0a, 0x20]), idOf(bytes)]));
    const blobs = new Map([...messages, root].map((bytes) => [idOf(bytes).toString('hex'), bytes]));
    const about = Buffer.from(JSON.stringify({ agentId: 'a1', latestRootBlobId: idOf(root).toString('hex') })).toString('hex');
    const chain = emptyChain();
    importTables(chain, join(scratch(), 'store.db'), {
      'blobs(id TEXT PRIMARY KEY, data BLOB)': [...blobs],
      'meta(key TEXT PRIMARY KEY, value TEXT)': [['0', about]],
    });
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 3, branches: 1 }]);
  });
});

test('[N22] in OpenClaw, a fork and its origin are two sessions, whatever their ids', () => {
  const header = (id: string, n: number): object => ({ type: 'session', version: 4, id, timestamp: second(n), cwd: '/work' });
  const entry = (n: number, role: string, content: unknown): object => ({
    ...{ type: 'message', id: `0000000${n}`, parentId: n === 1 ? null : `0000000${n - 1}`, timestamp: second(n) },
    message: { role, content, usage: { input: 5, output: 1 } },
  });
  const shared = [entry(1, 'user', 'one'), entry(2, 'assistant', [{ type: 'text', text: 'yes' }])];
  const [origin, fork] = ['session-z', 'session-a'];
  const rows = (id: string, events: readonly object[]): Row[] => events.map((event, seq) => [id, seq, JSON.stringify(event)]);
  const chain = emptyChain();
  importTables(chain, join(scratch(), 'openclaw-agent.sqlite'), {
    'transcript_events(session_id TEXT, seq INTEGER, event_json TEXT)': [
      ...rows(origin, [header(origin, 0), ...shared]),
      ...rows(fork, [header(fork, 8), ...shared, entry(3, 'user', 'two')]),
    ],
  });
  const found = listSessions(chain, {}).sessions.map(({ sessionId, turns }) => `${sessionId} ${turns}`);
  expect(found.sort()).toEqual(['session-a 2', 'session-z 1']);
  expect(usageCalls(chain, { sessionId: origin }).total).toBe(1);
});

describe('VS Code', () => {
  const request = (n: number, more: object = {}): object => ({
    ...{ requestId: `r${n}`, timestamp: 1_770_000_000_000 + n, message: { text: `question ${n}` }, response: [{ value: `answer ${n}` }] },
    ...{ modelId: 'm', result: { metadata: { usage: { promptTokens: 10, completionTokens: 1 } } }, ...more },
  });
  const chat = (requests: readonly object[]): object => ({ version: 3, sessionId: 's1', creationDate: 1_770_000_000_000, requests });

  function imported(name: string, ...lines: readonly object[]): WriteChain {
    const path = join(scratch(), name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const chain = emptyChain();
    importInto(chain, path);
    return chain;
  }

  test('[N20] requests without ids count once each', () => {
    const chain = imported('s1.json', chat([request(1, { requestId: undefined }), request(2, { requestId: undefined })]));
    expect(usageCalls(chain, {}).total).toBe(2);
  });

  test('[F36] a request that a log removes by its place is a branch', () => {
    const chain = imported('s1.jsonl', { kind: 0, v: chat([request(1), request(2), request(3)]) }, { kind: 3, k: ['requests', 1] });
    expect(texts(chain).sort()).toEqual([
      ['question 1', 'answer 1', 'question 2', 'answer 2'],
      ['question 1', 'answer 1', 'question 3', 'answer 3'],
    ]);
    expect(usageCalls(chain, {}).total).toBe(3);
  });

  test('[F36] the last of several summaries is shown', () => {
    const summaries = [{ text: 'early' }, { text: 'late' }];
    const chain = imported('s1.json', chat([request(1, { result: { metadata: { summaries } } })]));
    expect(texts(chain)).toEqual([['late', 'question 1', 'answer 1']]);
  });
});

describe('ATIF', () => {
  const trajectory = (question: string): object => ({
    ...{ schema_version: 'ATIF-v1.7', session_id: 's1', agent: { name: 'a', version: '1', model_name: 'm' } },
    steps: [
      { step_id: 1, source: 'user', message: question },
      { step_id: 2, source: 'agent', message: 'yes', metrics: { prompt_tokens: 10, completion_tokens: 1 } },
      { step_id: 3, source: 'agent', message: 'done', model_name: 'other', metrics: { prompt_tokens: 20, completion_tokens: 1 } },
    ],
  });

  test('[F36] trajectories of one session are all read, and steps have the model of the agent', () => {
    const folder = scratch();
    for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.json`), JSON.stringify(trajectory(name)));
    const chain = emptyChain();
    for (const name of ['one', 'two', 'one']) importInto(chain, join(folder, `${name}.json`));
    expect(texts(chain).sort()).toEqual([
      ['one', 'yes', 'done'],
      ['two', 'yes', 'done'],
    ]);
    const calls = usageCalls(chain, {}).calls.map(({ model, tokens: { input } }) => `${model} ${input}`);
    expect(calls.sort()).toEqual(['m 10', 'm 10', 'other 20', 'other 20']);
  });

  test('[F36] a trajectory is found under the name that an older version gave it, and goes on', () => {
    const { steps, ...root } = trajectory('one') as { readonly steps: readonly object[] };
    const lines = [{ atif: 's1', root }, ...steps.map((step) => ({ atif: 's1', step }))];
    const older = join(scratch(), 'older.jsonl');
    writeFileSync(older, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const chain = emptyChain();
    importInto(chain, older);
    const more = { step_id: 4, source: 'user', message: 'more' };
    const path = join(scratch(), 'one.json');
    for (const added of [[], [more], [more, { ...more, step_id: 5, message: 'most' }]]) {
      writeFileSync(path, JSON.stringify({ ...root, steps: [...steps, ...added] }));
      importInto(chain, path);
    }
    expect(texts(chain)).toEqual([['one', 'yes', 'done', 'more', 'most']]);
    expect(usageCalls(chain, {}).total).toBe(2);
  });

  test('[F36] a trajectory that is imported before its first step is the same afterwards', () => {
    const path = join(scratch(), 'one.json');
    const whole = trajectory('one');
    const chain = emptyChain();
    for (const document of [{ ...whole, steps: [] }, whole]) {
      writeFileSync(path, JSON.stringify(document));
      importInto(chain, path);
    }
    expect(texts(chain)).toEqual([['one', 'yes', 'done']]);
  });
});
