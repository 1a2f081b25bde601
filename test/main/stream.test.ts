import { expect, test } from 'vitest';
import { claudeStream } from '../../src/main/cli/stream.js';

const always = ['--output-format', 'stream-json', '--no-session-persistence'];
const promptOf = (...args: string[]): unknown => {
  const read = claudeStream(args, '/w')?.('{"type":"system","subtype":"init","session_id":"s"}');
  return read && (JSON.parse(read.lines.split('\n')[0] ?? '') as { message: { content: string } }).message.content;
};

test('[L10] the prompt of a command line is in the first delta, wherever it stands', () => {
  expect(promptOf('claude', '-p', 'Fix it', ...always, '--verbose')).toBe('Fix it');
  expect(promptOf('claude', ...always, '--print', 'Fix it')).toBe('Fix it');
  expect(promptOf('claude', '-p', ...always, '--verbose', 'Fix it')).toBe('Fix it');
  expect(promptOf('claude', '-p', '--model', 'opus', ...always, 'Fix it', '--max-turns', '3')).toBe('Fix it');
  expect(promptOf('claude', '-p', ...always, '--model=opus', 'Fix it')).toBe('Fix it');
  expect(promptOf('claude', '-p', ...always, '--allowedTools', 'Bash', 'Fix it')).toBe('Fix it');
  expect(promptOf('claude', '-p', ...always, '--', '-not an option')).toBe('-not an option');
});

test('[L10] a value of an option is no prompt: the prompt then comes on standard input', () => {
  expect(promptOf('claude', '-p', ...always, '--model', 'opus')).toBeUndefined();
  expect(promptOf('node', 'claude.mjs', '-p', ...always)).toBeUndefined();
});
