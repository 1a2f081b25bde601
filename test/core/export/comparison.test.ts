import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkpoint, fork } from '../../../src/core/chain/index.js';
import { exportComparison } from '../../../src/core/export/index.js';
import { compareCalls, compareContexts, compareMany } from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

function branches() {
  const chain = emptyChain();
  const origin = checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text:
      prompt('u1', 'fix the queue') +
      call('c1', 't1', 'Edit', { file_path: '/q.js', new_string: 'one\ntwo\nthree' }, { parent: 'u1' }) +
      result('r1', 't1', 'ok', { parent: 'c1' }) +
      answer('a1', 'It is fixed.', { parent: 'r1' }),
    template: 'coder',
    checkpoint: 'turn_boundary',
  });
  const reply = (text: string, path: string) =>
    fork(chain, {
      id: fork(chain, { id: origin.id, at: 'u1.0' as never }).id,
      edits: [
        {
          op: 'append',
          entry: {
            role: 'assistant',
            kind: 'tool_call',
            toolName: 'Edit',
            toolCallId: `n${path}`,
            arguments: { file_path: path, new_string: 'one\n2\nthree' },
          },
        },
        { op: 'append', entry: { role: 'tool', kind: 'tool_result', toolCallId: `n${path}`, text: 'ok' } },
        { op: 'append', entry: { role: 'assistant', kind: 'text', text } },
      ],
    });
  return { chain, origin, first: reply('It is fixed.', '/q.js'), second: reply('I broke it.\n```\n# not a heading', '/r.js') };
}

describe('[C22] contexts compared', () => {
  test('tool calls are compared by the structure of their arguments', () => {
    const { chain, origin, second } = branches();
    const { hunks } = compareContexts(chain, { a: origin.id, b: second.id });
    expect(hunks.map(({ op, aCount }) => `${op} ${aCount}`)).toEqual(['same 1', 'changed 1', 'same 1', 'changed 1']);
    expect(
      compareCalls(chain, {
        a: origin.id,
        b: second.id,
        pairs: [
          { a: 1, b: 1 },
          { a: 2, b: 2 },
        ],
      }),
    ).toEqual([
      {
        a: 1,
        b: 1,
        fields: [
          { op: 'changed', path: 'file_path', a: '/q.js', b: '/r.js' },
          { op: 'changed', path: 'new_string', a: 'one\ntwo\nthree', b: 'one\n2\nthree' },
        ],
      },
      { a: 2, b: 2, fields: [] },
    ]);
    expect(refusal(() => compareCalls(chain, { a: origin.id, b: second.id, pairs: [{ a: 9, b: 0 }] }))).toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('several contexts are compared side by side with the first', () => {
    const { chain, origin, first, second } = branches();
    const { sides, rows, base } = compareMany(chain, { ids: [origin.id, first.id, second.id] });
    expect(base).toBeNull();
    expect(sides.map((side) => [side.turnId, side.context.entries, side.cost])).toEqual([
      [origin.id, 4, null],
      [first.id, 4, null],
      [second.id, 4, null],
    ]);
    expect(rows).toEqual([
      { cells: [0, 0, 0], same: true },
      { cells: [1, 1, 1], same: false },
      { cells: [2, 2, 2], same: true },
      { cells: [3, 3, 3], same: false },
    ]);
  });

  test('[P7] a comparison as Markdown has costs and differences, with every text in code blocks', () => {
    const { chain, origin, first, second } = branches();
    const { text = '' } = exportComparison(chain, { ids: [origin.id, second.id] });
    expect(text).toContain('Common ancestor: none. 2 entries the same, 2 differences.');
    expect(text).toContain(`| A | \`${origin.id}\` |`);
    expect(text).toContain('@@ file_path changed\n- /q.js\n+ /r.js');
    expect(text).toContain('  one\n- two\n+ 2\n  three');
    expect(text).toContain('````diff\n- It is fixed.\n+ I broke it.\n+ ```\n+ # not a heading\n````');
    const three = exportComparison(chain, { ids: [origin.id, first.id, second.id] }).text ?? '';
    expect(three).toContain('*A → B: the same*');
    expect(three).toContain('*A → C*');
  });

  test('a comparison is written to a new file and never overwrites one', () => {
    const { chain, origin, first } = branches();
    const path = join(scratch(), 'comparison.md');
    const { bytes, text } = exportComparison(chain, { ids: [origin.id, first.id], path });
    expect(text).toBeUndefined();
    expect(existsSync(path) && readFileSync(path).length).toBe(bytes);
    expect(refusal(() => exportComparison(chain, { ids: [origin.id, first.id], path }))).toMatchObject({ code: 'CONFLICT' });
  });
});
