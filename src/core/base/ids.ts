declare const brand: unique symbol;

/** A branded type: ids of different things cannot be mixed up. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `ctx-` and eight or more lower-case hex digits. */
export type ContextId = Brand<string, 'ContextId'>;
/** `blake3:` and 64 hex digits: the BLAKE3 hash of the uncompressed content. */
export type ArtifactRef = Brand<string, 'ArtifactRef'>;
/** The stable id of an entry. It is the same in every commit, fork and export. */
export type EntryKey = Brand<string, 'EntryKey'>;
/** ISO 8601 in UTC with milliseconds and `Z`. */
export type Timestamp = Brand<string, 'Timestamp'>;

/** The row number of a commit in its project's database. It is never shown. */
export type CommitSeq = Brand<number, 'CommitSeq'>;
/** The row number of an artifact in its project's database. */
export type ArtifactNo = Brand<number, 'ArtifactNo'>;

export const contextIdPattern = /^ctx-[0-9a-f]{8,64}$/;
export const artifactRefPattern = /^blake3:[0-9a-f]{64}$/;
