import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from 'node:zlib';

/** More than that is no call to a model, and a small body may unpack to anything. */
export const largestCopy = 64 * 1024 * 1024;

type Unpack = (bytes: Buffer) => Promise<Buffer>;
const maxOutputLength = largestCopy;
// A reply that broke off is unpacked as far as it came.
const zlib = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
const unzip: Unpack = (bytes) => promisify(gunzip)(bytes, zlib);
const unpackers: Readonly<Record<string, Unpack>> = {
  gzip: unzip,
  'x-gzip': unzip,
  deflate: (bytes) => promisify(inflate)(bytes, zlib),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes) => promisify(zstdDecompress)(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
};

/** The text behind a `content-encoding`, the last one named undone first. Throws for one that is not known, or does not fit the bytes. */
export async function decoded(bytes: Buffer, encoding = ''): Promise<string> {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  let plain = bytes;
  for (const name of names.toReversed()) {
    const unpack = unpackers[name];
    if (!unpack) throw new Error(`a body is packed as ${JSON.stringify(name)}, which Stemma does not unpack`);
    if (plain.length > 0) plain = await unpack(plain);
  }
  return plain.toString('utf8');
}
