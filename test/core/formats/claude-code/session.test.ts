import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../../src/core/base/index.js';
import { anthropicMessages, claudeCode, type ParsedEntry, wireMessages } from '../../../../src/core/formats/index.js';
import { conversations, facts } from '../conversations.js';
import {
  assistant,
  boundary,
  deltaOf,
  fileOf,
  type Line,
  lastTip,
  lineage,
  plan,
  progress,
  reminder,
  result,
  snapshot,
  summary,
  system,
  use,
  user,
} from './records.js';

const sessionId = '22222222-2222-4222-8222-222222222222';
const now = '2026-03-01T00:00:00.000Z' as Timestamp;
const ids = (): (() => string) => {
  let number = 0;
  return () => `33333333-3333-4333-8333-${String(number++).padStart(12, '0')}`;
};
const linesOf = (bytes: Uint8Array): Line[] =>
  Buffer.from(bytes)
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
const sessionOf = (...lines: readonly (Line | string)[]): Uint8Array => claudeCode.session(fileOf(...lines), { sessionId, newId: ids(), now });
const unhidden = (bytes: Uint8Array) => claudeCode.parse(bytes).entries.filter(({ marks }) => !marks?.includes('hidden'));

describe('a session that the agent resumes', () => {
  test('[F14, R4] has a new id, one chain of parents, times, and no request records', () => {
    const bytes = sessionOf(
      snapshot,
      user('u1', 'elsewhere', 'ask', { timestamp: 'nonsense' }),
      { type: 'api-request', id: 'q' },
      progress('p1', 'u1'),
      assistant('a1', 'p1', [use('X')], { requestRef: 'q' }),
      result('r1', 'a1', 'X'),
      { type: 'ai-title', aiTitle: 'A title', sessionId: 'old' },
      { type: 'summary', summary: 'of another', leafUuid: 'gone' },
      assistant('a2', 'r1', 'done'),
    );
    const lines = linesOf(bytes);
    expect(lines.map(({ type, uuid, parentUuid, sessionId: id }) => [type, uuid, parentUuid, id])).toEqual([
      ['user', 'u1', null, sessionId],
      ['assistant', 'a1', 'u1', sessionId],
      ['user', 'r1', 'a1', sessionId],
      ['assistant', 'a2', 'r1', sessionId],
      ['ai-title', undefined, undefined, sessionId],
    ]);
    expect(lines[0]?.timestamp).toBe(now);
    expect(Buffer.from(bytes).toString()).not.toContain('requestRef');
  });

  test('[F14] a prompt that only the queue holds is there once, behind running calls', () => {
    const absorbed = (content: string, timestamp: string): Line => ({
      ...{ type: 'queue-operation', operation: 'remove', reason: 'absorbed_mid_turn', sessionId: 'old' },
      ...{ content, timestamp },
    });
    const at = '2026-09-01T10:00:28.000Z';
    const attached: Line = {
      ...{ type: 'attachment', uuid: 't1', parentUuid: 'r2', timestamp: now },
      attachment: { type: 'queued_command', prompt: 'shown', commandMode: 'prompt' },
    };
    const bytes = sessionOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', [use('X')], { id: 'm' }),
      absorbed('also this', at),
      absorbed('shown', at),
      assistant('a2', 'a1', [use('Y')], { id: 'm' }),
      result('r1', 'a2', 'X'),
      result('r2', 'r1', 'Y'),
      attached,
      assistant('a3', 't1', [use('Z')]),
      absorbed('never answered', at),
      user('u2', 'a3', 'next'),
      absorbed('at the end', at),
    );
    const [, , , , , queued] = linesOf(bytes);
    expect(linesOf(bytes).map(({ type, uuid }) => [type, uuid])).toEqual([
      ['user', 'u1'],
      ['assistant', 'a1'],
      ['assistant', 'a2'],
      ['user', 'r1'],
      ['user', 'r2'],
      ['attachment', queued?.uuid],
      ['attachment', 't1'],
      ['attachment', expect.any(String)],
      ['user', 'u2'],
      ['attachment', expect.any(String)],
    ]);
    expect(queued).toMatchObject({ timestamp: at, sessionId, parentUuid: 'r2', attachment: { prompt: 'also this' } });
    const said = unhidden(bytes).map(({ role, text = '' }) => `${role} ${text}`);
    for (const prompt of ['also this', 'shown', 'never answered', 'at the end'])
      expect(said.filter((text) => text.startsWith('user ') && text.split('\n').includes(prompt))).toHaveLength(1);
    // What the agent reads again is not added a second time.
    expect(linesOf(claudeCode.session(bytes, { sessionId, newId: ids(), now }))).toEqual(linesOf(bytes));
  });

  test('[F12] its entries are those of the context, with the same keys', () => {
    const file = fileOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', [use('X')], { id: 'm' }),
      assistant('a2', 'a1', [use('Y')], { id: 'm' }),
      result('r1', 'a1', 'X'),
      result('r2', 'a2', 'Y'),
      assistant('a3', 'r2', 'done'),
      reminder('t1', 'a3', 'note'),
    );
    const before = unhidden(file).map(({ key, text, toolCallId }) => [key, text, toolCallId]);
    expect(unhidden(claudeCode.session(file, { sessionId, newId: ids(), now })).map(({ key, text, toolCallId }) => [key, text, toolCallId])).toEqual(
      before,
    );
  });

  test("[F14] an open call at the end is closed with the agent's own text", () => {
    const lines = linesOf(
      sessionOf(
        user('u1', null, 'ask'),
        assistant('a1', 'u1', [use('X')], { id: 'm' }),
        assistant('a2', 'a1', [use('Y')], { id: 'm' }),
        result('r2', 'a2', 'Y'),
      ),
    );
    expect(lines.at(-1)).toMatchObject({
      type: 'user',
      parentUuid: 'r2',
      message: { content: [{ tool_use_id: 'X', is_error: true, content: expect.stringContaining('interrupted') }] },
    });
  });

  test('a call without a result in the middle is dropped, and so is a result without a call', () => {
    const bytes = sessionOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', [{ type: 'text', text: 'trying' }, use('X')]),
      user('u2', 'a1', 'never mind'),
      result('r1', 'u2', 'Z'),
      assistant('a2', 'r1', 'fine'),
    );
    expect(unhidden(bytes).map(({ kind, text }) => [kind, text])).toEqual([
      ['text', 'ask'],
      ['text', 'trying'],
      ['text', 'never mind'],
      ['text', '(no content)'],
      ['text', 'fine'],
    ]);
  });

  test('a compaction keeps its place, and its boundary names its parent', () => {
    const file = fileOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', 'answer'),
      boundary('b1', 'a1', ['a1']),
      summary('s1', 'b1'),
      user('u2', 's1', 'on'),
    );
    const planned = plan(file);
    const deltas = lineage(planned, lastTip(planned)).map((at) => deltaOf(file, planned.commits[at] as (typeof planned.commits)[number]));
    const whole = linesOf(claudeCode.session(claudeCode.concat(deltas), { sessionId, newId: ids(), now }));
    expect(whole.map(({ uuid, parentUuid, logicalParentUuid }) => [uuid, parentUuid, logicalParentUuid])).toEqual([
      ['u1', null, undefined],
      ['a1', 'u1', undefined],
      ['b1', null, 'a1'],
      ['s1', 'b1', undefined],
      ['u2', 's1', undefined],
    ]);
    const fromThere = linesOf(claudeCode.session(claudeCode.concat(deltas.slice(1)), { sessionId, newId: ids(), now }));
    expect(fromThere.map(({ uuid, parentUuid }) => [uuid, parentUuid])).toEqual([
      ['b1', null],
      ['s1', 'b1'],
      ['a1', 's1'],
      ['u2', 'a1'],
    ]);
  });

  test('a compaction lists only the kept messages that the context has', () => {
    const file = fileOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', 'one'),
      assistant('a2', 'a1', 'two'),
      boundary('b1', 'a2', ['a1', 'a2']),
      summary('s1', 'b1'),
      user('u2', 's1', 'on'),
      user('v2', 'a1', 'rewound'),
    );
    const planned = plan(file);
    const deltas = lineage(planned, lastTip(planned)).map((at) => deltaOf(file, planned.commits[at] as (typeof planned.commits)[number]));
    const lines = linesOf(claudeCode.session(claudeCode.concat(deltas), { sessionId, newId: ids(), now }));
    expect(lines.find(({ uuid }) => uuid === 'b1')?.compactMetadata).toMatchObject({ preservedMessages: { uuids: ['a1'], allUuids: ['a1'] } });
  });

  test('a summary from Stemma gets a boundary that lists its kept messages', () => {
    const before = fileOf(user('u1', null, 'ask'), assistant('a1', 'u1', 'answer'), user('u2', 'a1', 'more'), assistant('a2', 'u2', 'again'));
    const kept = claudeCode.parse(before).entries.slice(2);
    const compaction = claudeCode.write([{ role: 'user', kind: 'summary', text: 'In short.' }, ...kept], { newId: ids(), now });
    const lines = linesOf(
      claudeCode.session(claudeCode.concat([before, compaction, fileOf(user('u3', 'a2', 'on'))]), { sessionId, newId: randomUUID, now }),
    );
    const summaryId = lines[5]?.uuid;
    expect(lines.map(({ type, subtype, parentUuid }) => [type, subtype, parentUuid]).slice(4)).toEqual([
      ['system', 'compact_boundary', null],
      ['user', undefined, lines[4]?.uuid],
      ['user', undefined, summaryId],
    ]);
    expect(lines[4]).toMatchObject({
      logicalParentUuid: 'a2',
      compactMetadata: { preservedMessages: { anchorUuid: summaryId, uuids: ['u2', 'a2'] } },
    });
    expect(
      plan(claudeCode.session(claudeCode.concat([before, compaction]), { sessionId, newId: randomUUID, now })).commits.map(({ type }) => type),
    ).toEqual(['delta', 'delta', 'compaction']);
  });

  test('a subagent becomes a session of its own', () => {
    const lines = linesOf(
      sessionOf(user('x1', null, 'look', { isSidechain: true, agentId: 'a' }), assistant('x2', 'x1', 'found', { isSidechain: true, agentId: 'a' })),
    );
    expect(lines.map(({ isSidechain, agentId }) => [isSidechain, agentId])).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
  });

  test('__proto__ keys and unknown fields are kept', () => {
    const text = '{"type":"user","uuid":"u1","parentUuid":null,"__proto__":{"x":1},"strange":[1],"message":{"role":"user","content":"ask"}}\n';
    expect(Buffer.from(sessionOf(text)).toString()).toContain('"__proto__":{"x":1},"strange":[1]');
  });
});

describe('cutting', () => {
  const file = fileOf(
    snapshot,
    user('u1', null, 'ask'),
    assistant('a1', 'u1', [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]),
    system('s1', 'a1', 'turn_duration'),
  );

  test('[F13] keeps bytes up to the record, and rewrites only a record that is cut inside', () => {
    expect(claudeCode.cut(file, 'u1.0' as EntryKey)).toEqual(file.subarray(0, fileOf(snapshot, user('u1', null, 'ask')).length));
    const cut = claudeCode.cut(file, 'a1.0' as EntryKey);
    expect(claudeCode.parse(cut).entries.map(({ key, text }) => [key, text])).toEqual([
      ['u1.0', 'ask'],
      ['a1.0', 'one'],
    ]);
    expect(Buffer.from(cut).subarray(0, 100)).toEqual(Buffer.from(file).subarray(0, 100));
  });

  test('a missing entry is refused by name', () => {
    for (const key of ['nobody.0', 'no key at all', 'u1']) expect(() => claudeCode.cut(file, key as EntryKey)).toThrow(key);
  });
});

describe('concatenation', () => {
  test('ends each delta with exactly one newline', () => {
    const text = (...deltas: readonly string[]): string => Buffer.from(claudeCode.concat(deltas.map((delta) => Buffer.from(delta)))).toString();
    expect(text('a\n', 'b', '', 'c\n')).toBe('a\nb\nc\n');
    expect(text()).toBe('');
    expect(text('a')).toBe('a');
  });
});

const conversation = conversations({ thinking: true, images: true, errors: true });

describe('writing', () => {
  test('written entries are read back', { tags: 'long' }, () => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const bytes = claudeCode.write(entries, { newId: ids(), now, sessionId });
        const { entries: read, problems } = claudeCode.parse(bytes);
        expect(problems).toEqual([]);
        expect(facts(read)).toEqual(JSON.parse(JSON.stringify(facts(entries))));
      }),
      { numRuns: 150 },
    );
  });

  test('rewritten entries keep their keys, and the agent would send the same', { tags: 'long' }, () => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const once = claudeCode.parse(claudeCode.write(entries, { newId: ids(), now, sessionId })).entries;
        const twice = claudeCode.parse(claudeCode.write(once, { newId: ids(), now, sessionId })).entries;
        expect(twice.map(({ key }) => key)).toEqual(once.map(({ key }) => key));
        expect(wireMessages(twice)).toEqual(wireMessages(once));
        const session = claudeCode.session(claudeCode.write(once, { newId: ids(), now }), { sessionId, newId: ids(), now });
        expect(wireMessages(claudeCode.parse(session).entries)).toEqual(wireMessages(once));
      }),
      { numRuns: 100 },
    );
  });
});

test('[F12] an entry keeps its key when the block before it is removed', () => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } };
  const { entries } = claudeCode.parse(
    fileOf(
      user('u1', null, [picture, { type: 'text', text: 'what is it?' }]),
      assistant('a1', 'u1', [{ type: 'text', text: 'one' }, use('X'), { type: 'text', text: 'two' }]),
      result('r1', 'a1', 'X'),
    ),
  );
  const kept = entries.filter(({ kind, text }) => kind !== 'image' && text !== 'one');
  const again = claudeCode.parse(claudeCode.write(kept, { newId: ids(), now })).entries;
  expect(again.map(({ key }) => key)).toEqual(['u1.1', 'a1.1', 'a1.2', 'r1.0']);
  expect(wireMessages(again)).toEqual(wireMessages(kept));
});

test('a system prompt from another format stays a system prompt', () => {
  const [prompt] = claudeCode.parse(claudeCode.write([{ role: 'system', kind: 'text', text: 'Be brief' }], { newId: ids(), now })).entries;
  expect(prompt).toMatchObject({ role: 'system', kind: 'text', text: 'Be brief' });
  const document = anthropicMessages.write([prompt as ParsedEntry, { role: 'user', kind: 'text', text: 'hi' }], { newId: ids(), now });
  expect(JSON.parse(Buffer.from(document).toString())).toEqual({
    system: [{ type: 'text', text: 'Be brief' }],
    messages: [{ role: 'user', content: 'hi' }],
  });
});

test('both ends of a file give its name', () => {
  const file = fileOf(
    snapshot,
    user('u1', null, '<command-name>/clear</command-name>'),
    user('u2', 'u1', 'Fix the\nqueue'),
    assistant('a1', 'u2', 'ok'),
    { type: 'custom-title', customTitle: 'The queue' },
  );
  expect(claudeCode.peek(file.subarray(0, 1_500), file.subarray(file.length - 300))).toEqual({
    sessionId: '11111111-1111-4111-8111-111111111111',
    cwd: '/work',
    title: 'The queue',
    firstPrompt: 'Fix the',
    startedAt: '2026-01-01T00:00:01.000Z',
  });
  expect(claudeCode.peek(Buffer.from('garbage'), Buffer.from(''))).toEqual({});
});
