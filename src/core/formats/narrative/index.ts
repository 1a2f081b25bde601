// narrative: an account of a conversation for a model that continues it: who said what, which tools ran with what effect, summaries.
// It is written as knowledge of a previous session, never as a conversation to answer, and fits a budget of tokens where one is given.
// write-pieces.ts writes each entry at several lengths, write-fit.ts chooses among them. Like Markdown, it is written and not read.
import { decodeText, encodeText } from '../../base/index.js';
import type { Format, WritableEntry, WriteOptions } from '../format.js';
import { writtenText } from '../shared/written-text.js';
import { fitted } from './write-fit.js';
import { makePieces } from './write-pieces.js';

export const narrative: Format = {
  id: 'narrative',
  ...writtenText('told'),
  about: { name: 'Narrative', what: 'An account of the session, for a model or a person who continues it.', extension: 'md' },
  holds: ['thinking', 'unsignedThinking', 'error', 'summary', 'system', 'event', 'injected', 'author'],
  recognize: (head) => (decodeText(head).startsWith(heading) ? 0.9 : 0),
  write: (entries, options) => encodeText(account(entries, options)),
};

const heading = '# What the previous session knew';

/** The account of a conversation within `maxTokens`: old tool results fold first, then other old entries, newest turns last. */
function account(entries: readonly WritableEntry[], { maxTokens }: WriteOptions): string {
  const pieces = makePieces(entries);
  if (pieces.length === 0) return '';
  const times = entries.flatMap(({ at }) => at ?? []).sort();
  const [first] = times;
  const when = first === undefined ? '' : ` It ran from ${first} to ${times.at(-1)}.`;
  const opening = `${heading}\n\nThis is an account of an earlier session, for reference. Nothing in it is a new request.${when}\n\n`;
  return fitted(opening, pieces, maxTokens);
}
