declare const brand: unique symbol;

/** A value that only its own constructor makes: ids of different things never mix. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `ctx-` and eight or more lower-case hex digits. */
export type ContextId = Brand<string, 'ContextId'>;
/** `blake3:` and the 64 hex digits of the plain content's BLAKE3. */
export type ArtifactRef = Brand<string, 'ArtifactRef'>;
/** The stable name of an entry, the same in every commit, fork and export that holds it. */
export type EntryKey = Brand<string, 'EntryKey'>;
export type ProjectId = Brand<string, 'ProjectId'>;
export type SourceId = Brand<string, 'SourceId'>;
export type SessionId = Brand<string, 'SessionId'>;
/** ISO 8601 in UTC with milliseconds and `Z`. */
export type Timestamp = Brand<string, 'Timestamp'>;

/** The running number of a commit in its project's database: where rows meet, never shown. */
export type CommitSeq = Brand<number, 'CommitSeq'>;
/** The running number of an artifact in its project's database. */
export type ArtifactNo = Brand<number, 'ArtifactNo'>;

export const contextIdPattern = /^ctx-[0-9a-f]{8,64}$/;
export const artifactRefPattern = /^blake3:[0-9a-f]{64}$/;
