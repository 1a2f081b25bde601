// markdown: a conversation as a document for people: prompts as headings, tool calls with what they got, thinking folded.
// It is written, not read: parsing one gives its text as a single entry. Texts of the conversation stay inside fences that
// nothing in them can close, so that a document says what was said and nothing more.
import { createHash } from 'node:crypto';
import { bytesOf, concatBytes, type EntryKey, textOf } from '../../base/index.js';
import type { Format, ParsedDelta, WritableEntry } from '../format.js';
import { countTokens } from '../tokens.js';

export const markdown: Format = {
  id: 'markdown',
  contentType: 'text/markdown',
  about: { name: 'Markdown', what: 'A document for people, for notes and issues.', extension: 'md' },
  tier: 'rendered',
  holds: ['thinking', 'unsignedThinking', 'error', 'summary', 'system', 'event', 'injected'],
  recognize: (_, path) => (/\.(md|markdown)$/i.test(path) ? 0.2 : 0),
  parse,
  write: (entries) => bytesOf([...sections(entries)].join('')),
  writeParts: sections,
  concat: concatBytes,
  cut: (delta) => delta,
};

function parse(delta: Uint8Array): ParsedDelta {
  if (delta.length === 0) return { entries: [], elisions: [], problems: [] };
  const text = textOf(delta);
  const key = `md-${createHash('sha256').update(delta).digest('hex').slice(0, 12)}.0` as EntryKey;
  return {
    entries: [{ key, role: 'user', kind: 'text', text, tokens: countTokens(text), raw: { start: 0, end: delta.length } }],
    elisions: [],
    problems: [],
  };
}

function* sections(entries: Iterable<WritableEntry>): Generator<string> {
  for (const entry of entries) if (!entry.marks?.includes('hidden')) yield section(entry);
}

function section(entry: WritableEntry): string {
  const text = (entry.text ?? '').toWellFormed();
  switch (entry.kind) {
    case 'text':
      return entry.marks?.includes('meta')
        ? folded('Put in by the runtime', text)
        : entry.role === 'assistant'
          ? `${text.trim()}\n\n`
          : `## ${title(entry)}\n\n${text.trim()}\n\n`;
    case 'thinking':
      return folded('Thinking', text === '' ? '(sealed by the provider)' : text);
    case 'summary':
      return `## Summary of what came before\n\n${text.trim()}\n\n`;
    case 'tool_call':
      return `**${code(entry.toolName ?? 'tool')}**\n\n${fence(JSON.stringify(entry.arguments ?? {}, null, 2), 'json')}`;
    case 'tool_result':
      return `${entry.isError ? '*failed:*' : '*result:*'}\n\n${fence(text, '')}`;
    case 'image':
      return `*(an image${entry.media ? `, ${entry.media.mediaType}, ${entry.media.bytes.length} bytes` : ''})*\n\n`;
    case 'event':
      return text === '' ? '' : `*${code(entry.toolName ?? 'event')}: ${text.replaceAll('\n', ' ')}*\n\n`;
  }
}

const title = (entry: WritableEntry): string =>
  (entry.role === 'system' ? 'System' : entry.role === 'tool' ? 'Tool' : 'User') + (entry.at ? `, ${entry.at}` : '');
const folded = (name: string, text: string): string => `<details><summary>${name}</summary>\n\n${fence(text, '')}</details>\n\n`;

/** A fence longer than any in the text. */
export function fence(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const bar = '`'.repeat(longest + 1);
  return `${bar}${language}\n${text.toWellFormed()}${text.endsWith('\n') ? '' : '\n'}${bar}\n\n`;
}
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;
