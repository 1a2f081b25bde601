// artifacts: the content-addressed store: bytes in, a BLAKE3 ref out, and the same bytes back or an error.
// Small objects lie beside their metadata in the database, large ones in append-only packs, caches in files of their own.
// Every read is checked against the hash that names it.
export * from './artifacts.js';
export * from './hash.js';
