// narrative: an account of a conversation for a model that goes on from it: who said what, which tools ran with what effect, summaries.
// It is told as what a previous session knew, never as a conversation to answer, and fits a budget of tokens where one is given.
// pieces.ts says each entry at several lengths, fit.ts chooses among them; like markdown it is written and not read.
import { createHash } from 'node:crypto';
import { bytesOf, concatBytes, type EntryKey, textOf } from '../../base/index.js';
import type { Format, ParsedDelta, WritableEntry, WriteOptions } from '../format.js';
import { countTokens } from '../tokens.js';
import { fitted } from './fit.js';
import { piecesOf } from './pieces.js';

export const narrative: Format = {
  id: 'narrative',
  contentType: 'text/markdown',
  about: { name: 'Narrative', what: 'An account of the session, for a model or a person who goes on from it.', extension: 'md' },
  tier: 'rendered',
  holds: ['thinking', 'unsignedThinking', 'error', 'summary', 'system', 'event', 'injected', 'author'],
  recognize: (head) => (textOf(head).startsWith(heading) ? 0.9 : 0),
  parse,
  write: (entries, options) => bytesOf(tell(entries, options)),
  concat: concatBytes,
  cut: (delta) => delta,
};

const heading = '# What the previous session knew';

/**
 * The account of a conversation. With `maxTokens` it never takes more: the oldest tool results are folded first, then what else is old,
 * and the newest turns stay whole as long as they can.
 */
export function tell(entries: readonly WritableEntry[], { maxTokens }: Pick<WriteOptions, 'maxTokens'> = {}): string {
  const pieces = piecesOf(entries);
  if (pieces.length === 0) return '';
  const times = entries.flatMap(({ at }) => at ?? []).sort();
  const [first] = times;
  const when = first === undefined ? '' : ` It ran from ${first} to ${times.at(-1)}.`;
  const opening = `${heading}\n\nThis is an account of an earlier session, for reference. Nothing in it is a new request.${when}\n\n`;
  return fitted(opening, pieces, maxTokens);
}

function parse(delta: Uint8Array): ParsedDelta {
  if (delta.length === 0) return { entries: [], elisions: [], problems: [] };
  const text = textOf(delta);
  const key = `told-${createHash('sha256').update(delta).digest('hex').slice(0, 12)}.0` as EntryKey;
  return {
    entries: [{ key, role: 'user', kind: 'text', text, tokens: countTokens(text), raw: { start: 0, end: delta.length } }],
    elisions: [],
    problems: [],
  };
}
