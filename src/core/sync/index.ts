// sync: exchanges items (by digest) and objects (by hash) between a project and the hub of a team, in both directions.
// rules.ts lists the rows that travel. Two edits of one row are two versions on the hub; the one that arrived there last is valid.
// This folder does no network calls. `Hub` is the interface of the other side; main/hub implements it.

export { fixedFields } from './commits.js';
export { countOnHub } from './counted.js';
export {
  type Hub,
  type HubRole,
  inGroups,
  type ManagedHub,
  type ObjectFacts,
  type PendingSignIn,
  type WholeObject,
} from './hub.js';
export { fetchFromHub, forgetFetched, heldByHub } from './on-demand.js';
export { inOrder } from './order.js';
export { maxParcelBytes, type Parcel, packParcel, packTexts, type SentObject, unpackParcel, unpackTexts } from './parcel.js';
export { itemKey, type Pulled, pull } from './pull.js';
export { itemsToPull, type Pushed, previewPush, push } from './push.js';
export { redactedCopies } from './redacted.js';
export { objectsOf, referencesOf, type Sender, type SentItem } from './rows.js';
export { findRule, isFixed, ticketKinds } from './rules.js';
export { itemSchemas, validateItem } from './schemas.js';
export { onlyCommits, selected, selectedCommits } from './select.js';
export { type HubAddress, type MachineHubs, openMachineHubs } from './settings.js';
