import { expect, test } from 'vitest';
import { toolCounts } from '../../src/renderer/views/inspector/tools';
import { call, outlineRow, result } from './make';

test('tool calls are counted by tool, most frequent first', () => {
  const rows = [call('1', { head: 'Read' }), result('1'), call('2'), call('3'), outlineRow('t', 'assistant', 'text', { head: 'Bash' })];
  expect(toolCounts(rows)).toEqual([
    ['Bash', 2],
    ['Read', 1],
  ]);
});
