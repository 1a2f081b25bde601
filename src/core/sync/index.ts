// sync: what a project and the hub of a team exchange: items by digest, objects by hash, in both directions.
// rules.ts says which rows travel. Two edits of one row are two versions on the hub, and the last that arrived there is valid.
// Nothing here knows a network: `Hub` is the other side, and main/hub reaches it.
export type { Hub, HubMember, HubRole, ItemName, ManagedHub, ObjectFacts, SignIn, WholeObject } from './hub.js';
export { fetchFromHub, forgetFetched, heldByHub } from './on-demand.js';
export { maxParcelBytes, type Parcel, packParcel, packTexts, type SentObject, unpackParcel, unpackTexts } from './parcel.js';
export { keyOf, type Pulled, pull, type Refused } from './pull.js';
export { itemsToPull, type Pushed, previewPush, push } from './push.js';
export { type RedactedCopies, redactedCopies } from './redacted.js';
export { type Item, objectsOf } from './rows.js';
export { ruleOf, ticketKinds } from './rules.js';
export { onlyCommits, type Selection, selected, selectedCommits } from './select.js';
export { type HubAddress, type MachineHubs, openMachineHubs } from './settings.js';
