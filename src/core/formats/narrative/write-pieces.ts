import type { WritableEntry } from '../format.js';
import { fence, inlineCode, inlineText, isSuspicious, neutralMarkdown } from '../markdown/neutral.js';

export interface AccountPiece {
  /** The number of its turn, from 0. A turn begins when a person writes to the agent. */
  readonly turn: number;
  readonly sort: 'said' | 'summary' | 'thought' | 'call' | 'result';
  /** The texts in full, folded and brief form. Each is at most as long as the previous one. */
  readonly forms: readonly [whole: string, folded: string, brief: string];
}

// Texts of the conversation are neutral, because a Markdown viewer shows the account.
const output = (text: string): string => (isSuspicious(text) ? fence(text, '').trimEnd() : text);
const line = (text: string): string => (isSuspicious(text) ? inlineText(text) : text);

/** The pieces of the entries, in order, without entries that the model never saw and without thinking that only its provider can read. */
export function makePieces(entries: readonly WritableEntry[]): readonly AccountPiece[] {
  const names = new Map(entries.flatMap(({ kind, toolCallId, toolName }) => (kind === 'tool_call' && toolCallId ? [[toolCallId, toolName]] : [])));
  let turn = 0;
  let spoken = false;
  return entries.flatMap((entry) => {
    if (entry.marks?.includes('hidden')) return [];
    if (isPrompt(entry) && spoken) turn += 1;
    if (entry.role === 'assistant') spoken = true;
    if (isPrompt(entry)) spoken = false;
    const piece = pieceOf(entry, entry.toolName ?? names.get(entry.toolCallId ?? ''));
    return piece ? [{ turn, ...piece }] : [];
  });
}

const isPrompt = ({ role, kind, marks }: WritableEntry): boolean => role === 'user' && kind === 'text' && !marks?.includes('meta');

function pieceOf(entry: WritableEntry, toolName = 'a tool'): Omit<AccountPiece, 'turn'> | undefined {
  const tool = inlineCode(toolName);
  const text = (entry.text ?? '').toWellFormed().trim();
  switch (entry.kind) {
    case 'text': {
      if (text === '') return undefined;
      const who = `**${line(speaker(entry))}**${entry.role === 'user' && entry.at ? ` (${line(entry.at)})` : ''}:`;
      const whole = `${who}\n${quoted(neutralMarkdown(text))}\n\n`;
      return { sort: 'said', forms: shrinking(whole, whole, `${who} ${line(firstWords(text, 200))}\n\n`) };
    }
    case 'summary': {
      const whole = `**Summary of what came before**:\n${quoted(neutralMarkdown(text))}\n\n`;
      return { sort: 'summary', forms: shrinking(whole, whole, `**Summary of what came before**: ${line(firstWords(text, 2_000))}\n\n`) };
    }
    case 'thinking':
      return text === '' ? undefined : { sort: 'thought', forms: [`The assistant thought:\n${quoted(neutralMarkdown(text))}\n\n`, '', ''] };
    case 'tool_call': {
      const input = entry.arguments === undefined ? '' : ` with ${JSON.stringify(entry.arguments).toWellFormed()}`;
      return {
        sort: 'call',
        forms: shrinking(`It ran ${tool}${line(input)}\n\n`, `It ran ${tool}${line(firstWords(input, 160))}\n\n`, `It ran ${tool}\n\n`),
      };
    }
    case 'tool_result': {
      const effect = `${tool} ${entry.isError ? 'failed' : 'gave'}`;
      if (text === '')
        return { sort: 'result', forms: [`${effect}${entry.isError ? '' : ' nothing'}\n\n`, `${effect}${entry.isError ? '' : ' nothing'}\n\n`, ''] };
      const folded = `${effect}: ${line(firstWords(text, 160))} (folded: ${text.length} characters)\n\n`;
      return { sort: 'result', forms: shrinking(`${effect}:\n${quoted(output(text))}\n\n`, folded, entry.isError ? `${effect}\n\n` : '') };
    }
    case 'image': {
      const shown = `(an image${entry.media ? `, ${line(entry.media.mediaType)}, ${entry.media.bytes.length} bytes` : ''})\n\n`;
      return { sort: 'result', forms: [shown, shown, ''] };
    }
    case 'event':
      return text === '' ? undefined : { sort: 'result', forms: shrinking(`(${line(toolName)}: ${line(text)})\n\n`, `(${line(toolName)})\n\n`, '') };
  }
}

function speaker({ role, marks, author }: WritableEntry): string {
  if (marks?.includes('meta')) return 'The runtime said';
  if (role === 'system') return 'The system said';
  if (role === 'assistant') return 'The assistant said';
  return author && role === 'user' ? `${author} said` : 'The user said';
}

/** Quotes each line, so that no line can pass for text of the account itself. */
const quoted = (text: string): string => text.replace(/^/gm, '> ');

function firstWords(text: string, length: number): string {
  const line = text.slice(0, length * 2).replace(/\s+/g, ' ');
  return line.length <= length && text.length <= length * 2 ? line : `${line.slice(0, length).toWellFormed()}…`;
}

function shrinking(whole: string, folded: string, brief: string): AccountPiece['forms'] {
  const second = folded.length < whole.length ? folded : whole;
  return [whole, second, brief.length < second.length ? brief : second];
}
