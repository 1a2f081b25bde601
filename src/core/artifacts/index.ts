// artifacts: the content-addressed store: bytes in, a BLAKE3 ref out, and the same bytes back or an error.
// Small objects lie beside their metadata in the database, large ones in append-only packs, caches in files of their own;
// a later repack puts neighbors into compressed blocks. Every read is checked against the hash that names it.
export { type ArtifactStat, type Artifacts, type ArtifactsOptions, openArtifacts } from './artifacts.js';
export { type ChunkSizes, chunkSizes, chunksOf } from './chunks.js';
export { elsewhere } from './content.js';
export type { GcOptions, GcResult } from './gc.js';
export * from './hash.js';
export type { Cached, Put, PutOptions } from './put.js';
export type { PackLimits, Repacked, RepackOptions } from './repack.js';
export type { Copies, Takes } from './tiers/copies.js';
export { openTier } from './tiers/open.js';
export type { Credentials, Tier, TierPlace } from './tiers/tier.js';
