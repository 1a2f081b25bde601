/** A place that keeps copies of objects by their refs: plain bytes, so that their names prove them there as well. */
export interface Tier {
  readonly name: string;
  /** Durable when it resolves. @throws UNAVAILABLE where the place does not answer or refuses. */
  put(hash: string, bytes: Uint8Array): Promise<void>;
  /** The bytes as they lie there, not proved; undefined where they do not. @throws UNAVAILABLE */
  get(hash: string): Promise<Uint8Array | undefined>;
  close(): void;
}

export interface FolderPlace {
  readonly kind: 'folder';
  readonly dir: string;
}

export interface BucketPlace {
  readonly kind: 's3';
  readonly bucket: string;
  /** Of a server that is not Amazon's, as `http://127.0.0.1:9000`. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Goes before each key, to share a bucket. */
  readonly prefix?: string | undefined;
}

export type TierPlace = FolderPlace | BucketPlace;

/** Given where the machine's own environment and files hold none. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Many small files in one folder are slow to list: the first two digits make folders. */
export const keyOf = (hash: string): string => `blake3/${hash.slice(0, 2)}/${hash}`;
