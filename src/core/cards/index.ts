// cards: facts as cards; boxes, the ordered lists of card ids that make a context; profiles, cards found by name.
// Overwriting a card keeps the earlier content as a version.
// The rules are in test/spec/cards.md.
export { addCard, addCards, cardHistory, deleteCard } from './add.js';
export { appendToBox, createBox, ensureBox, holdBox, insertBox, releaseBox, replaceBox } from './boxes.js';
export { type NewCard, newCardId, readProjectId } from './card.js';
export { boxFromContext, cardsDelta, commitBox } from './commits.js';
export { type BoxPlace, boxAt, boxNamed, holderOf, idsAt } from './places.js';
export { deleteProfile, findProfile, listProfiles, type Profile, profileInBox, profileNamed, putProfile } from './profiles.js';
export {
  batchBoxes,
  batchCards,
  boxCards,
  boxEntries,
  boxesOf,
  cardFacets,
  cardsInOrder,
  getBox,
  getCard,
  listBoxes,
  listCards,
  seenByModel,
} from './read.js';
export { isCallRecord, roleOfType } from './types.js';
export { wireBox, wireBoxCards, wireBoxes, wireCardOf, wireCards } from './wire.js';
