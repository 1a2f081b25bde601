import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { ArtifactRef } from '../base/index.js';

type Blake = typeof import('@napi-rs/blake-hash');
let loaded: Blake | undefined;
/** Native code, which takes 5 ms to load. A log or a list of commits hashes nothing. */
const blake = (): Blake => (loaded ??= createRequire(import.meta.url)('@napi-rs/blake-hash') as Blake);

/** The 32 bytes of the BLAKE3 hash. A short text is converted, because a buffer from native code costs more. Takes any bytes. */
export const blake3Of = (bytes: Uint8Array): Buffer => Buffer.from(blake().blake3UrlSafeBase64(bytes as Buffer), 'base64url');
/** Whether the bytes have the hash at offset `at`. For many objects, short texts are cheaper than a buffer for each. */
export const hasHash = (bytes: Uint8Array, hashes: Buffer, at: number): boolean =>
  blake()
    .blake3UrlSafeBase64(bytes as Buffer)
    .startsWith(hashes.toString('base64url', at, at + hashLength));
export const hashLength = 32;
/** The BLAKE3 hash of bytes that come in parts. */
export function blake3Parts(): { add(part: Uint8Array): void; hash(): Buffer } {
  const hasher = new (blake().Blake3Hasher)();
  return { add: (part) => void hasher.update(part as Buffer), hash: () => hasher.digestBuffer() };
}

/** The BLAKE3 hash of all parts together. */
export function blake3OfParts(parts: Iterable<Uint8Array>): Buffer {
  const hasher = blake3Parts();
  for (const part of parts) hasher.add(part);
  return hasher.hash();
}
/** The 32 bytes of a SHA-256 hash. */
export const sha256Of = (bytes: string | Uint8Array): Buffer => Buffer.from(hash('sha256', bytes, 'hex'), 'hex');

/** The ref of an object by its hash: `blake3:` and 64 hex digits. */
export const refOfHash = (hash: Uint8Array): ArtifactRef =>
  `blake3:${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')}` as ArtifactRef;
/** The ref of an object by its content. */
export const refOf = (bytes: Uint8Array): ArtifactRef => refOfHash(blake3Of(bytes));
/** The hash of a ref. */
export const hashOfRef = (ref: ArtifactRef): Buffer => Buffer.from(ref.slice('blake3:'.length), 'hex');
/** `art-` and the first twelve digits, for people. */
export const shortOf = (ref: ArtifactRef): string => `art-${ref.slice('blake3:'.length, 'blake3:'.length + 12)}`;
