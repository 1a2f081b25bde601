// replicas: copies of a project's objects in backing stores, which are folders and S3 buckets.
// Places and credentials belong to this machine and stay in Stemma's own folder; a project holds names only.
// A repair uses `Replicas.fetch` to get lost objects back.
export { openStore } from './connections.js';
export type { Vault } from './credentials.js';
export { openReplicas, type Replicas } from './replicas.js';
export { type MachineReplicas, noReplicas, openMachineReplicas } from './settings.js';
export type { BackingStore, ReplicaPlace } from './store.js';
