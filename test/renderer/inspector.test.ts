import './page.js';
import { expect, test } from 'vitest';
import { handedWords } from '../../src/renderer/views/inspector/CommitFacts';
import { toolCounts } from '../../src/renderer/views/inspector/ContextSummary';
import { call, outlineRow, result } from './make';

test('tool calls are counted by tool, most frequent first', () => {
  const rows = [call('1', { head: 'Read' }), result('1'), call('2'), call('3'), outlineRow('t', 'assistant', 'text', { head: 'Bash' })];
  expect(toolCounts(rows)).toEqual([
    ['Bash', 2],
    ['Read', 1],
  ]);
});

test('a fork says what became of it', () => {
  const fork = { waiting: 0, ends: 'prompt', fileGone: false } as const;
  expect(handedWords(fork, true)).toEqual(['Nobody has answered this prompt yet.']);
  expect(handedWords(fork, false)).toEqual([]);
  expect(handedWords({ ...fork, waiting: 1, fileGone: true }, true)).toEqual([
    'An agent was asked to continue here and has not answered yet.',
    'The session file of the agent is gone. What was read from it stays here.',
  ]);
  expect(handedWords({ ...fork, ends: 'work' }, true)).toEqual(['The agent is still at work, or it was stopped in the middle.']);
  expect(handedWords({ ...fork, ends: 'reply' }, true)).toEqual([]);
});
