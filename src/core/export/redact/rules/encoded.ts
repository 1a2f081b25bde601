import { constants, inflateRawSync } from 'node:zlib';

/** A run of base64 or hexadecimal digits in a text, and the text that it encodes. */
export interface EncodedRun {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
  encode(bytes: Uint8Array): string;
}

/** Lines of base64, as programs wrap it, also in a string. */
const wrappedRun = /(?:[A-Za-z0-9+/]{60,80}(?:\r?\n|\\{1,8}n)[ \t]{0,16}){1,65536}[A-Za-z0-9+/]{1,80}={0,2}/g;
const base64Run = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const hexRun = /(?:[0-9a-f]{2}){16,}|(?:[0-9A-F]{2}){16,}/g;
const pieces = /[A-Za-z0-9+]{24,}={0,2}/g;

/** Runs that encode a text or a file of a known type. Runs that encode random bytes, such as hashes, are skipped after a few bytes. */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  const wrapped = wrappedRuns(text);
  yield* wrapped;
  let next = 0;
  for (const match of text.matchAll(base64Run)) {
    const index = skipPrefix(text, match.index);
    const run = match[0].slice(index - match.index);
    while (next < wrapped.length && (wrapped[next] as EncodedRun).to <= index) next++;
    if (index >= (wrapped[next]?.from ?? Number.POSITIVE_INFINITY)) continue;
    if (/^[0-9a-f]+$/i.test(run)) {
      yield* hexRuns(run, index);
      continue;
    }
    const whole = base64At(run, index);
    if (whole) yield whole;
    else if (/[/_-]/.test(run))
      for (const piece of run.matchAll(pieces)) {
        const part = base64At(piece[0], index + piece.index);
        if (part) yield part;
      }
  }
}

/** The letter of an escape before a run (`\n`) is no digit of it, and neither is `0x`. */
const skipPrefix = (text: string, at: number): number =>
  text.startsWith('0x', at) ? at + 2 : text[at - 1] === '\\' && /[nrt]/.test(text[at] ?? '') ? at + 1 : at;

function wrappedRuns(text: string): readonly EncodedRun[] {
  if (!/\n|\\n/.test(text)) return [];
  return [...text.matchAll(wrappedRun)].flatMap((match) => {
    const index = skipPrefix(text, match.index);
    const lines = match[0].slice(index - match.index);
    const gap = /(?:\r?\n|\\{1,8}n)[ \t]*/.exec(lines)?.[0] ?? '\n';
    const run = base64At(lines.replaceAll(/(?:\r?\n|\\{1,8}n)[ \t]*/g, ''), index);
    const width = lines.indexOf(gap);
    const encode = (made: Uint8Array): string => run?.encode(made).replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${gap}`) ?? '';
    return run ? [{ ...run, to: index + lines.length, encode }] : [];
  });
}

function base64At(run: string, from: number): EncodedRun | undefined {
  const isUrl = /[-_]/.test(run);
  const encoding = isUrl ? 'base64url' : 'base64';
  if (!isReadable(Buffer.from(run.slice(0, 64), encoding)) && !isDeflated(run, encoding)) return undefined;
  const bytes = Buffer.from(run, encoding);
  return { from, to: from + run.length, bytes, encode: (made) => Buffer.from(made).toString(encoding) };
}

function* hexRuns(run: string, at: number): Generator<EncodedRun> {
  for (const { 0: digits, index } of run.matchAll(hexRun)) {
    const bytes = Buffer.from(digits, 'hex');
    if (isReadable(bytes.subarray(0, 48)))
      yield { from: at + index, to: at + index + digits.length, bytes, encode: (made) => Buffer.from(made).toString('hex') };
  }
}

/** Beginnings of compressed files: gzip, ZIP (also documents of office programs), Zstandard, zlib. */
export const compressedSignatures: readonly string[] = [
  ...['\x1f\x8b\x08', 'PK\x03\x04', '\x28\xb5\x2f\xfd', '\x78\x01', '\x78\x5e', '\x78\x9c', '\x78\xda'],
];

/** Signatures of files that may contain texts: PNG, JPEG, GIF, RIFF (WebP), PDF, TIFF, UTF-16, sounds, programs, and compressed files. */
const signatures: readonly string[] = [
  ...['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', '%PDF', 'II*\0', 'MM\0*', '\xff\xfe', '\xfe\xff', 'ID3', 'OggS', '\x7fELF'],
  ...compressedSignatures,
];

/** Text of two bytes for each character, as PowerShell encodes commands, or of four; and the mark of a film or a sound. */
const wide = /^(?:[\x20-\x7e\t\r\n]\0){8}|^(?:\0[\x20-\x7e\t\r\n]){8}|^(?:[\x20-\x7e\t\r\n]\0{3}){4}|^(?:\0{3}[\x20-\x7e\t\r\n]){4}|^.{4}ftyp/s;
/** A file that begins with a name, filled up with NUL: an archive of tar, a database of SQLite. */
const leastName = 8;

/** Shorter runs pack no text with a secret. */
const leastDeflated = 40;
/** The digits that suffice to decide whether a run is packed text. */
const deflatedHead = 344;

/** Whether a run encodes text that was packed without a header, as SAML and drawings in XML have it. */
function isDeflated(run: string, encoding: 'base64' | 'base64url'): boolean {
  if (run.length < leastDeflated || !/[A-Z]/.test(run) || !/[a-z]/.test(run) || !/\d/.test(run)) return false;
  try {
    return deflatedText(Buffer.from(run.slice(0, deflatedHead), encoding), 65_536) !== undefined;
  } catch {
    // Only packed bytes expand so much.
    return true;
  }
}

/** The text that was packed without a header, as far as it goes. Undefined for other bytes. @throws an error of zlib if it is longer than `most` */
export function deflatedText(bytes: Uint8Array, most: number): Uint8Array | undefined {
  // Type 3 is reserved, so no packed data begins with it.
  if (((bytes[0] ?? 6) & 6) === 6) return undefined;
  try {
    const text = inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: most });
    return text.length >= 16 && isReadable(text.subarray(0, 48)) ? text : undefined;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw error;
    return undefined;
  }
}

/** Whether bytes begin as a text or as a file of a known type does. */
function isReadable(head: Uint8Array): boolean {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 16)).toString('latin1');
  if (signatures.some((signature) => start.startsWith(signature)) || wide.test(start)) return true;
  const nul = head.indexOf(0);
  if (nul >= leastName) return isReadable(head.subarray(0, nul));
  // The last bytes may be a part of a character.
  for (const byte of head.subarray(0, Math.max(12, head.length - 4)))
    if (byte < 0x20 ? !(byte >= 9 && byte <= 13) && byte !== 27 : byte === 0x7f) return false;
  return isUtf8Head(head);
}

function isUtf8Head(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
