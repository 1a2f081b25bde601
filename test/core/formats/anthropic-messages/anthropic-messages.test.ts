import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../../src/core/base/index.js';
import { anthropicMessages, claudeCode, wireMessages } from '../../../../src/core/formats/index.js';
import { runs } from '../../../support/properties.js';
import { assistant, fileOf, type Line, reminder, result, system, use, user } from '../claude-code/records.js';
import { conversations, facts } from '../conversations.js';

const options = { newId: () => 'id', now: '2026-01-01T00:00:00.000Z' as Timestamp };
const written = (...lines: readonly Line[]): unknown => wireMessages(claudeCode.parse(fileOf(...lines)).entries);
const note = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

describe('[F18] messages as Claude Code sends them', () => {
  test('parallel calls are one message, and their results and later texts the next', () => {
    expect(
      written(
        user('u1', null, 'do'),
        assistant('a1', 'u1', [use('X')], { id: 'm' }),
        result('r1', 'a1', 'X', 'x'),
        assistant('a2', 'r1', [use('Y')], { id: 'm' }),
        result('r2', 'a2', 'Y', 'y'),
        user('u2', 'r2', 'and?'),
      ),
    ).toEqual([
      { role: 'user', content: 'do' },
      { role: 'assistant', content: [use('X'), use('Y')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'X', content: 'x' },
          { type: 'tool_result', tool_use_id: 'Y', content: 'y' },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  test('reminders go before the texts of their turn, and adjacent texts are joined by a newline', () => {
    expect(written(user('u1', null, 'one'), user('u2', 'u1', 'two'), reminder('t1', 'u2', note('now')), assistant('a1', 't1', 'yes'))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: `${note('now')}\n` },
          { type: 'text', text: 'one\n' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: 'yes' },
    ]);
  });

  test('a reminder after a tool result becomes part of the last result', () => {
    const plain = written(
      user('u1', null, 'do'),
      assistant('a1', 'u1', [use('X')]),
      result('r1', 'a1', 'X', 'x'),
      reminder('t1', 'r1', note('left')),
    );
    expect(plain).toMatchObject([{}, {}, { content: [{ content: `x\n\n${note('left')}` }] }]);
    const list = written(
      user('u1', null, 'do'),
      assistant('a1', 'u1', [use('X')]),
      result('r1', 'a1', 'X', [{ type: 'text', text: 'x' }]),
      reminder('t1', 'r1', note('left')),
    );
    expect(list).toMatchObject([{}, {}, { content: [{ content: [{ text: 'x\n' }, { text: note('left') }] }] }]);
  });

  test('a list of texts and images in a result is sent in its order', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } };
    const content = [{ type: 'text', text: 'before' }, image, { type: 'text', text: 'after' }];
    expect(written(user('u1', null, 'do'), assistant('a1', 'u1', [use('X')]), result('r1', 'a1', 'X', content))).toMatchObject([
      {},
      {},
      { content: [{ content }] },
    ]);
  });

  test('hidden entries are not sent and do not split messages', () => {
    const failed = {
      ...assistant('e1', 'u1', 'API Error', { isApiErrorMessage: true }),
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
    };
    expect(written(user('u1', null, 'one'), failed, system('s1', 'e1', 'turn_duration'), user('u2', 's1', 'two'))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one\n' },
          { type: 'text', text: 'two' },
        ],
      },
    ]);
  });

  test('a call without a result is dropped, or closed at the end of the conversation', () => {
    expect(written(user('u1', null, 'do'), assistant('a1', 'u1', [use('X')]), user('u2', 'a1', 'stop'))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'do\n' },
          { type: 'text', text: 'stop' },
        ],
      },
    ]);
    expect(written(user('u1', null, 'do'), assistant('a1', 'u1', [use('X')]))).toMatchObject([
      {},
      { content: [use('X')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'X', is_error: true }] },
    ]);
  });

  test('thinking keeps its signature, and unsigned thinking is not sent', () => {
    const signed = { type: 'thinking', thinking: 'hm', signature: 's' };
    const sealed = { type: 'redacted_thinking', data: 'x' };
    expect(
      written(
        user('u1', null, 'do'),
        assistant('a1', 'u1', [signed, sealed, { type: 'thinking', thinking: 'no', signature: '' }, { type: 'text', text: 'yes' }]),
      ),
    ).toEqual([
      { role: 'user', content: 'do' },
      { role: 'assistant', content: [signed, sealed, { type: 'text', text: 'yes' }] },
    ]);
  });
});

describe('the document', () => {
  test('written entries are read back', () => {
    fc.assert(
      fc.property(conversations({ thinking: true, images: true, errors: true }), (entries) => {
        const { entries: read, problems } = anthropicMessages.parse(anthropicMessages.write(entries, options));
        expect(problems).toEqual([]);
        expect(facts(read)).toEqual(JSON.parse(JSON.stringify(facts(entries))));
      }),
      { numRuns: runs(150) },
    );
  });

  test('the system prompt is a separate field, and documents are joined', () => {
    const first = anthropicMessages.write(
      [
        { role: 'system', kind: 'text', text: 'Be brief' },
        { role: 'user', kind: 'text', text: 'hi' },
      ],
      options,
    );
    const second = anthropicMessages.write([{ role: 'assistant', kind: 'text', text: 'hello' }], options);
    const { entries } = anthropicMessages.parse(anthropicMessages.concat([first, second]));
    expect(entries.map(({ role, text }) => [role, text])).toEqual([
      ['system', 'Be brief'],
      ['user', 'hi'],
      ['assistant', 'hello'],
    ]);
  });

  test('[F13] a document can be cut after any entry', () => {
    const whole = anthropicMessages.write(
      [
        { role: 'user', kind: 'text', text: 'hi' },
        { role: 'assistant', kind: 'text', text: 'hello' },
        { role: 'user', kind: 'text', text: 'bye' },
      ],
      options,
    );
    const { entries } = anthropicMessages.parse(whole);
    const cut = anthropicMessages.cut(whole, entries[1]?.key as (typeof entries)[number]['key']);
    expect(anthropicMessages.parse(cut).entries.map(({ text }) => text)).toEqual(['hi', 'hello']);
    expect(() => anthropicMessages.cut(whole, 'none.0' as (typeof entries)[number]['key'])).toThrow('none.0');
  });

  test('[F10] other content has no entries and names a reason', () => {
    for (const text of ['', 'nonsense', '{}', '[1]', '{"messages":[{"role":"robot"}]}']) {
      const { entries, problems } = anthropicMessages.parse(Buffer.from(text));
      expect(entries).toEqual([]);
      expect(problems.length).toBe(text === '' ? 0 : 1);
    }
  });
});
