// replicas: copies of a project's objects in backing stores, which are folders and S3 buckets.
// Places and credentials belong to this machine and stay in Stemma's own folder; a project holds names only.
// A repair uses `Replicas.fetch` to get lost objects back.
export type {
  AccessKeys,
  AmbientCredentials,
  CredentialSource,
  GivenCredentials,
  StoredCredentials,
  Vault,
} from './credentials.js';
export type { Unfetched } from './fetch.js';
export { openStore } from './open.js';
export { type NewReplica, openReplicas, type Replicas, type Replicated } from './replicas.js';
export { type MachineReplicas, noReplicas, openMachineReplicas, type ReplicaSettings } from './settings.js';
export type { BackingStore, BucketPlace, FolderPlace, ReplicaPlace } from './store.js';
