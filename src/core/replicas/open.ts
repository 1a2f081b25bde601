import { randomUUID } from 'node:crypto';
import { openBucket } from './bucket.js';
import type { StoredCredentials, Vault } from './credentials.js';
import { openFolderStore } from './folder.js';
import type { BackingStore, ReplicaPlace } from './store.js';

/** Opens the backing store in a place. It connects when it is first used. `vault` unseals keys that the operating system sealed. */
export const openStore = (name: string, place: ReplicaPlace, credentials?: StoredCredentials, vault?: Vault): BackingStore =>
  place.kind === 'folder' ? openFolderStore(name, place, randomUUID) : openBucket(name, place, credentials, vault);
