import { bucketTier } from './bucket.js';
import { folderTier } from './folder.js';
import type { Credentials, Tier, TierPlace } from './tier.js';

/** How a place is reached. */
export const openTier = (name: string, place: TierPlace, credentials: Credentials | undefined, newName: () => string): Tier =>
  place.kind === 'folder' ? folderTier(name, place, newName) : bucketTier(name, place, credentials);
