import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { cardsOf } from '../../../src/core/runner/call.js';
import { openDiary } from '../../../src/core/runner/diary.js';
import { emptyChain } from '../../support/project.js';

test('a call whose arguments are null is stored with empty ones', () => {
  const [thought, call] = cardsOf([{ role: 'assistant', kind: 'tool_call', toolCallId: 'c1', toolName: 'now', arguments: null }]);
  expect(thought?.toolCalls).toEqual([{ id: 'c1', type: 'function', function: { name: 'now', arguments: '{}' } }]);
  expect(call?.content).toEqual({ kind: 'json', data: { tool_name: 'now', arguments: {} } });
});

test('a question that cannot be stored waits for nothing', async () => {
  const { signal } = new AbortController();
  const diary = openDiary(emptyChain(), { jobId: 'none', limits: {}, listeners: new Set(), signal });
  await expect(diary.ask({ requestId: 'c1', toolName: 'Bash', arguments: '{}' })).rejects.toThrow('FOREIGN KEY');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
