import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../../src/core/base/index.js';
import { entries, fork, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { resumeIn } from '../../../../src/core/export/index.js';
import { qwenCode } from '../../../../src/core/formats/qwen-code/index.js';
import { detect, foundSessions, foundSources, listSources } from '../../../../src/core/import/index.js';
import { listRequests } from '../../../../src/core/requests/index.js';
import { bytesOfFile, importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { root } from '../../../support/source.js';
import { survivesAnyBytes } from '../each-byte.js';

const fixture = (name: string): string => join(root, 'test/fixtures/qwen-code', name);
const samples = ['019f0000-001.jsonl', '019f0000-004.jsonl', 'system_telemetry.jsonl'];

const line = (uuid: string, parentUuid: string | null, rest: object): JsonObject => ({
  uuid,
  parentUuid,
  sessionId: 's-1',
  timestamp: '2026-11-22T09:00:00.000Z',
  cwd: '/work/demo',
  version: '0.24.4',
  ...rest,
});
const user = (text: string): object => ({ type: 'user', message: { role: 'user', parts: [{ text }] } });
const model = (parts: object[], usageMetadata?: object): object => ({
  type: 'assistant',
  model: 'q',
  message: { role: 'model', parts },
  usageMetadata,
});

/** A session as the agent (0.24.4) writes it: a failed tool, a rewind, a failed call and a compression. */
const session: readonly JsonObject[] = [
  line('u1', null, user('Fix it')),
  line(
    'a1',
    'u1',
    model([{ text: 'Look first.', thought: true }, { functionCall: { id: 'c1', name: 'read_file', args: { path: 'x' } } }], {
      promptTokenCount: 90,
      candidatesTokenCount: 8,
      cachedContentTokenCount: 30,
    }),
  ),
  line('r1', 'a1', {
    type: 'tool_result',
    message: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'read_file', response: { error: 'no such file' } } }] },
    toolCallResult: { callId: 'c1', status: 'error', resultDisplay: 'not found' },
  }),
  line('t1', 'r1', { type: 'system', subtype: 'ui_telemetry', systemPayload: { uiEvent: { 'event.name': 'qwen-code.api_response' } } }),
  line('a2', 't1', model([{ text: 'It is missing.' }])),
  line('u2', 'a2', user('Make it')),
  line('a3', 'u2', model([{ text: 'Made.' }])),
  line('w1', 'a2', { type: 'system', subtype: 'rewind', systemPayload: { truncatedCount: 2 } }),
  line('u3', 'w1', user('Leave it')),
  line('t2', 'u3', {
    type: 'system',
    subtype: 'ui_telemetry',
    systemPayload: { uiEvent: { 'event.name': 'qwen-code.api_error', error_message: 'overloaded' } },
  }),
  line('x1', 't2', {
    type: 'system',
    subtype: 'chat_compression',
    systemPayload: {
      info: {},
      compressedHistory: [
        { role: 'user', parts: [{ text: '<state_snapshot>all' }] },
        { role: 'model', parts: [{ text: 'Got it.' }] },
      ],
    },
  }),
  line('u4', 'x1', user('Go on')),
  line('a4', 'u4', model([{ text: 'OK' }])),
];

function fileOf(records = session, folder = scratch()): string {
  const path = join(folder, 'projects/-work-demo/chats/s-1.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
}
const tipOf = (chain: WriteChain, text: string): ContextId =>
  tips(chain, {}).find(({ id }) => said(chain, id, 'root').join('\n').includes(text))?.id as ContextId;
const keys = (chain: WriteChain, id: ContextId): EntryKey[] => entries(chain, { id }).entries.map(({ key }) => key);

test('[F38] a rewind is a branch, and a compression replaces what came before it', () => {
  const chain = emptyChain();
  const path = fileOf();
  const result = importInto(chain, path);
  expect({ skipped: result.skipped, notes: result.notes }).toEqual({ skipped: [], notes: [] });
  expect(said(chain, tipOf(chain, 'Made.'))).toEqual([
    'user text  Fix it',
    'assistant thinking  Look first.',
    'assistant tool_call read_file ',
    'tool tool_result read_file no such file',
    'assistant text  It is missing.',
    'user text  Make it',
    'assistant text  Made.',
  ]);
  const last = result.tips.at(-1) as ContextId;
  expect(said(chain, last)).toEqual(['user summary  <state_snapshot>all', 'assistant text  Got it.', 'user text  Go on', 'assistant text  OK']);
  expect(
    entries(chain, { id: last, stop: 'root', hidden: true })
      .entries.filter(({ isError }) => isError)
      .map(({ text }) => text),
  ).toEqual(['no such file', 'overloaded']);
  expect(listRequests(chain, { id: tipOf(chain, 'Made.') }).map(({ tokens }) => tokens.input)).toEqual([null]);
  expect(listRequests(chain, { id: tipOf(chain, 'Made.'), stop: 'root' })[0]?.tokens).toEqual({
    input: 60,
    output: 8,
    cacheRead: 30,
    cacheWrite: null,
  });
  expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
  expect(listSources(chain)[0]).toMatchObject({ format: 'qwen-code-v1', sessionId: 's-1', cwd: '/work/demo' });
});

test('[F7] a fork with the same ids adds only its own turns', () => {
  const chain = emptyChain();
  importInto(chain, fileOf(session.slice(0, 7)));
  const copy = session
    .slice(0, 5)
    .map((record) => ({ ...record, sessionId: 's-2', forkedFrom: { sessionId: 's-1', messageUuid: record.uuid as string } }));
  const forked = [...copy, line('u9', 'a2', user('In a fork')), line('a9', 'u9', model([{ text: 'Yes' }]))];
  const path = join(scratch(), 'fork.jsonl');
  writeFileSync(path, forked.map((record) => `${JSON.stringify(record)}\n`).join(''));
  expect(importInto(chain, path).commits).toBe(1);
  expect(said(chain, tipOf(chain, 'In a fork')).length).toBe(7);
});

test('[F12] records of one id continue each other, and the active branch is the last', () => {
  const chain = emptyChain();
  const { tips: all, skipped } = importInto(chain, fixture('019f0000-004.jsonl'));
  expect(skipped).toEqual([]);
  const last = all.at(-1) as ContextId;
  expect(said(chain, last)).toEqual([
    'user text  Begin the active-chain fixture.',
    'user text  Continue from the rewound branch.',
    'assistant thinking  Reason over the active branch.',
    'assistant tool_call read_file ',
    'assistant text  Active branch answer.',
  ]);
  expect(new Set(keys(chain, last)).size).toBe(5);
  expect(listRequests(chain, { id: last }).at(-1)?.tokens).toMatchObject({ input: null });
});

test.each(samples)('[F21] the sample %s comes back byte for byte', (name) => {
  const chain = emptyChain();
  expect(importInto(chain, fixture(name)).sessions).toBe(1);
  expect(bytesOfFile(chain, fixture(name))).toEqual(readFileSync(fixture(name)));
  expect(detect([fixture(name)])).toMatchObject([{ format: 'qwen-code-v1' }]);
});

test('[F6] a subagent is a chain that its call started', () => {
  const chain = emptyChain();
  const folder = join(scratch(), 'subagents/s-1');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'agent-1.jsonl');
  writeFileSync(path, `${JSON.stringify({ ...line('g1', null, user('Check')), isSidechain: true, agentId: '1' })}\n`);
  writeFileSync(
    path.replace('.jsonl', '.meta.json'),
    JSON.stringify({ agentId: '1', agentType: 'checker', parentSessionId: 's-1', toolUseId: 'c9' }),
  );
  importInto(chain, path);
  expect(chain.db.all('SELECT toolCallId FROM started')).toEqual([{ toolCallId: 'c9' }]);
});

test('[F13] a cut inside an answer keeps the entries so far under their keys', () => {
  const chain = emptyChain();
  importInto(chain, fileOf());
  const id = tipOf(chain, 'Made.');
  const all = keys(chain, id);
  for (const [at, key] of all.entries()) expect(keys(chain, fork(chain, { id, at: key }).id)).toEqual(all.slice(0, at + 1));
});

test('[F37] an export is a session of its own, and its import has the same keys', () => {
  const home = scratch();
  const place = { agent: 'qwen' as const, root: home };
  fileOf(session, home);
  expect(foundSources([place])).toMatchObject([{ agent: 'qwen', sessions: 1, projects: 1 }]);
  expect([...foundSessions(place, () => false)]).toMatchObject([{ sessionId: 's-1', cwd: '/work/demo', title: 'Fix it' }]);
  const chain = emptyChain();
  importInto(chain, fileOf());
  const id = tipOf(chain, 'Made.');
  const back = resumeIn(chain, [place], { id });
  expect(back.path).toBe(join(home, 'projects/-work-demo/chats', `${back.sessionId}.jsonl`));
  expect(back.command).toBe(`cd /work/demo && qwen --resume ${back.sessionId}`);
  const again = emptyChain();
  const { tips: all } = importInto(again, back.path);
  expect(keys(again, all[0] as ContextId)).toEqual(keys(chain, id));
});

test('[F10] any bytes anywhere do no harm', () => survivesAnyBytes(qwenCode, readFileSync(fileOf())));
