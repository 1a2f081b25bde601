import { crc32 } from 'node:zlib';
import { decodeText, encodeText, parseJson } from '../../base/index.js';
import { inflated, openCompressed, type Room, roomFor, Unsearchable, unsearchableNotice } from './compressed.js';
import { namedStrings, replaceStrings } from './json.js';
import type { NamedText, Replacing } from './texts.js';

/**
 * The texts in a file: all of a text file, the strings of JSON, the files in a compressed one, and the comments and metadata of images and of other
 * files. @throws Unsearchable for compressed content that expands beyond the room.
 */
export function* textsInBytes(bytes: Uint8Array, name?: string, room: Room = roomFor(bytes.length)): Generator<NamedText> {
  const content = textIn(bytes);
  if (content?.isJson) yield* namedStrings(content.text);
  else if (content) yield { text: content.text, name };
  else {
    for (const file of openCompressed(bytes, room)?.files ?? []) yield* textsInBytes(file, name, room);
    for (const { text } of divideBytes(bytes, room)) yield { text };
  }
}

/**
 * Replaces texts in a file. A text file and JSON get the placeholders. The texts of an image are written again, with their checksums. In
 * other files, placeholders and spaces take the place of the text, so that all positions stay. A compressed file is packed again, and one
 * that expands too much to be searched is removed. Unchanged bytes are returned as they are.
 */
export function replaceInBytes(bytes: Uint8Array, redact: Replacing, name?: string, room: Room = roomFor(bytes.length)): Uint8Array {
  try {
    return replaced(bytes, redact, name, room);
  } catch (error) {
    if (error instanceof Unsearchable) return encodeText(unsearchableNotice);
    throw error;
  }
}

function replaced(bytes: Uint8Array, redact: Replacing, name: string | undefined, room: Room): Uint8Array {
  const content = textIn(bytes);
  if (content) {
    const left = content.isJson ? replaceStrings(content.text, redact) : redact.replace(content.text, name);
    return left === content.text ? bytes : content.encode(left);
  }
  const packed = openCompressed(bytes, room);
  const files = packed?.files.map((file) => replaced(file, redact, name, room));
  return inParts(packed && files?.some((file, at) => file !== packed.files[at]) ? packed.pack(files) : bytes, redact, room);
}

function inParts(bytes: Uint8Array, redact: Replacing, room: Room): Uint8Array {
  const made: Uint8Array[] = [];
  let done = 0;
  for (const { text, from, to, write } of divideBytes(bytes, room)) {
    const left = redact.replace(text);
    if (left === text) continue;
    made.push(bytes.subarray(done, from), write(left));
    done = to;
  }
  return done === 0 ? bytes : Buffer.concat([...made, bytes.subarray(done)]);
}

/** The text in bytes, if they are UTF-8, or UTF-16 with its mark. CBOR formats store the input of a call as the bytes of its JSON. */
function textIn(bytes: Uint8Array) {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  try {
    const text = new TextDecoder(isWide ? 'utf-16le' : 'utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const encode = (made: string): Uint8Array => (isWide ? Buffer.from(made, 'utf16le') : encodeText(made));
    return { text, isJson: parseJson(text) !== undefined, encode };
  } catch {
    return undefined;
  }
}

/** A text inside of a file that is no text, its range, and the bytes for a changed text. */
interface Part {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  write(text: string): Uint8Array;
}

const pngSignature = '\x89PNG\r\n\x1a\n';

const divideBytes = (bytes: Uint8Array, room: Room): Iterable<Part> =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(8, bytes.byteLength)).toString('latin1') === pngSignature
    ? pngParts(bytes, room)
    : runsIn(bytes);

/** Runs of printable characters, in one byte or in two. Shorter ones also occur in compressed data. */
const printable = /[\x20-\x7e\t\r\n]{16,}|(?:[\x20-\x7e]\0){16,}/g;

function* runsIn(bytes: Uint8Array): Generator<Part> {
  for (const { 0: run, index } of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').matchAll(printable)) {
    const isWide = run[1] === '\0';
    const text = isWide ? run.replaceAll('\0', '') : run;
    const write = (made: string): Uint8Array => Buffer.from(made.slice(0, text.length).padEnd(text.length), isWide ? 'utf16le' : 'latin1');
    yield { text, from: index, to: index + run.length, write };
  }
}

/** Parts of a PNG that hold pixels. */
const pixelChunks = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND', 'fdAT', 'tRNS']);

function* pngParts(bytes: Uint8Array, room: Room): Generator<Part> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = pngSignature.length;
  while (at + 12 <= file.length) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) break;
    const type = file.toString('latin1', at + 4, at + 8);
    const [from, content] = [at, file.subarray(at + 8, end - 4)];
    if (!pixelChunks.has(type)) {
      const { text, write } = chunkText(type, content, room);
      yield { text, from, to: end, write };
    }
    at = end;
  }
  // Bytes after the last chunk belong to no image, and no viewer shows them.
  for (const part of runsIn(file.subarray(at))) yield { ...part, from: part.from + at, to: part.to + at };
}

/** The text of a chunk of metadata. A changed chunk is written without compression; one that holds no text is written in latin-1. */
function chunkText(type: string, content: Buffer, room: Room): Pick<Part, 'text' | 'write'> {
  const keyEnd = content.indexOf(0);
  const keyword = content.toString('latin1', 0, Math.max(0, keyEnd));
  // A profile of colors is packed as a text is.
  if ((type === 'zTXt' || type === 'iCCP') && keyEnd !== -1)
    return { text: `${keyword}\0${latin1In(inflated(content.subarray(keyEnd + 2), room))}`, write: (text) => chunkOf('tEXt', text, 'latin1') };
  if (type === 'iTXt' && content[keyEnd + 1] === 1) {
    const textAt = content.indexOf(0, content.indexOf(0, keyEnd + 3) + 1) + 1;
    const text = `${keyword}\0\0\0${content.toString('utf8', keyEnd + 3, textAt)}${decodeText(inflated(content.subarray(textAt), room))}`;
    return { text, write: (made) => chunkOf('iTXt', made, 'utf8') };
  }
  const encoding = type === 'iTXt' ? 'utf8' : 'latin1';
  return { text: content.toString(encoding), write: (text) => chunkOf(type, text, encoding) };
}

const latin1In = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

function chunkOf(type: string, text: string, encoding: 'utf8' | 'latin1'): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.from(text, encoding)]);
  const made = Buffer.alloc(body.length + 8);
  made.writeUInt32BE(body.length - 4, 0);
  body.copy(made, 4);
  made.writeUInt32BE(crc32(body), body.length + 4);
  return made;
}
