// rules: the rules of redaction. Each is a generator of spans that is linear in the length of the text.
// A rule recognizes a token by its prefix or shape, and any other secret by its name or notation, never by randomness alone.
// `docs/redaction.md` lists the rules; test/core/export/redaction measures them.
import { decodeText } from '../../../base/index.js';
import { openCompressed, type Room, roomFor, Unsearchable } from '../compressed.js';
import { accountSecrets } from './accounts.js';
import { assignedSecrets } from './assignments.js';
import { besideSecrets } from './beside.js';
import { blockSecrets } from './blocks.js';
import { cookieSecrets } from './cookies.js';
import { dumpedSecrets } from './dumps.js';
import { encodedRuns } from './encoded.js';
import { headerSecrets } from './headers.js';
import { inputSecrets } from './inputs.js';
import { privateKeys } from './keys.js';
import { foreignSecrets, kindOfForeignName } from './languages.js';
import { listedSecrets } from './lists.js';
import { kindOfName } from './names.js';
import { emailAddresses, homeFolders, ipAddresses } from './personal.js';
import { readingsOf } from './readings.js';
import { shapedSecrets } from './shapes.js';
import { isRandom, namedSpan, secretSpan, type TextSpan, withBreaks } from './span.js';
import { tableSecrets } from './tables.js';
import { prefixedTokens, reversedTokens } from './tokens.js';
import { urlPasswords } from './urls.js';
import { isKeyOfLetters, isSecretValue } from './values.js';

export { notationNames } from './accounts.js';
export { doesNameNext } from './assignments.js';
export { encodedRuns } from './encoded.js';
export { commandNames } from './headers.js';
export { nameBeside } from './names.js';
export { readingsOf } from './readings.js';
export { shapeNames } from './shapes.js';
export type { TextSpan } from './span.js';
export { issuers } from './tokens.js';

/** Options of a search, which always finds secrets, home folders and e-mail addresses. */
export interface SearchOptions {
  readonly ipAddresses: boolean;
}

/**
 * All spans that the rules find in a text and in its other readings, in no order; they may overlap. `name` is the name of the member or
 * header that has the text as its value: `hunter2` is a password only under `password`. `more` finds further spans in each reading.
 */
export function findSpans<More extends TextSpan>(
  text: string,
  name: string | undefined,
  options: SearchOptions,
  more: (text: string) => readonly More[] = () => [],
): (TextSpan | More)[] {
  if (text.length < 4 || isEncodedBytes(text)) return [];
  const found: (TextSpan | More)[] = [...spansIn(text, name, options), ...more(text)];
  for (const reading of readingsOf(text)) {
    const spans = reading.rules === 'all' ? spansIn(reading.text, name, options) : tokensIn(reading.text);
    for (const span of [...spans, ...encodedIn(reading.text, options), ...more(reading.text)])
      if (reading.isChanged(span.from, span.to))
        found.push({ ...span, ...reading.origin(span.from, span.to), value: span.value ?? reading.text.slice(span.from, span.to) });
  }
  return found;
}

function* spansIn(text: string, name: string | undefined, options: SearchOptions): Generator<TextSpan> {
  const named = name === undefined ? undefined : valueUnderName(text, name);
  if (named) yield named;
  yield* tokensIn(text);
  yield* privateKeys(text);
  yield* urlPasswords(text);
  yield* cookieSecrets(text, name);
  yield* assignedSecrets(text);
  yield* blockSecrets(text);
  for (const lines of new Set([text, withBreaks(text)])) {
    yield* headerSecrets(lines);
    yield* tableSecrets(lines);
    yield* listedSecrets(lines);
    yield* besideSecrets(lines);
    yield* dumpedSecrets(lines);
    yield* accountSecrets(lines);
    yield* inputSecrets(lines);
  }
  yield* foreignSecrets(text);
  yield* homeFolders(text);
  yield* emailAddresses(text);
  if (options.ipAddresses) yield* ipAddresses(text);
}

/** Runs of base64 or hexadecimal digits that encode a text with a secret. */
function* encodedIn(text: string, options: SearchOptions): Generator<TextSpan> {
  const room = roomFor(text.length);
  for (const { from, to, bytes } of encodedRuns(text)) if (hasSecret(bytes, room, options)) yield secretSpan(from, to);
}

function hasSecret(bytes: Uint8Array, room: Room, options: SearchOptions): boolean {
  try {
    const files = openCompressed(bytes, room)?.files ?? [bytes];
    return files.some((file) => [...spansIn(decodeText(file), undefined, options)].some(({ kind }) => kind === 'secret'));
  } catch (error) {
    if (error instanceof Unsearchable) return true;
    throw error;
  }
}

/** Secrets that are recognized by themselves, in whatever text. */
function* tokensIn(text: string): Generator<TextSpan> {
  yield* prefixedTokens(text);
  yield* reversedTokens(text);
  yield* shapedSecrets(text);
}

const keyPart = /^(?:d|p|q|dp|dq|qi|k)$/;

function valueUnderName(text: string, name: string): TextSpan | undefined {
  if (keyPart.test(name) && /^[\w-]{43,4096}$/.test(text) && /[_G-Zg-z-]/.test(text) && isRandom(text)) return secretSpan(0, text.length);
  const kind = kindOfName(name) ?? kindOfForeignName(name);
  if (!kind) return undefined;
  const from = kind === 'header' ? (/^[A-Za-z][\w-]{2,20} +(?=\S)/.exec(text)?.[0].length ?? 0) : 0;
  const isSecret = isSecretValue(text.slice(from), kind, 'quoted') || (kind === 'key' && isKeyOfLetters(name, text, 'quoted', false));
  return isSecret ? namedSpan(text, from, text.length) : undefined;
}

/** Whether a text is a run of base64 that is longer than any secret, such as an image. Such texts are not searched. */
const isEncodedBytes = (text: string): boolean => text.length > 4_096 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
