import { crc32 } from 'node:zlib';

/** An entry of an archive as its bytes say it: nothing is checked. What is not given follows from the content. */
export interface RawEntry {
  readonly name: string | Buffer;
  readonly content?: Uint8Array;
  readonly method?: number;
  /** The packed size, the unpacked one and the place that the directory claims. */
  readonly size?: number;
  readonly length?: number;
  readonly place?: number;
  readonly flags?: number;
  readonly extra?: Buffer;
}

function record(entry: RawEntry, place: number, isListed: boolean): Buffer {
  const { content = Buffer.alloc(0), method = 0, flags = 0, extra = Buffer.alloc(0) } = entry;
  const title = Buffer.from(entry.name);
  const head = Buffer.alloc(isListed ? 46 : 30);
  head.writeUInt32LE(isListed ? 0x02014b50 : 0x04034b50, 0);
  const at = isListed ? 8 : 6;
  // The sizes of an entry that was written as a stream stand behind it.
  const isStream = !isListed && (flags & 8) !== 0;
  head.writeUInt16LE(flags, at);
  head.writeUInt16LE(method, at + 2);
  head.writeUInt32LE(isStream ? 0 : crc32(content), at + 8);
  head.writeUInt32LE(isStream ? 0 : (entry.size ?? content.length), at + 12);
  head.writeUInt32LE(isStream ? 0 : (entry.length ?? content.length), at + 16);
  head.writeUInt16LE(title.length, at + 20);
  head.writeUInt16LE(isListed ? extra.length : 0, at + 22);
  if (isListed) head.writeUInt32LE(entry.place ?? place, 42);
  return Buffer.concat([head, title, ...(isListed ? [extra] : [])]);
}

/** An archive of entries as they are given. `ending` changes what its last record says. */
export function rawZip(entries: readonly RawEntry[], ending: { readonly count?: number; readonly directory?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const listed: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const { content } = entry;
    listed.push(record(entry, at, true));
    if (!content) continue;
    const local = Buffer.concat([record(entry, at, false), content, ...((entry.flags ?? 0) & 8 ? [descriptor(content)] : [])]);
    parts.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(ending.count ?? entries.length & 0xffff, 8);
  end.writeUInt16LE(ending.count ?? entries.length & 0xffff, 10);
  end.writeUInt32LE(ending.directory ?? at, 16);
  return Buffer.concat([...parts, ...listed, end]);
}

function descriptor(content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc32(content), 4);
  bytes.writeUInt32LE(content.length, 8);
  bytes.writeUInt32LE(content.length, 12);
  return bytes;
}
