import type { WritableEntry } from '../format.js';

/** One entry of the account, at several lengths. */
export interface Piece {
  /** The number of the turn that it belongs to, from 0: a turn begins where somebody says something to the agent. */
  readonly turn: number;
  readonly sort: 'said' | 'summary' | 'thought' | 'call' | 'result';
  /** Whole, folded, and in a word: each shorter than the one before it, or the same. */
  readonly forms: readonly [whole: string, folded: string, brief: string];
}

/** What is told of the entries, in order: nothing that the model never saw, and no thinking that only its provider can read. */
export function piecesOf(entries: readonly WritableEntry[]): readonly Piece[] {
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

function pieceOf(entry: WritableEntry, toolName = 'a tool'): Omit<Piece, 'turn'> | undefined {
  const text = (entry.text ?? '').toWellFormed().trim();
  switch (entry.kind) {
    case 'text': {
      if (text === '') return undefined;
      const who = `**${speaker(entry)}**${entry.role === 'user' && entry.at ? ` (${entry.at})` : ''}:`;
      const whole = `${who}\n${quoted(text)}\n\n`;
      return { sort: 'said', forms: shrinking(whole, whole, `${who} ${firstWords(text, 200)}\n\n`) };
    }
    case 'summary': {
      const whole = `**Summary of what came before**:\n${quoted(text)}\n\n`;
      return { sort: 'summary', forms: shrinking(whole, whole, `**Summary of what came before**: ${firstWords(text, 2_000)}\n\n`) };
    }
    case 'thinking':
      return text === '' ? undefined : { sort: 'thought', forms: [`The assistant thought:\n${quoted(text)}\n\n`, '', ''] };
    case 'tool_call': {
      const input = entry.arguments === undefined ? '' : ` with ${JSON.stringify(entry.arguments).toWellFormed()}`;
      return {
        sort: 'call',
        forms: shrinking(`It ran \`${toolName}\`${input}\n\n`, `It ran \`${toolName}\`${firstWords(input, 160)}\n\n`, `It ran \`${toolName}\`\n\n`),
      };
    }
    case 'tool_result': {
      const effect = `\`${toolName}\` ${entry.isError ? 'failed' : 'gave'}`;
      if (text === '')
        return { sort: 'result', forms: [`${effect}${entry.isError ? '' : ' nothing'}\n\n`, `${effect}${entry.isError ? '' : ' nothing'}\n\n`, ''] };
      const folded = `${effect}: ${firstWords(text, 160)} (folded: ${text.length} characters)\n\n`;
      return { sort: 'result', forms: shrinking(`${effect}:\n${quoted(text)}\n\n`, folded, entry.isError ? `${effect}\n\n` : '') };
    }
    case 'image': {
      const shown = `(an image${entry.media ? `, ${entry.media.mediaType}, ${entry.media.bytes.length} bytes` : ''})\n\n`;
      return { sort: 'result', forms: [shown, shown, ''] };
    }
    case 'event':
      return text === '' ? undefined : { sort: 'result', forms: shrinking(`(${toolName}: ${text})\n\n`, `(${toolName})\n\n`, '') };
  }
}

function speaker({ role, marks, author }: WritableEntry): string {
  if (marks?.includes('meta')) return 'The runtime said';
  if (role === 'system') return 'The system said';
  if (role === 'assistant') return 'The assistant said';
  return author && role === 'user' ? `${author} said` : 'The user said';
}

/** Set off from the account's own words line by line, so that no line of it can pass for one of them. */
const quoted = (text: string): string => text.replace(/^/gm, '> ');

/** The beginning on one line. */
function firstWords(text: string, length: number): string {
  const line = text.slice(0, length * 2).replace(/\s+/g, ' ');
  return line.length <= length && text.length <= length * 2 ? line : `${line.slice(0, length).toWellFormed()}…`;
}

function shrinking(whole: string, folded: string, brief: string): Piece['forms'] {
  const second = folded.length < whole.length ? folded : whole;
  return [whole, second, brief.length < second.length ? brief : second];
}
