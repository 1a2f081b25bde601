import type { EntryKey, Timestamp } from '../../src/core/base/index.js';
import type { WritableEntry } from '../../src/core/formats/index.js';

/** Entries of every kind, with difficult texts, to write files in every format. */
const answered = { role: 'assistant' as const, author: 'model-1' };
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const drafts: readonly WritableEntry[] = [
  { role: 'system', kind: 'text', text: 'You are a helper.', messageId: 's0' },
  { role: 'user', kind: 'summary', text: 'What came before: nothing.', messageId: 's1' },
  { role: 'user', kind: 'text', text: 'naïve 日本語 🧑‍🚀 </script> \u2028 "quoted" \\', messageId: 'u1', author: 'ann' },
  { role: 'user', kind: 'image', messageId: 'u1', media: { mediaType: 'image/png', bytes: png } },
  { ...answered, kind: 'thinking', text: 'Let me see.', marks: ['signed'], result: { signature: 'c2ln' }, messageId: 'm1' },
  { ...answered, kind: 'thinking', text: 'Unsigned.', messageId: 'm1' },
  { ...answered, kind: 'text', text: 'I look at two files.\n\n```ts\nconst a = 1;\n```', messageId: 'm1' },
  { ...answered, kind: 'tool_call', toolName: 'Read', toolCallId: 'c1', arguments: { file_path: '/a/b', deep: [{ x: null }] }, messageId: 'm1' },
  { ...answered, kind: 'tool_call', toolName: 'Bash', toolCallId: 'c2', arguments: {}, messageId: 'm1' },
  { role: 'tool', kind: 'tool_result', toolName: 'Read', toolCallId: 'c1', text: '', messageId: 'r1' },
  { role: 'tool', kind: 'tool_result', toolName: 'Bash', toolCallId: 'c2', text: 'half \ud83d a character', isError: true, messageId: 'r1' },
  { role: 'tool', kind: 'image', toolName: 'Bash', toolCallId: 'c2', media: { mediaType: 'image/png', bytes: png }, messageId: 'r1' },
  { ...answered, kind: 'text', text: 'Done.', messageId: 'm2' },
  { role: 'user', kind: 'text', text: 'put in', marks: ['meta'], messageId: 'u2' },
  { ...answered, kind: 'text', text: ' ', messageId: 'm3' },
];
export const everySort: readonly WritableEntry[] = drafts.map((draft, at) => ({
  ...draft,
  key: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}.0` as EntryKey,
  at: new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString() as Timestamp,
}));
