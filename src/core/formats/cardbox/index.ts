// cardbox-v1: cards as a CBOR array, in the order of their box. The output cards of a turn are a delta of this format.
// Deltas are joined without decoding. The first builds wrote one card per line of JSON, which can still be read.
// Cards become entries in the way in which a worker turns them into messages. Entries of other formats become cards.
import type { EntryKey } from '../../base/index.js';
import { type Format, facts } from '../format.js';
import { spliceArrays } from '../shared/cbor.js';
import { entriesOfCards } from './parse.js';
import { type CardLine, encodeCards, isLines, readCards } from './schema.js';
import { cardsOfEntries } from './write.js';

export { entriesOfCards } from './parse.js';
export { type CardLine, encodeCards } from './schema.js';
export { spacedJson, textOfContent } from './schema-texts.js';
export { cardsOfEntries } from './write.js';

export const cardbox: Format = {
  id: 'cardbox-v1',
  contentType: 'application/cbor',
  about: { name: 'Cards', what: 'A box of cards in CBOR.', extension: 'cbor' },
  tier: 'translated',
  holds: facts,
  recognize: (head) => {
    const { cards, problems } = readCards(head);
    // The given first bytes of a file can end inside a card.
    return cards.length > 0 && problems.length <= 1 ? 0.9 : 0;
  },
  parse: (delta) => {
    const { cards, problems } = readCards(delta);
    return { entries: entriesOfCards(cards), elisions: [], problems };
  },
  write: (entries, options) => encodeCards(cardsOfEntries(entries, options)),
  concat: (deltas) => spliceArrays(deltas.map((delta) => (isLines(delta) ? encodeCards(readCards(delta).cards) : delta))),
  cut: (delta, lastKept) => encodeCards(keptCards(readCards(delta).cards, lastKept)),
};

/** The cards up to the card of the entry. If the cut is among the calls of one card, the card keeps the calls before the cut. */
function keptCards(cards: readonly CardLine[], lastKept: EntryKey): CardLine[] {
  const kept: CardLine[] = [];
  for (const card of cards) {
    const entries = entriesOfCards([card]);
    const at = entries.findIndex((entry) => entry.key === lastKept);
    if (at < 0 || at === entries.length - 1 || !card.toolCalls) kept.push(card);
    else kept.push({ ...card, toolCalls: card.toolCalls.slice(0, at + 1 - (entries.length - card.toolCalls.length)) });
    if (at >= 0) break;
  }
  return kept;
}
