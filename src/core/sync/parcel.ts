import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { blake3Of } from '../artifacts/index.js';
import { badRequest, isBounded, isObject, type Json, type JsonObject, parseJson, stringAt } from '../base/index.js';
import { digestItem, type Sender, type SentItem } from './rows.js';
import { checkMediaType } from './schemas.js';

export interface SentObject {
  /** BLAKE3, in hexadecimal. */
  readonly hash: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface Parcel {
  readonly items: readonly SentItem[];
  readonly objects: readonly SentObject[];
}

/** Maximum size of an unpacked parcel in bytes, and maximum ratio of its size to the packed size. */
export const maxParcelBytes = 512 * 1024 * 1024;
const lengthBytes = 4;
/** Maximum number of bytes of a parcel for each byte of its packed form. Text of agents packs to about a tenth. */
const maxRatio = 1_000;
/** A parcel of this size may have any ratio: it is one part of an object, which may be empty space. */
const freeBytes = 40 * 1024 * 1024;
/** The most items and objects of a parcel, and the most lists and members of their JSON: each costs time and memory, however well it packs. */
const maxCounts = { items: 20_000, objects: 100_000, json: { levels: 200, members: 5_000_000 } } as const;
/** Compression levels. `soon` is for data that a person waits for: packing is faster, and the result slightly larger. */
const levels = { small: 6, soon: 1 } as const;

/** Packs items and objects: a zstd frame of a length (4 bytes, big endian), that much JSON ({items, objects: […]}), and the objects. */
export function packParcel({ items, objects }: Parcel, how: keyof typeof levels = 'small'): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({
      items: items.map(({ kind, body, sender }) => (sender === undefined ? [kind, body] : [kind, body, [sender.name, sender.isLink ? 1 : 0]])),
      objects: objects.map(({ hash, bytes, contentType }) => [hash, bytes.length, contentType]),
    }),
  );
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(header.length);
  return compressed(Buffer.concat([length, header, ...objects.map(({ bytes }) => bytes)]), how);
}

const compressed = (bytes: Uint8Array, how: keyof typeof levels): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: levels[how] } });

/**
 * Unpacks a parcel of `packParcel` and verifies the hash of every object. Digests of items are computed here and never taken from the sender.
 * `keyOf` returns the key of an item, and `most` is the largest unpacked size.
 * @throws BAD_REQUEST for other bytes.
 */
export function unpackParcel(packed: Uint8Array, keyOf: (kind: string, body: JsonObject) => string, most: number = maxParcelBytes) {
  const bytes = decompressed(packed, most);
  const end = lengthBytes + (bytes.length < lengthBytes ? Number.POSITIVE_INFINITY : bytes.readUInt32BE(0));
  const header =
    end <= bytes.length && isBounded(bytes.subarray(lengthBytes, end), maxCounts.json)
      ? parseJson(bytes.toString('utf8', lengthBytes, end))
      : undefined;
  if (!isObject(header) || !Array.isArray(header.items) || !Array.isArray(header.objects))
    throw badRequest('parcel', 'The parcel has no valid header.');
  requireFew('items', header.items.length);
  requireFew('objects', header.objects.length);
  const items = header.items.map((item): SentItem => {
    const [kind, body, sender] = Array.isArray(item) ? item : [];
    if (typeof kind !== 'string' || !isObject(body)) throw badRequest('parcel', 'An item of the parcel has no kind or no content.');
    return { kind, key: keyOf(kind, body), digest: digestItem(kind, body), body, sender: senderIn(sender) };
  });
  let at = end;
  const objects = header.objects.map((object): SentObject => {
    const [hash, size, contentType] = Array.isArray(object) ? object : [];
    if (typeof hash !== 'string' || typeof size !== 'number' || typeof contentType !== 'string' || !(size >= 0) || at + size > bytes.length)
      throw badRequest('parcel', 'An object of the parcel has no valid hash, size or type.');
    const content = bytes.subarray(at, at + size);
    at += size;
    if (blake3Of(content).toString('hex') !== hash) throw badRequest('parcel', `The content of the object ${hash} does not match its hash.`);
    checkMediaType(contentType, hash);
    return { hash, contentType, bytes: content };
  });
  return { items, objects, size: bytes.length };
}

/** Unpacks only the objects of a parcel. @throws BAD_REQUEST for other bytes. */
export const unpackObjects = (packed: Uint8Array): readonly SentObject[] => unpackParcel(packed, (kind) => kind).objects;

function requireFew(what: 'items' | 'objects', count: number): void {
  if (count > maxCounts[what]) throw badRequest('parcel', `The parcel has ${count} ${what}, and ${maxCounts[what]} are allowed.`);
}

/** Who sent an item, as the hub names them. */
function senderIn(given: Json | undefined): Sender | undefined {
  const [name, isLink] = Array.isArray(given) ? given : [];
  return typeof name === 'string' ? { name: name.slice(0, 400), isLink: isLink !== 0 } : undefined;
}

/** Packs texts as one zstd frame around a JSON list. */
export const packTexts = (texts: readonly (string | null)[]): Uint8Array => zstdCompressSync(JSON.stringify(texts));

/** The most of an answer with texts. A hub ends one after 8 MB; one text may be larger. */
const mostTexts = { bytes: 128 * 1024 * 1024, json: { levels: 1, members: 100_000 } } as const;

/** Unpacks texts of `packTexts`. @throws BAD_REQUEST for other bytes. */
export function unpackTexts(packed: Uint8Array): (string | null)[] {
  const bytes = decompressed(packed, mostTexts.bytes);
  const texts = isBounded(bytes, mostTexts.json) ? parseJson(bytes.toString()) : undefined;
  if (!Array.isArray(texts)) throw badRequest('texts', 'The hub did not answer with a list of texts.');
  return texts.map((text) => (typeof text === 'string' ? text : null));
}

function decompressed(packed: Uint8Array, most: number): Buffer {
  const limit = Math.min(most, Math.max(freeBytes, packed.length * maxRatio));
  try {
    return zstdDecompressSync(packed, { maxOutputLength: limit });
  } catch (error) {
    const reason = stringAt(error, 'code') ?? (error as Error).message;
    throw badRequest('parcel', `The parcel cannot be unpacked (${reason}). This one may have at most ${limit} bytes.`);
  }
}
