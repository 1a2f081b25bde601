// rules: the rules of redaction. Each is a generator of spans that is linear in the length of the text.
// A rule recognizes a token by its prefix or shape, and any other secret by its name or notation, never by randomness alone.
// `docs/redaction.md` lists the rules; test/core/export/redaction measures them.
import { assignedSecrets } from './assignments.js';
import { headerSecrets } from './headers.js';
import { privateKeys } from './keys.js';
import { foreignSecrets, kindOfForeignName } from './languages.js';
import { kindOfName } from './names.js';
import { emailAddresses, homeFolders, ipAddresses } from './personal.js';
import { shapedSecrets } from './shapes.js';
import { namedSpan, type Span } from './span.js';
import { prefixedTokens } from './tokens.js';
import { urlPasswords } from './urls.js';
import { isKeyOfLetters, isSecretValue } from './values.js';

export { commandNames } from './headers.js';
export { shapeNames } from './shapes.js';
export type { Span } from './span.js';
export { issuers } from './tokens.js';

/** Options of a search, which always finds secrets, home folders and e-mail addresses. */
export interface SearchOptions {
  readonly ipAddresses: boolean;
}

/**
 * All spans that the rules find in a text, in no order; they may overlap. `name` is the name of the member or header that has the text as its
 * value: `hunter2` is a password only under `password`.
 */
export function findSpans(text: string, name: string | undefined, options: SearchOptions): Span[] {
  if (text.length < 4 || isEncodedBytes(text)) return [];
  const named = name === undefined ? undefined : valueUnderName(text, name);
  return [
    ...(named ? [named] : []),
    ...prefixedTokens(text),
    ...shapedSecrets(text),
    ...privateKeys(text),
    ...urlPasswords(text),
    ...headerSecrets(text),
    ...assignedSecrets(text),
    ...foreignSecrets(text),
    ...homeFolders(text),
    ...emailAddresses(text),
    ...(options.ipAddresses ? ipAddresses(text) : []),
  ];
}

function valueUnderName(text: string, name: string): Span | undefined {
  const kind = kindOfName(name) ?? kindOfForeignName(name);
  if (!kind) return undefined;
  const from = kind === 'header' ? (/^[A-Za-z][\w-]{2,20} +(?=\S)/.exec(text)?.[0].length ?? 0) : 0;
  const isSecret = isSecretValue(text.slice(from), kind, 'quoted') || (kind === 'key' && isKeyOfLetters(name, text, 'quoted', false));
  return isSecret ? namedSpan(text, from, text.length) : undefined;
}

/** Whether a text is a run of base64 that is longer than any secret, such as an image. Such texts are not searched. */
const isEncodedBytes = (text: string): boolean => text.length > 4_096 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
