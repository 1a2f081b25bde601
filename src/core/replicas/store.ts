import type { ReplicaState } from '../contract/index.js';

/** A place that holds copies of objects. A copy is the plain content, so its name proves it. */
export interface BackingStore {
  /** Stores a copy under its hash (hexadecimal). It is durable when this resolves. @throws UNAVAILABLE if the place does not answer or refuses. */
  put(hash: string, bytes: Uint8Array): Promise<void>;
  /** Reads a copy without checking its hash. Undefined if the place does not hold it. @throws UNAVAILABLE if the place does not answer. */
  get(hash: string): Promise<Uint8Array | undefined>;
  /** Removes a copy by its hash, if it exists. @throws UNAVAILABLE. */
  remove(hash: string): Promise<void>;
  /** Replaces a file that can be rebuilt, by its name, such as `facts/calls/part.parquet`. A folder store does not sync it. @throws UNAVAILABLE. */
  putFile(name: string, bytes: Uint8Array): Promise<void>;
  close(): void;
}

export type ReplicaPlace = NonNullable<ReplicaState['place']>;
export type FolderPlace = Extract<ReplicaPlace, { kind: 'folder' }>;
/** A bucket of a server that speaks S3. Its prefix precedes every key, so that several projects can share the bucket. */
export type BucketPlace = Extract<ReplicaPlace, { kind: 's3' }>;

/** The key of an object in a backing store. The first two digits make folders, because one folder of many small files is slow to list. */
export const objectKey = (hash: string): string => `blake3/${hash.slice(0, 2)}/${hash}`;
