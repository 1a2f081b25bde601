import { expect, test } from 'vitest';
import type { Timestamp } from '../../../../src/core/base/index.js';
import { importableFormats, markdown, requireFormat } from '../../../../src/core/formats/index.js';

const options = { newId: () => 'id', now: '2026-01-01T00:00:00.000Z' as Timestamp };

test('a conversation reads from top to bottom, and nothing closes its fences', () => {
  const text = Buffer.from(
    markdown.write(
      [
        { role: 'user', kind: 'text', text: 'Fix it' },
        { role: 'assistant', kind: 'text', text: 'Looking.' },
        { role: 'assistant', kind: 'tool_call', toolName: 'Read', toolCallId: 'X', arguments: { file: 'a' } },
        { role: 'tool', kind: 'tool_result', toolCallId: 'X', text: '```\n</details>\n````', isError: true },
        { role: 'system', kind: 'event', text: 'never sent', marks: ['hidden'] },
      ],
      options,
    ),
  ).toString();
  expect(text).toMatch(/^## User\n\nFix it\n\nLooking\.\n\n\*\*`Read`\*\*/);
  expect(text).toContain('*failed:*\n\n`````\n```\n</details>\n````\n`````\n');
  expect(text).not.toContain('never sent');
});

test('[F20] it is marked as rendered, and unknown formats are refused', () => {
  expect(requireFormat('markdown').tier).toBe('rendered');
  expect(requireFormat('claude-code-v1').tier).toBe('translated');
  expect(() => requireFormat('no-such-format')).toThrow('claude-code-v1');
  expect(importableFormats.map(({ id }) => id)).toContain('claude-code-v1');
});

test('[F22] formats recognize their own files', () => {
  const best = (text: string, path: string): string | undefined =>
    ['claude-code-v1', 'anthropic-messages-v1', 'openai-chat-v1', 'markdown']
      .map((id) => ({ id, sure: requireFormat(id).recognize(Buffer.from(text), path) }))
      .filter(({ sure }) => sure > 0.1)
      .sort((a, b) => b.sure - a.sure)[0]?.id;
  expect(best('{"parentUuid":null,"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"x"}}\n', 'a.jsonl')).toBe(
    'claude-code-v1',
  );
  expect(best('{"type":"summary","summary":"s","leafUuid":"l"}\n{"type":"queue-operation","operation":"dequeue"}\n', 'a.jsonl')).toBe(
    'claude-code-v1',
  );
  expect(best('{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}', 'a.json')).toBe('anthropic-messages-v1');
  expect(best('{"messages":[{"role":"assistant","tool_calls":[]}]}', 'a.json')).toBe('openai-chat-v1');
  expect(best('# Title', 'a.md')).toBe('markdown');
  expect(best('hello', 'a.txt')).toBeUndefined();
});
