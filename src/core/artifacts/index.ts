// artifacts: the content-addressed store: bytes in, a BLAKE3 ref out, and the same bytes back or an error.
// Small objects are in their row of the database, large ones in append-only packs, caches in files of their own.
// A later repack puts neighbors into compressed blocks. Every read is checked against the hash.
export { type ArtifactStat, type Artifacts, type ArtifactsOptions, openArtifacts } from './artifacts.js';
export { type ChunkSizes, chunkSizes, chunksOf } from './chunks.js';
export { elsewhere } from './content.js';
export { type Copies, type Held, type Takes, theHub } from './copies.js';
export type { GcOptions, GcResult, Released, Root } from './gc.js';
export * from './hash.js';
export type { Cached, Put, PutOptions } from './put.js';
export type { PackLimits, Repacked, RepackOptions } from './repack.js';
