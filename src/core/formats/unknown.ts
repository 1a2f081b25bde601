import { badRequest, concatBytes, decodeText, type EntryKey, inWords, isObject, parseJson } from '../base/index.js';
import { digest } from './digest.js';
import type { Format } from './format.js';
import { decodeCbor, toJson } from './shared/cbor.js';
import { countTokens } from './shared/tokens.js';

/** A format that Stemma cannot read: deltas stay unchanged, in order. In another format, each is a text with a description for a model. */
export const unknownFormat = (id: string): Format => ({
  id,
  contentType: 'application/octet-stream',
  about: { name: id, what: 'A format that Stemma cannot read.', extension: 'bin' },
  tier: 'rendered',
  holds: [],
  recognize: () => 0,
  parse: (delta) => {
    const { words, text: content } = describe(delta);
    const text = `What the previous session knew is recorded in the format ${id}, which is not read here. ${words}\n\n${content}`;
    const key = `raw-${digest(delta, 16)}.0` as EntryKey;
    return {
      entries:
        delta.length === 0
          ? []
          : [{ key, role: 'user', kind: 'text', text, tokens: countTokens(text), marks: ['meta', 'raw'], raw: { start: 0, end: delta.length } }],
      elisions: [],
      problems: [],
    };
  },
  write: () => {
    throw badRequest('format', `Stemma cannot write the format ${inWords(id)}: stored content can be returned, not changed`);
  },
  concat: concatBytes,
  cut: (delta) => delta,
});

/** A description of the content, made without knowing the format. */
export const describeRaw = (id: string, delta: Uint8Array): string => `The format ${id} is not read here. ${describe(delta).words}`;

function describe(bytes: Uint8Array): { readonly words: string; readonly text: string } {
  const text = decodeText(bytes);
  const isText = !text.includes('\u0000') && !text.includes('\ufffd');
  if (isText) {
    const whole = parseJson(text);
    if (whole !== undefined) return { words: `It is one JSON document: ${describeShape(whole)}.`, text };
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const objects = lines.map(parseJson).filter(isObject);
    if (objects.length > 0 && objects.length * 2 > lines.length)
      return { words: `It is JSON Lines, ${lines.length} of them: ${describeShape(objects)}.`, text };
    return { words: `It is plain text, ${lines.length} lines.`, text };
  }
  // Only arrays and maps count as CBOR, because nearly any byte is a valid CBOR number.
  const major = (bytes[0] ?? 0) >> 5;
  const decoded = major === 4 || major === 5 ? decodeCbor(bytes) : undefined;
  if (decoded !== undefined) {
    const value = toJson(decoded);
    return { words: `It is CBOR, shown as JSON: ${describeShape(value)}.`, text: JSON.stringify(value) };
  }
  return { words: `It is binary data of ${bytes.length} bytes, shown in base64.`, text: Buffer.from(bytes).toString('base64') };
}

function describeShape(value: unknown): string {
  if (Array.isArray(value)) {
    const keys = [...new Set(value.slice(0, 200).flatMap((one: unknown) => (isObject(one) ? Object.keys(one) : [])))];
    return `${value.length} ${value.length === 1 ? 'item' : 'items'}${keys.length > 0 ? ` with the keys ${listed(keys)}` : ''}`;
  }
  return isObject(value) ? `an object with the keys ${listed(Object.keys(value))}` : `a ${typeof value}`;
}
const listed = (keys: readonly string[]): string => inWords(keys.slice(0, 24).join(', '), 400);
