// ZIP files of which every byte follows from the contents: stored and not compressed, in order, without times. So a verifier can write the file
// again and compare: no byte is left that could change unseen. Any program that reads ZIP reads them.
import { crc32 } from 'node:zlib';
import { badRequest, encodeText } from '../base/index.js';

/** The sizes and numbers in a ZIP have 32 and 16 bits. */
const most = { bytes: 0xffff_ffff, members: 0xffff } as const;
const utf8 = 0x0800;
const version = 20;
/** The first day that a ZIP can name. */
const day = 0x0021;

export type ZipMember = ReturnType<typeof makeMember>;

/** A file in a ZIP, from its bytes or a function that reads them when they are needed. */
export function makeMember(name: string, bytes: Uint8Array, read: () => Uint8Array = () => bytes) {
  return { name, size: bytes.length, crc: crc32(bytes), read };
}

function common({ name, size, crc }: ZipMember, bytes: Buffer, at: number): void {
  bytes.writeUInt16LE(version, at);
  bytes.writeUInt16LE(utf8, at + 2);
  bytes.writeUInt16LE(0, at + 4);
  bytes.writeUInt16LE(0, at + 6);
  bytes.writeUInt16LE(day, at + 8);
  bytes.writeUInt32LE(crc, at + 10);
  bytes.writeUInt32LE(size, at + 14);
  bytes.writeUInt32LE(size, at + 18);
  bytes.writeUInt16LE(Buffer.byteLength(name), at + 22);
}

function localHeader(member: ZipMember): Buffer {
  const name = encodeText(member.name);
  const bytes = Buffer.alloc(30 + name.length);
  bytes.writeUInt32LE(0x04034b50, 0);
  common(member, bytes, 4);
  bytes.set(name, 30);
  return bytes;
}

function centralHeader(member: ZipMember, offset: number): Buffer {
  const name = encodeText(member.name);
  const bytes = Buffer.alloc(46 + name.length);
  bytes.writeUInt32LE(0x02014b50, 0);
  bytes.writeUInt16LE(version, 4);
  common(member, bytes, 6);
  bytes.writeUInt32LE(offset, 42);
  bytes.set(name, 46);
  return bytes;
}

/** The bytes of a ZIP, one part after the other. @throws BAD_REQUEST if it would be too large */
export function* zipParts(members: readonly ZipMember[]): Generator<Uint8Array> {
  const total = members.reduce((sum, { size, name }) => sum + size + 76 + 2 * Buffer.byteLength(name), 22);
  if (total > most.bytes || members.length > most.members)
    throw badRequest('ids', `The pack would have ${total} bytes in ${members.length} files. A pack has at most 4 GB. Give fewer ids.`);
  const central: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    central.push(centralHeader(member, offset));
    const header = localHeader(member);
    yield header;
    yield member.read();
    offset += header.length + member.size;
  }
  const size = central.reduce((sum, { length }) => sum + length, 0);
  yield* central;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  yield end;
}

/** The files of such a ZIP. @throws BAD_REQUEST if it was not written so, to the last byte */
export function readZip(file: Uint8Array): Map<string, Uint8Array> {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const found = new Map<string, Uint8Array>();
  let at = 0;
  while (at + 30 <= view.length && view.readUInt32LE(at) === 0x04034b50) {
    const [size, length] = [view.readUInt32LE(at + 22), view.readUInt16LE(at + 26)];
    const from = at + 30 + length;
    if (from + size > view.length) throw broken(`the file ends in the middle of its content`);
    const name = view.toString('utf8', at + 30, from);
    if (found.size >= most.members) throw broken(`it has more than ${most.members} files`);
    if (found.has(name)) throw broken(`it contains ${JSON.stringify(name)} twice`);
    found.set(name, file.subarray(from, from + size));
    at = from + size;
  }
  let place = 0;
  for (const part of zipParts([...found].map(([name, bytes]) => makeMember(name, bytes)))) {
    const end = place + part.length;
    if (end > view.length || !view.subarray(place, end).equals(part)) throw broken(`a byte after ${place} is not what the contents lead to`);
    place = end;
  }
  if (place !== view.length) throw broken(`${view.length - place} bytes follow its end`);
  return found;
}

const broken = (why: string) => badRequest('path', `This is no intact pack of evidence: ${why}.`);
