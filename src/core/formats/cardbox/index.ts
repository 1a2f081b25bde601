// cardbox-v1: cards as lines of JSON, one a line, in the order of their box.
// A turn's output cards are a delta of this format.
// Cards become entries as a worker turns them into messages; entries of other formats become cards.
import { bytesOf, type EntryKey } from '../../base/index.js';
import { type Format, facts } from '../format.js';
import { entriesOfCards } from './entries.js';
import { cardLinesOf, lineOf, readLines } from './lines.js';
import { cardsOfEntries } from './write.js';

export { entriesOfCards } from './entries.js';
export { type CardLine, lineOf } from './lines.js';
export { spacedJson, textOfContent } from './texts.js';
export { cardsOfEntries } from './write.js';

export const cardbox: Format = {
  id: 'cardbox-v1',
  contentType: 'application/x-ndjson',
  tier: 'translated',
  holds: facts,
  recognize: (head) => {
    const { cards, problems } = readLines(head);
    // The end of a head may be a torn line.
    return cards.length > 0 && problems.length <= 1 ? 0.9 : 0;
  },
  parse: (delta) => {
    const { cards, problems } = readLines(delta);
    return { entries: entriesOfCards(cards), elisions: [], problems };
  },
  write: (entries, options) => bytesOf(cardsOfEntries(entries, options).map(lineOf).join('')),
  concat: (deltas) => Buffer.concat(deltas.map(ended)),
  cut: (delta, lastKept) => bytesOf(keptLines(delta, lastKept).join('')),
};

const newline = 0x0a;
const ended = (delta: Uint8Array): Uint8Array =>
  delta.length === 0 || delta.at(-1) === newline ? delta : Buffer.concat([delta, Uint8Array.of(newline)]);

/** Whole lines up to the card of the entry; where the cut is among the calls of one card, that card with the calls before it. */
function keptLines(delta: Uint8Array, lastKept: EntryKey): string[] {
  const lines: string[] = [];
  for (const { text, card } of cardLinesOf(delta)) {
    const entries = card ? entriesOfCards([card]) : [];
    const at = entries.findIndex((entry) => entry.key === lastKept);
    if (at < 0 || at === entries.length - 1 || !card?.toolCalls) lines.push(text);
    else lines.push(lineOf({ ...card, toolCalls: card.toolCalls.slice(0, at + 1 - (entries.length - card.toolCalls.length)) }));
    if (at >= 0) break;
  }
  return lines;
}
