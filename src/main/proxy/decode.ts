import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { zstdFrames } from '../../core/formats/index.js';

/** The largest decoded body in bytes, because a small compressed body can expand to any size. No call to a model is larger. */
export const maxCopyBytes = 64 * 1024 * 1024;

/** The most encodings of one body: each can cost as much memory as the largest body. */
const maxEncodings = 3;

type Unpack = (bytes: Buffer) => Promise<Buffer>;
const maxOutputLength = maxCopyBytes;
// An incomplete reply is decompressed as far as it arrived.
const zlib = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
const unzip: Unpack = (bytes) => promisify(gunzip)(bytes, zlib);
const unpackers: Readonly<Record<string, Unpack>> = {
  gzip: unzip,
  'x-gzip': unzip,
  deflate: (bytes) => promisify(inflate)(bytes, zlib),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: unzstd,
};

/** Decompresses every frame: a server may send its reply in several. */
async function unzstd(bytes: Buffer): Promise<Buffer> {
  const parts: Buffer[] = [];
  let room = maxOutputLength;
  for (const frame of zstdFrames(bytes)) {
    const limits = { maxOutputLength: Math.max(1, room), finishFlush: constants.ZSTD_e_flush };
    const part = await promisify(zstdDecompress)(frame.bytes, limits);
    parts.push(part);
    room -= part.length;
  }
  return Buffer.concat(parts);
}

/** Decodes a body by its `content-encoding`, last encoding first. @throws Error for an unknown encoding or invalid bytes */
export async function decoded(bytes: Buffer, encoding = ''): Promise<string> {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > maxEncodings) throw new Error(`a body is packed ${names.length} times; Stemma unpacks at most ${maxEncodings}`);
  let plain = bytes;
  for (const name of names.toReversed()) {
    const unpack = unpackers[name];
    if (!unpack) throw new Error(`a body has the encoding ${JSON.stringify(name)}, which Stemma cannot decode`);
    if (plain.length > 0) plain = await unpack(plain);
  }
  return plain.toString('utf8');
}
