import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import type { RequestDiff } from '../../../../src/core/contract/index.js';
import { diffRequests } from '../../../../src/core/requests/index.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { type Block, type Message, openWriter, type Shape } from '../../../support/request-records.js';

const text = (words: string): Block => ({ type: 'text', text: words });
const user = (...words: string[]): Message => ({ role: 'user', content: words.map(text) });
const assistant = (...words: string[]): Message => ({ role: 'assistant', content: words.map(text) });
const tool = (name: string, description = name): Block => ({ name, description, input_schema: { type: 'object' } });
const shape: Shape = { system: [text('You are a tester.'), text('Be brief.')], tools: [tool('Bash'), tool('Read')] };

interface Call {
  readonly shape?: Shape;
  readonly messages: readonly Message[];
  readonly params?: Record<string, string | number | { readonly type: string }>;
}

/** Records two calls of one session and compares them. */
function diffOf(a: Call, b: Call): RequestDiff {
  const writer = openWriter('s1');
  writer.prompt('go');
  const [first, second] = [a, b].map((call, index) =>
    writer.send(call.shape ?? shape, call.messages, {
      params: call.params ?? { model: 'claude-test' },
      marks: [{ path: ['messages', call.messages.length - 1, 'content', 0], value: { type: 'ephemeral', ttl: index ? '1h' : '5m' } }],
    }),
  );
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, writer.text());
  const chain: WriteChain = emptyChain();
  importInto(chain, path);
  return diffRequests(chain, first?.id ?? '', second?.id ?? '');
}

const nothing = { same: true, changes: [] };

describe('the difference of two calls', () => {
  test('a call that goes on changes messages only, and its cache holds: marks are no difference', () => {
    const begun = [user('one'), assistant('1')];
    const diff = diffOf({ messages: begun }, { messages: [...begun, user('two')] });
    expect(diff).toMatchObject({ system: nothing, tools: { ...nothing, reordered: false }, params: nothing });
    expect(diff.messages).toEqual({
      same: false,
      a: 2,
      b: 3,
      hunks: [
        { op: 'same', aStart: 0, aCount: 2, bStart: 0, bCount: 2 },
        { op: 'added', aStart: 2, aCount: 0, bStart: 2, bCount: 1 },
      ],
    });
    expect(diff.cache.brokenAt).toBeNull();
    expect(diff.cache.prefix.messages).toBe(2);
    expect(diff.cache.prefix.tokens).toBeGreaterThan(20);
  });

  test('the same call twice, as a retry sends it', () => {
    const diff = diffOf({ messages: [user('one')] }, { messages: [user('one')] });
    expect(diff.messages.same).toBe(true);
    expect(diff.cache).toMatchObject({ prefix: { messages: 1 }, brokenAt: null });
  });

  test('a system block that changed breaks the cache behind the tools', () => {
    const diff = diffOf(
      { messages: [user('one')] },
      { shape: { ...shape, system: [text('You are a tester.'), text('Be long.')] }, messages: [user('one')] },
    );
    expect(diff.system).toEqual({ same: false, changes: [{ op: 'changed', path: 'system[1]', a: text('Be brief.'), b: text('Be long.') }] });
    expect(diff.messages.same).toBe(true);
    expect(diff.cache).toMatchObject({ prefix: { messages: 0 }, brokenAt: 'system[1]' });
    expect(diff.cache.prefix.tokens).toBeGreaterThan(0);
  });

  test('tools are compared by name; another order is no change of a tool, but the cache breaks', () => {
    const reordered = diffOf({ messages: [user('one')] }, { shape: { ...shape, tools: [tool('Read'), tool('Bash')] }, messages: [user('one')] });
    expect(reordered.tools).toEqual({ same: false, reordered: true, changes: [] });
    expect(reordered.cache).toEqual({ prefix: { messages: 0, tokens: 0 }, brokenAt: 'tools[0]' });
    const changed = diffOf(
      { messages: [user('one')] },
      { shape: { ...shape, tools: [tool('Bash'), tool('Edit'), tool('Read', 'Reads')] }, messages: [user('one')] },
    );
    expect(changed.tools.changes.map(({ op, path }) => [op, path])).toEqual([
      ['changed', 'tools.Read'],
      ['added', 'tools.Edit'],
    ]);
    expect(changed.cache.brokenAt).toBe('tools[1]');
  });

  test('parameters: a model change or thinking breaks the cache, a limit does not', () => {
    const messages = [user('one')];
    const model = diffOf({ messages }, { messages, params: { model: 'another' } });
    expect(model.params.changes).toEqual([{ op: 'changed', path: 'model', a: 'claude-test', b: 'another' }]);
    expect(model.cache).toEqual({ prefix: { messages: 0, tokens: 0 }, brokenAt: 'model' });
    const thinking = diffOf({ messages }, { messages, params: { model: 'claude-test', thinking: { type: 'enabled' } } });
    expect(thinking.cache).toMatchObject({ prefix: { messages: 0 }, brokenAt: 'thinking' });
    const limit = diffOf({ messages }, { messages, params: { model: 'claude-test', max_tokens: 5 } });
    expect(limit.params.changes).toEqual([{ op: 'added', path: 'max_tokens', b: 5 }]);
    expect(limit.cache.brokenAt).toBeNull();
  });

  test('the first block that differs is named; blocks added to the last message break nothing', () => {
    const edited = diffOf(
      { messages: [user('one', 'two', 'three'), assistant('1'), user('x')] },
      { messages: [user('one', '2', 'three'), assistant('1'), user('x')] },
    );
    expect(edited.cache).toMatchObject({ prefix: { messages: 0 }, brokenAt: 'messages[0].content[1]' });
    expect(edited.messages.hunks[0]).toEqual({ op: 'changed', aStart: 0, aCount: 1, bStart: 0, bCount: 1 });
    expect(diffOf({ messages: [user('one')] }, { messages: [user('one', 'two')] }).cache.brokenAt).toBeNull();
    expect(diffOf({ messages: [user('one'), assistant('1')] }, { messages: [user('one', 'two'), assistant('1')] }).cache.brokenAt).toBe(
      'messages[0].content[1]',
    );
  });

  test('a call that nobody recorded is not found', () => {
    expect(() => diffRequests(emptyChain(), 'a', 'b')).toThrow(expect.objectContaining({ code: 'NOT_FOUND', data: { id: 'a' } }));
  });
});
