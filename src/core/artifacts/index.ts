// artifacts: the content-addressed store: bytes in, a BLAKE3 ref out, and the same bytes back or an error.
// Small objects are in their row of the database, large ones in append-only packs, caches in files of their own.
// A later repack puts neighbors into compressed blocks. Every read is checked against the hash.
export { type Artifacts, openArtifacts, openReadArtifacts, type ReadArtifacts } from './artifacts.js';
export type { Cached } from './caches.js';
export { chunkSizes, chunksOf } from './chunks.js';
export { elsewhere } from './content.js';
export { type Held, type Takes, theHub } from './copies.js';
export type { Released, Root } from './gc.js';
export * from './hash.js';
export { type PressedBlock, pressBlocks } from './pressed.js';
export type { Put } from './put.js';
