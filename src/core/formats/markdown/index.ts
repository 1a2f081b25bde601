// markdown: a conversation as a document for people: prompts as headings, tool calls with their results, thinking folded.
// It is written, not read: parsing one gives its text as a single entry. Prompts and replies stay Markdown without HTML, images and
// links that run something (neutral.ts). Other texts are in code blocks that nothing in them can close.
import { encodeText } from '../../base/index.js';
import type { Format, WritableEntry } from '../format.js';
import { writtenText } from '../shared/written-text.js';
import { fence, inlineCode, inlineText, neutralMarkdown } from './neutral.js';

export const markdown: Format = {
  id: 'markdown',
  ...writtenText('md'),
  about: { name: 'Markdown', what: 'A document for people to read, for notes and issues.', extension: 'md' },
  holds: ['thinking', 'unsignedThinking', 'error', 'summary', 'system', 'event', 'injected'],
  recognize: (_, path) => (/\.(md|markdown)$/i.test(path) ? 0.2 : 0),
  write: (entries) => encodeText([...sections(entries)].join('')),
  writeParts: sections,
};

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
          ? `${neutralMarkdown(text)}\n\n`
          : `## ${title(entry)}\n\n${neutralMarkdown(text)}\n\n`;
    case 'thinking':
      return folded('Thinking', text === '' ? '(sealed by the provider)' : text);
    case 'summary':
      return `## Summary of what came before\n\n${neutralMarkdown(text)}\n\n`;
    case 'tool_call':
      return `**${inlineCode(entry.toolName || 'tool')}**\n\n${fence(JSON.stringify(entry.arguments ?? {}, null, 2), 'json')}`;
    case 'tool_result':
      return `${entry.isError ? '*failed:*' : '*result:*'}\n\n${fence(text, '')}`;
    case 'image':
      return `*(an image${entry.media ? `, ${inlineText(entry.media.mediaType)}, ${entry.media.bytes.length} bytes` : ''})*\n\n`;
    case 'event':
      return text === '' ? '' : `*${inlineCode(entry.toolName || 'event')}: ${inlineText(text)}*\n\n`;
  }
}

const title = (entry: WritableEntry): string =>
  (entry.role === 'system' ? 'System' : entry.role === 'tool' ? 'Tool' : 'User') + (entry.at ? `, ${inlineText(entry.at)}` : '');
const folded = (name: string, text: string): string => `<details><summary>${name}</summary>\n\n${fence(text, '')}</details>\n\n`;
