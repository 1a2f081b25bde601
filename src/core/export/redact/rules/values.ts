import type { NameKind } from './names.js';
import { isPlaceholder } from './placeholders.js';

/** How a value is written after its name. */
export type Setting =
  /** In quotes, or a member of JSON. */
  | 'quoted'
  /** Without quotes after the name of an environment variable or a flag. */
  | 'shell'
  /** Without quotes in a place where only a value can occur: a line of a YAML file, a query, a header. */
  | 'plain'
  /** Without quotes in a place where code may occur. */
  | 'code';

/** Whether the value after the name of a secret is a secret, and not a type, a label, a variable or a sentence. */
export function isSecretValue(value: string, kind: NameKind, setting: Setting): boolean {
  if (value.length > longest || isPlaceholder(value)) return false;
  if (kind === 'phrase') return /^(?:[a-z]{3,10}[ ,]+){11,23}[a-z]{3,10}$/.test(value);
  if (setting !== 'quoted' && isCode(value)) return false;
  if (setting === 'code' && isExpression(value) && !isMixedAtRandom(value)) return false;
  if (kind === 'header') return value.length >= 8 && !/\s/.test(value);
  if (/\s/.test(value) || isPath(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return false;
  return !isLabel(value, kind, setting) && (kind === 'password' ? isPassword(value, setting) : isKey(value, setting));
}

/** Maximum length of a secret after a name. Keys in PEM have a rule of their own. */
const longest = 8_192;

const isPath = (value: string): boolean => /^(?:~|\.{0,2}|[A-Za-z]:)[\\/][a-z0-9_.\\/-]+$/.test(value);
/** A call, an item of a list, or a regular expression, in any surroundings. */
const isCode = (value: string): boolean => /^[\w$.]+[([]|^\/\^/.test(value);
/** A name, a member or a call: the right side of `=` in code. A word with a digit in it may be a password. */
const isExpression = (value: string): boolean =>
  /[([{]|^[&*!]/.test(value) || /^[A-Za-z_$][A-Za-z_$]*$|^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value);

/** Labels and identifiers contain the word for a secret: `confirmPassword`, `TOKEN_EXPIRED`; in code, `token2` too. */
function isLabel(value: string, kind: NameKind, setting: Setting): boolean {
  if (setting === 'shell') return false;
  if (setting === 'quoted' && kind === 'password') return label.test(value);
  const letters = setting === 'code' ? value.replace(/\d{1,2}$/, '') : value;
  return /pass(?:word|wd|phrase|wort)|secret|token|api[-_]?key|credential/i.test(letters) && !/\d/.test(letters);
}
const label =
  /^(?:(?:current|new|old|confirm|repeat|your|user|reset|forgot|enter|invalid|wrong|missing|verify|show|hide|change|db)[-_]?)?(?:password|passwd|secret|token|passphrase|credentials?)s?(?:[-_]?(?:field|input|label|hash|required|confirm|confirmation|again|name|type|error|expired|invalid|ref))?$/i;

/** A word without quotes may be a variable, so lower-case words count as passwords only from six letters on. */
function isPassword(value: string, setting: Setting): boolean {
  if (setting === 'plain' && /^[A-Za-z_]+(?:\.[A-Za-z_]+)+$/.test(value)) return false;
  return value.length >= (setting === 'plain' && /^[a-z]+$/.test(value) ? 6 : 4);
}

function isKey(value: string, setting: Setting): boolean {
  if (value.length < 8) return false;
  if (/^\d+$/.test(value)) return value.length >= 16;
  if (/\d/.test(value)) return !/^(?:[a-z]+[-_.])+v?\d{1,3}$/.test(value);
  if (isMixedAtRandom(value)) return true;
  return value.length >= 20 && (setting !== 'code' || (/[A-Z]/.test(value) && /[a-z]/.test(value)));
}

/** Letters whose case changes more often than in any identifier: `kJhGfDsAqWeRtY`, but not `refreshInterval`. */
function isMixedAtRandom(value: string): boolean {
  const parts = /^[A-Za-z]+$/.test(value) ? (value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []) : [];
  return parts.length >= 3 && value.length / parts.length < 2.6;
}

/** Whether a part of a value changes so often between letters, cases and digits that it is no name of a thing: `x7Kp2q9w`, but not `spacing-2xl`. */
export const isMixed = (value: string): boolean =>
  value.split(/[^A-Za-z\d]+/).some((part) => {
    const pieces = part.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
    const isLong = part.length >= 16;
    const most = /\d/.test(part) ? (isLong ? 4 : 3.1) : isLong ? 3.5 : 2.6;
    return part.length >= 8 && /[A-Za-z]/.test(part) && pieces.length >= 3 && part.length / pieces.length < most;
  });

/** Names after which even a word is more likely a key than anything else. A `token` may be a word of a language. */
const alwaysKey = /(?:api|secret|secretaccess)key$/i;

/** Whether letters of one case, shorter than a token, are a key (`API_KEY=qwertyuiopas`). `isGlued`: only `=` stands between, as in env files. */
export function isKeyOfLetters(name: string, value: string, setting: Setting, isGlued: boolean): boolean {
  if (!/^(?:[a-z]{8,19}|[A-Z]{8,19})$/.test(value) || isPlaceholder(value) || /pass|secret|token|key|cred/i.test(value)) return false;
  if (setting === 'shell' && isGlued) return /[a-z]/.test(value) || alwaysKey.test(name.replaceAll(/[^A-Za-z]/g, ''));
  return (setting === 'quoted' || setting === 'plain') && value.length >= 10 && alwaysKey.test(name.replaceAll(/[^A-Za-z]/g, ''));
}
