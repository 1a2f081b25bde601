import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId, JsonObject } from '../../../../src/core/base/index.js';
import { entries, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { vscodeChat } from '../../../../src/core/formats/vscode-chat/index.js';
import { importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

const request = (id: string, text: string, more: JsonObject): JsonObject => ({
  requestId: id,
  timestamp: 1_770_000_000_000,
  message: { text },
  ...more,
});
const first = request('a', 'One', { response: [{ value: 'One!' }], result: {} });
const documentOf = (requests: readonly unknown[]): string => JSON.stringify({ version: 3, sessionId: 's', creationDate: 1, requests });

function imported(requests: readonly unknown[], chain: WriteChain = emptyChain(), path = join(scratch(), 'chat.json')) {
  writeFileSync(path, documentOf(requests));
  const { notes } = importInto(chain, path);
  return { chain, path, notes, branches: tips(chain, {}).map(({ id }) => said(chain, id)) };
}

/** The events of the last entries of the only branch. */
const eventsOf = (chain: WriteChain): unknown[] =>
  entries(chain, { id: tips(chain, {})[0]?.id as ContextId, hidden: true }).entries.flatMap(({ kind, text, result }) =>
    kind === 'event' ? [[text, result]] : [],
  );

const unfinished = { reason: 'the request "b" has no result: its answer is missing or unfinished' };

test.each<[string, JsonObject, readonly string[], unknown, readonly object[]]>([
  ['without a response', {}, [], ['no answer', {}], [unfinished]],
  ['with an empty response', { response: [], modelState: { value: 0 } }, [], ['no answer', { modelState: { value: 0 } }], [unfinished]],
  ['with a part of an answer', { response: [{ value: 'Tw' }] }, ['assistant text  Tw'], ['unfinished answer', {}], [unfinished]],
  ['canceled before an answer', { isCanceled: true, response: [] }, [], ['no answer', { isCanceled: true }], []],
  [
    'canceled in its answer',
    { isCanceled: true, response: [{ value: 'Tw' }] },
    ['assistant text  Tw'],
    ['canceled answer', { isCanceled: true }],
    [],
  ],
])('[F9, F41] a last request %s is read, and says that its answer is not whole', (_, more, answer, event, named) => {
  const { chain, branches, notes } = imported([first, request('b', 'Two', more)]);
  expect(branches).toEqual([['user text  One', 'assistant text  One!', 'user text  Two', ...answer]]);
  expect(eventsOf(chain)).toEqual([event]);
  expect(notes).toMatchObject(named);
  expect(notes).toHaveLength(named.length);
});

test('[F41] a request that was imported unfinished is read whole when its answer was written', () => {
  const open = imported([first, request('b', 'Two', {})]);
  const done = request('b', 'Two', { response: [{ value: 'Two!' }], result: {} });
  const { branches } = imported([first, done], open.chain, open.path);
  expect(branches).toContainEqual(['user text  One', 'assistant text  One!', 'user text  Two', 'assistant text  Two!']);
  expect(branches.flat().filter((line) => line.includes('Two!'))).toHaveLength(1);
});

test('[F41] an unfinished request is no complete turn of a chat that is being written', () => {
  const [member] = vscodeChat.exports?.members(Buffer.from(documentOf([first, request('b', 'Two', {})]))) ?? [];
  const over = member?.over?.('turn_boundary');
  expect(over).toMatchObject({ last: 'a', open: true });
  const { bytes } = over?.lines() ?? { bytes: new Uint8Array() };
  expect(String(Buffer.from(bytes.subarray(0, bytes.length)))).not.toContain('Two');
});

test('[F9, F10] a request that is no object is kept and named', () => {
  const { chain, notes, branches } = imported(['odd', first]);
  expect(branches).toEqual([['user text  One', 'assistant text  One!']]);
  expect(eventsOf(chain)).toEqual([['record', 'odd']]);
  expect(notes).toMatchObject([{ reason: 'the record is "odd" instead of an object: it is kept as an event' }]);
});

test('[F9, F10] operations that Stemma cannot apply are named, and all others are applied', () => {
  const path = join(scratch(), 'chat.jsonl');
  const second = request('b', 'Two', { response: [{ value: 'Two!' }], result: {} });
  const log = [
    { kind: 0, v: { version: 3, sessionId: 's', creationDate: 1, requests: [first] } },
    { kind: 7, k: ['requests'], v: [second] },
    { kind: 2, v: [second] },
    ['a list'],
    { kind: 2, k: ['requests'], v: [second] },
  ];
  writeFileSync(path, `${log.map((line) => `${JSON.stringify(line)}\n`).join('')}{"kind":1,"k":`);
  const chain = emptyChain();
  const { skipped } = importInto(chain, path);
  expect(skipped.map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'the operation has the kind 7 instead of 0, 1, 2 or 3: it is not applied'],
    [3, 'the operation names no place in the state: it is not applied'],
    [4, 'JSON, but not an operation'],
    [6, 'not JSON'],
  ]);
  expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([
    ['user text  One', 'assistant text  One!', 'user text  Two', 'assistant text  Two!'],
  ]);
});

test.each<[string, object]>([
  ['negative', { kind: 1, k: ['requests', -1e9], v: first }],
  ['fractional', { kind: 2, k: ['requests'], i: 0.5, v: [] }],
])('[F9] an operation with a %s index cuts no request', (_, operation) => {
  const path = join(scratch(), 'chat.jsonl');
  const log = [{ kind: 0, v: { version: 3, sessionId: 's', creationDate: 1, requests: [first] } }, operation];
  writeFileSync(path, log.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const chain = emptyChain();
  importInto(chain, path);
  expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([['user text  One', 'assistant text  One!']]);
});
