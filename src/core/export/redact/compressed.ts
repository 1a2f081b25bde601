import { constants, deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync, zstdCompressSync } from 'node:zlib';
import { unzstd, writeZip, type ZipEntry, zipList } from '../../formats/index.js';
import { compressedSignatures, deflatedText } from './rules/encoded.js';

/** A compressed file: its content, and how to write it with other content. */
export interface Compressed {
  readonly files: readonly Uint8Array[];
  pack(files: readonly Uint8Array[]): Uint8Array;
}

/** The bytes that the compressed files of one text may expand to. */
export interface Room {
  left: number;
}

/** No ordinary text packs to less than a tenth. */
export const roomFor = (length: number): Room => ({ left: 4_096 + 8 * length });

export class Unsearchable extends Error {}

export const unsearchableNotice = 'Stemma removed a compressed file that expands too much to be searched.';

// A file that was cut off is read as far as it goes.
const cut = { finishFlush: constants.Z_SYNC_FLUSH };
const zlib: Packing = { unpack: (bytes, most) => inflateSync(bytes, { ...cut, maxOutputLength: most }), pack: deflateSync };
const packings: Readonly<Record<string, Packing>> = {
  '\x1f': { unpack: (bytes, most) => gunzipSync(bytes, { ...cut, maxOutputLength: most }), pack: gzipSync },
  '\x28': { unpack: (bytes, most) => unzstd(bytes, { finishFlush: constants.ZSTD_e_flush, maxOutputLength: most }), pack: zstdCompressSync },
  '\x78': zlib,
};

interface Packing {
  unpack(bytes: Uint8Array, most: number): Uint8Array;
  pack(bytes: Uint8Array): Uint8Array;
}

/** The content of a compressed file; undefined for other, damaged and encrypted files. @throws Unsearchable if it expands beyond the room. */
export function openCompressed(bytes: Uint8Array, room: Room): Compressed | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(4, bytes.byteLength)).toString('latin1');
  if (!compressedSignatures.some((signature) => head.startsWith(signature))) return openDeflated(bytes, room);
  const packing = packings[head.charAt(0)];
  if (!packing) return openZip(bytes, room);
  const file = expanded(() => packing.unpack(bytes, Math.max(1, room.left)), room);
  return file && { files: [file], pack: ([left = file]) => packing.pack(left) };
}

/** Bytes that were packed without a header. */
function openDeflated(bytes: Uint8Array, room: Room): Compressed | undefined {
  const file = expanded(() => deflatedText(bytes, Math.max(1, room.left)) ?? new Uint8Array(), room);
  return file && file.length > 0 ? { files: [file], pack: ([left = file]) => deflateRawSync(left) } : undefined;
}

/** The text of a compressed part of a file. @throws Unsearchable if it expands beyond the room. */
export const inflated = (bytes: Uint8Array, room: Room): Uint8Array =>
  expanded(() => zlib.unpack(bytes, Math.max(1, room.left)), room) ?? new Uint8Array();

/** An entry that cannot be read hides none of the others, and is left out when the archive is packed again. */
function openZip(bytes: Uint8Array, room: Room): Compressed | undefined {
  const listed = expanded(() => zipList(bytes) ?? [], { left: Number.POSITIVE_INFINITY }) ?? [];
  const entries = (listed.length > 0 ? listed : [...entriesInTurn(bytes, room)]).flatMap((entry) => {
    if (entry.length > room.left) throw new Unsearchable();
    const content = expanded(() => entry.read(), room);
    return content ? [{ name: entry.name, content }] : [];
  });
  if (entries.length === 0) return undefined;
  return {
    files: entries.map(({ content }) => content),
    pack: (made) => writeZip(entries.map(({ name, content }, at) => ({ name, content: made[at] ?? content }))),
  };
}

/** The entries of an archive that was cut off before its directory, one after the other. The last one may be incomplete. */
function* entriesInTurn(bytes: Uint8Array, room: Room): Generator<ZipEntry> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 30 <= file.length && file.toString('latin1', at, at + 4) === 'PK\x03\x04'; ) {
    const [method, size, nameLength] = [file.readUInt16LE(at + 8), file.readUInt32LE(at + 18), file.readUInt16LE(at + 26)];
    const start = at + 30 + nameLength + file.readUInt16LE(at + 28);
    // The size of an entry that was written as a stream stands behind it.
    const packed = size > 0 ? file.subarray(start, start + size) : file.subarray(start);
    const read = (): Uint8Array => (method === 0 ? packed : inflateRawSync(packed, { ...cut, maxOutputLength: Math.max(1, room.left) }));
    yield { name: file.toString('utf8', at + 30, at + 30 + nameLength), length: 0, read };
    if (size === 0) return;
    at = start + size;
  }
}

function expanded<T extends Uint8Array | readonly unknown[]>(unpack: () => T, room: Room): T | undefined {
  try {
    const made = unpack();
    room.left -= made.length;
    return made;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'CORRUPT') throw new Unsearchable();
    return undefined;
  }
}
