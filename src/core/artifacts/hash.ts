import { hash } from 'node:crypto';
import { Blake3Hasher, blake3UrlSafeBase64 } from '@napi-rs/blake-hash';
import type { ArtifactRef } from '../base/index.js';

/**
 * The 32 bytes of the content's plain BLAKE3 (decisions, rule 18), by a text: a buffer that is made outside of the engine costs it more
 * than a short text and a buffer of its own. The package takes any bytes, though its types say Buffer.
 */
export const blake3Of = (bytes: Uint8Array): Buffer => Buffer.from(blake3UrlSafeBase64(bytes as Buffer), 'base64url');
/** Whether the bytes have the hash that stands at `at`. For many: a short text costs less to make than a buffer for each. */
export const hasHash = (bytes: Uint8Array, hashes: Buffer, at: number): boolean =>
  blake3UrlSafeBase64(bytes as Buffer).startsWith(hashes.toString('base64url', at, at + hashLength));
export const hashLength = 32;
/** The same of what comes a part at a time. */
export function blake3Parts(): { add(part: Uint8Array): void; hash(): Buffer } {
  const hasher = new Blake3Hasher();
  return { add: (part) => void hasher.update(part as Buffer), hash: () => hasher.digestBuffer() };
}

export function blake3OfParts(parts: Iterable<Uint8Array>): Buffer {
  const hasher = blake3Parts();
  for (const part of parts) hasher.add(part);
  return hasher.hash();
}
export const sha256Of = (bytes: string | Uint8Array): Buffer => Buffer.from(hash('sha256', bytes, 'hex'), 'hex');

export const refOfHash = (hash: Uint8Array): ArtifactRef =>
  `blake3:${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')}` as ArtifactRef;
export const refOf = (bytes: Uint8Array): ArtifactRef => refOfHash(blake3Of(bytes));
export const hashOfRef = (ref: ArtifactRef): Buffer => Buffer.from(ref.slice('blake3:'.length), 'hex');
/** `art-` and the first twelve digits, for people. */
export const shortOf = (ref: ArtifactRef): string => `art-${ref.slice('blake3:'.length, 'blake3:'.length + 12)}`;
