import { describe, expect, test } from 'vitest';
import { claudeCode, type ParsedEntry } from '../../../../src/core/formats/index.js';
import { assistant, fileOf, type Line, progress, result, system, use, user } from './records.js';

const entriesOf = (...lines: readonly Line[]): readonly ParsedEntry[] => claudeCode.parse(fileOf(...lines)).entries;
const png = 'iVBORw0KGgo=';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };

describe('the entries of a record', () => {
  test('[F12] entry keys name the record and the block', () => {
    const entries = entriesOf(user('u1', null, 'ask'), assistant('a1', 'u1', [{ type: 'text', text: 'one' }, use('X')]));
    expect(entries.map(({ key }) => key)).toEqual(['u1.0', 'a1.0', 'a1.1']);
  });

  test('[F17] records of one message share its id, and each part has its own tokens', () => {
    const entries = entriesOf(
      assistant('a1', null, [{ type: 'thinking', thinking: 'hm', signature: 's' }], { id: 'm' }),
      assistant('a2', 'a1', 'text', { id: 'm' }),
    );
    expect(entries.map(({ messageId }) => messageId)).toEqual(['m', 'm']);
    expect(entries.map(({ tokens }) => tokens)).toEqual([1, 1]);
  });

  test('thinking is marked as signed or sealed, and keeps its seal', () => {
    const entries = entriesOf(
      assistant('a1', null, [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'thinking', thinking: 'bare', signature: '' },
        { type: 'redacted_thinking', data: 'xyz' },
      ]),
    );
    expect(entries).toMatchObject([
      { kind: 'thinking', text: 'hm', marks: ['signed'], result: { signature: 'sig' } },
      { kind: 'thinking', text: 'bare' },
      { kind: 'thinking', marks: ['redacted'], result: { data: 'xyz' } },
    ]);
    expect(entries[1]).not.toHaveProperty('marks');
  });

  test('a call has its input; a result has its text, its data and its error flag', () => {
    const call = assistant('a1', null, [use('X', 'Read', { file_path: '/a' })]);
    const failed = user('r1', 'a1', [{ type: 'tool_result', tool_use_id: 'X', content: 'no', is_error: true }], { toolUseResult: { stderr: 'no' } });
    expect(entriesOf(call, failed)).toMatchObject([
      { kind: 'tool_call', role: 'assistant', toolName: 'Read', toolCallId: 'X', arguments: { file_path: '/a' } },
      { kind: 'tool_result', role: 'tool', toolCallId: 'X', text: 'no', isError: true, result: { stderr: 'no' } },
    ]);
  });

  test('images in prompts and results are bytes', () => {
    const entries = entriesOf(
      user('u1', null, [image, { type: 'text', text: 'what is it?' }]),
      assistant('a1', 'u1', [use('X')]),
      result('r1', 'a1', 'X', [{ type: 'text', text: 'see' }, image]),
    );
    expect(entries.map(({ key, kind, role, media }) => [key, kind, role, media && Buffer.from(media.bytes).toString('base64')])).toEqual([
      ['u1.0', 'image', 'user', png],
      ['u1.1', 'text', 'user', undefined],
      ['a1.0', 'tool_call', 'assistant', undefined],
      ['r1.0', 'tool_result', 'tool', undefined],
      ['r1.200000', 'image', 'tool', png],
    ]);
    expect(entries[4]?.toolCallId).toBe('X');
  });

  test('system lines, API errors and prompt snapshots are hidden and cost no tokens', () => {
    const failure = assistant('e1', 'u1', 'API Error: 529', { isApiErrorMessage: true });
    const synthetic = { ...failure, message: { ...(failure.message as object), model: '<synthetic>' } };
    const entries = entriesOf(
      user('u1', null, 'ask'),
      synthetic,
      system('s1', 'e1', 'api_error', { error: { formatted: 'overloaded' } }),
      { ...progress('t1', 's1'), type: 'attachment', attachment: { type: 'prompt_snapshot', systemPrompt: ['You are'] } },
      progress('p1', 't1'),
    );
    expect(entries.map(({ kind, text, marks, tokens, isError }) => [kind, text, marks?.[0], tokens, isError])).toEqual([
      ['text', 'ask', undefined, 1, undefined],
      ['text', 'API Error: 529', 'hidden', 0, true],
      ['event', 'overloaded', 'hidden', 0, true],
      ['event', 'prompt snapshot', 'hidden', 0, undefined],
    ]);
  });

  test('texts of the runtime, commands, summaries and queued prompts have their marks', () => {
    const entries = entriesOf(
      user('u1', null, [{ type: 'text', text: 'expanded' }], { isMeta: true }),
      user('u2', 'u1', '<command-name>/cost</command-name>'),
      system('s1', 'u2', 'local_command', { content: '<local-command-stdout>$1</local-command-stdout>' }),
      user('u3', 's1', 'Summary', { isCompactSummary: true }),
      { ...progress('t1', 'u3'), type: 'attachment', attachment: { type: 'queued_command', prompt: 'and this', commandMode: 'prompt' } },
    );
    expect(entries.map(({ kind, role, marks }) => [kind, role, marks])).toEqual([
      ['text', 'user', ['meta']],
      ['text', 'user', ['command']],
      ['text', 'user', ['command']],
      ['summary', 'user', undefined],
      ['text', 'user', ['meta', 'attachment', 'queued_command', 'queued']],
    ]);
    expect(entries[4]?.text).toContain('and this');
  });

  test('[F16] a microcompaction names the results that it blanks', () => {
    const { elisions } = claudeCode.parse(
      fileOf(system('s1', null, 'microcompact_boundary', { microcompactMetadata: { compactedToolIds: ['X', 'Y'], tokensSaved: 9 } })),
    );
    expect(elisions).toEqual([{ toolCallIds: ['X', 'Y'], text: '[Old tool result content cleared]' }]);
  });

  test('a block of unknown kind is kept unchanged', () => {
    expect(entriesOf(user('u1', null, [{ type: 'hologram', data: 1 }]))).toMatchObject([
      { kind: 'event', toolName: 'hologram', result: { type: 'hologram', data: 1 } },
    ]);
  });
});
