// redact: removes secrets, home folders, addresses and, on request, IP addresses from exports, and puts placeholders in their place.
// `rules/` finds them in a text, redactor.ts replaces them everywhere in an export, json.ts and values.ts walk its structure.
// This file applies them to JSON, plain text and CBOR. `docs/redaction.md` lists what redaction finds and what it misses.
import { decodeText, encodeText } from '../../base/index.js';
import { encodeCbor, readArray, type Seals } from '../../formats/index.js';
import { namedStrings, replaceStrings } from './json.js';
import type { Redactor } from './redactor.js';
import type { NamedText } from './texts.js';
import { replaceIn, textsIn } from './values.js';

export { noteWritten, type Redaction, type Redactor, redactor } from './redactor.js';
export type { Findings } from './secretlint.js';
export type { NamedText } from './texts.js';
export { replaceIn, textsIn } from './values.js';

/** Whether an export is to be redacted: removing IP addresses implies the rest. */
export const isRedacted = ({ redact, redactIps }: { redact?: boolean | undefined; redactIps?: boolean | undefined }): boolean =>
  redact === true || redactIps === true;

/** Redacts JSON or JSON lines. Only strings change, and the result still parses. */
export async function redactJson(json: string, redact: Redactor, seals?: Seals): Promise<string> {
  await redact.look(namedStrings(json));
  return replaceStrings(json, redact, seals);
}

/** Redacts a plain text. */
export async function redactText(text: string, redact: Redactor): Promise<string> {
  await redact.look([{ text }]);
  return redact.replace(text);
}

/** The texts of a stored object. Search the texts of all objects before you replace texts in one of them. */
export function textsOf(bytes: Uint8Array, contentType: string): Iterable<NamedText> {
  if (contentType.endsWith('cbor')) return textsIn(readArray(bytes).items.map(({ value }) => value));
  return contentType.includes('json') ? namedStrings(decodeText(bytes)) : textsIn(bytes);
}

/** Redacts a stored object after its texts were searched. An unchanged object is returned as it is. */
export function replacedIn(bytes: Uint8Array, contentType: string, redact: Redactor, seals?: Seals): Uint8Array {
  if (contentType.endsWith('cbor')) {
    const values = readArray(bytes).items.map(({ value }) => value);
    const left = replaceIn(values, redact);
    return left === values ? bytes : encodeCbor(left);
  }
  if (!contentType.includes('json')) return replaceIn(bytes, redact);
  const text = decodeText(bytes);
  const left = replaceStrings(text, redact, seals);
  return left === text ? bytes : encodeText(left);
}

/** Redacts a CBOR array item by item. An item that cannot be read is left out. */
export async function redactArray(bytes: Uint8Array, redact: Redactor): Promise<Uint8Array> {
  const values = readArray(bytes).items.map(({ value }) => value);
  await redact.look(textsIn(values));
  return encodeCbor(replaceIn(values, redact));
}
