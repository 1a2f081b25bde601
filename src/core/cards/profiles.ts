import { badRequest, notFound } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Card, OutputOf } from '../contract/index.js';
import { addCard } from './add.js';
import { insertBox } from './boxes.js';
import { type NewCard, readProjectId } from './card.js';
import { boxAt, boxNamed, idsAt } from './places.js';
import { cardsInOrder, seenByModel } from './read.js';

/** An agent's static configuration: a card in its own box, found by name. */
export interface Profile {
  readonly name: string;
  readonly profileBoxId: string;
  readonly boxNo: number;
  readonly card: Card | undefined;
}

type Row = Readonly<Omit<Profile, 'card'> & Record<'no', number>>;

const select = 'SELECT p.no, p.name, p.box AS boxNo, b.boxId AS profileBoxId FROM profile p JOIN box b ON b.no = p.box';
const byKey = `${select} WHERE p.project = ? AND p.key = ?`;
const present = 'p.deletedAt IS NULL';
const profileKey = (name: string): string => name.trim().toLowerCase();

/** Stores a profile under its name; a new version gets a new box. @throws BAD_REQUEST for an empty name, other card type or existing box. */
export function putProfile(chain: WriteChain, name: string, given: NewCard, profileBoxId?: string): OutputOf<'profile.put'> {
  const shown = name.trim();
  if (shown === '') throw badRequest('name', 'The profile has no name.');
  return chain.db.transaction(() => {
    const card = addCard(chain, { ...given, type: given.type ?? 'sys.profile', authorId: given.authorId ?? 'profile' });
    if (card.type !== 'sys.profile') throw badRequest('card.type', `A profile must be a card of type sys.profile, not ${card.type}.`);
    const known = chain.db.one<Row>(byKey, chain.project, profileKey(shown));
    const isSame = known !== undefined && idsAt(chain, known.boxNo).join() === card.cardId && [undefined, known.profileBoxId].includes(profileBoxId);
    const named = profileBoxId === undefined || isSame ? undefined : boxNamed(chain, profileBoxId);
    if (named) throw badRequest('profileBoxId', `The box ${profileBoxId} already exists.`);
    const box =
      known && isSame
        ? { no: known.boxNo, boxId: known.profileBoxId }
        : insertBox(chain, [card.cardId], { boxId: profileBoxId, ...(known && { replaces: known.boxNo }) });
    if (known)
      chain.db.run('UPDATE profile SET name = ?, box = ?, updatedAt = ?, deletedAt = NULL WHERE no = ?', shown, box.no, chain.clock(), known.no);
    else chain.db.insert('profile', { project: chain.project, key: profileKey(shown), name: shown, box: box.no, updatedAt: chain.clock() });
    return { name: shown, profileBoxId: box.boxId, cardId: card.cardId };
  });
}

/** Finds a profile by name, ignoring case. */
export function profileNamed(chain: ReadChain, name: string): Profile | undefined {
  const row = chain.db.one<Row>(`${byKey} AND ${present}`, chain.project, profileKey(name));
  return row && toProfile(chain, row);
}

/** Finds a profile by name, ignoring case. @throws NOT_FOUND with the profile and project. */
export function findProfile(chain: ReadChain, name: string): OutputOf<'profile.find'> {
  const profile = profileNamed(chain, name);
  if (!profile) throw noProfile(chain, name);
  return shown(profile);
}

const noProfile = (chain: ReadChain, name: string): Error =>
  notFound(name, `Project ${readProjectId(chain)} has no profile ${JSON.stringify(name.trim())}.`);

/** Deletes a profile, or brings it back. Agents that have started keep its box. @throws NOT_FOUND with the profile and project. */
export function deleteProfile(chain: WriteChain, name: string, deleted: boolean): { name: string; deleted: boolean } {
  return chain.db.transaction(() => {
    const known = chain.db.one<Row>(byKey, chain.project, profileKey(name));
    if (!known) throw noProfile(chain, name);
    chain.db.run('UPDATE profile SET deletedAt = ? WHERE no = ?', deleted ? chain.clock() : null, known.no);
    return { name: known.name, deleted };
  });
}

/** Lists the profiles of the project. */
export const listProfiles = (chain: ReadChain): OutputOf<'profile.list'> =>
  chain.db.all<Row>(`${select} WHERE p.project = ? AND ${present} ORDER BY p.key`, chain.project).map((row) => shown(toProfile(chain, row)));

const shown = ({ name, profileBoxId, card }: Profile): OutputOf<'profile.find'> => ({ name, profileBoxId, ...(card && { cardId: card.cardId }) });

const toProfile = (chain: ReadChain, { no: _, ...row }: Row): Profile => ({ ...row, card: profileCardOf(chain, row.boxNo) });

/** The profile card of a box: its first card of type sys.profile, else its first card. */
function profileCardOf(chain: ReadChain, box: number): Card | undefined {
  const cards = cardsInOrder(chain, idsAt(chain, box)).filter(seenByModel);
  return cards.find((card) => card.type === 'sys.profile') ?? cards[0];
}

/** The profile that an agent started with. */
export const profileInBox = (chain: ReadChain, profileBoxId: string): Card | undefined => profileCardOf(chain, boxAt(chain, profileBoxId).no);
