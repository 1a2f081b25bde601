// cards: facts as cards, and boxes, the ordered lists of card ids that make a context; profiles are cards found by name.
// A card's meaning never changes silently: what is written again under its id is kept beside what was there before.
// Rules B1 to B14 of test/spec/cards.md live here.
export { addCard, addCards, cardHistory, deleteCard } from './add.js';
export { appendToBox, createBox, ensureBox, holdBox, insertBox, releaseBox, replaceBox } from './boxes.js';
export { type NewCard, newCardId, projectIdOf } from './card.js';
export { boxFromContext, cardsDelta, commitBox } from './commits.js';
export { type BoxPlace, boxAt, boxNamed, idsAt } from './places.js';
export { findProfile, listProfiles, type Profile, profileInBox, profileNamed, putProfile } from './profiles.js';
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
export { roleOfType } from './types.js';
export { wireBox, wireBoxCards, wireBoxes, wireCardOf, wireCards } from './wire.js';
