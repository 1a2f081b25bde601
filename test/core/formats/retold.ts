import { expect } from 'vitest';
import type { ParsedEntry } from '../../../src/core/formats/index.js';

interface Telling {
  /** What the other agent's wire keeps of a call: its id, or its name alone. */
  readonly calls?: 'id' | 'name';
  /** Entries that the other agent has no place for. */
  readonly without?: (entry: ParsedEntry) => boolean;
  readonly about?: string;
}

/** The oracle joins what it hears in pieces, and spoils a letter that lies across two of them; agents trim what they are told. */
const legible = (text: string): string => text.replace(/[^\x20-\x7e]+/g, '~').trim();
const inJson = (text: string): string => legible(JSON.stringify(text.trim()).slice(1, -1));

/** That what an agent sent carries a conversation of another agent: all that was said and called in it, and what was answered. */
export function expectRetold(sent: string, entries: readonly ParsedEntry[], { calls = 'id', without = () => false, about = '' }: Telling = {}): void {
  const heard = legible(sent);
  const answered = new Set(entries.filter(({ kind }) => kind === 'tool_result').map(({ toolCallId }) => toolCallId));
  const missing = entries
    .filter((entry) => !without(entry))
    .flatMap(({ kind, role, text = '', toolCallId, toolName }) => {
      if (kind === 'text' && role !== 'system' && text.trim()) return [inJson(text)];
      if (kind === 'tool_call' && calls === 'name') return [`"name":"${toolName}"`];
      if (kind === 'tool_call' && answered.has(toolCallId)) return [`"${toolCallId}"`];
      if (kind === 'tool_result' && calls === 'name' && text.trim()) return [inJson(text).slice(0, 80)];
      return [];
    })
    .filter((words) => !heard.includes(words));
  expect(missing, about).toEqual([]);
}
