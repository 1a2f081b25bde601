import { kindOfForeignName } from './languages.js';
import { isEnvironmentName, isWeakName, kindOfName, type NameKind } from './names.js';
import { isRandom, namedSpan, runEnd, type TextSpan } from './span.js';
import { isMixed, isSecretValue } from './values.js';

/** A cell of a table: its text without quotes and marks, and its position. */
export interface Cell {
  readonly text: string;
  readonly from: number;
}

/** A column whose name is that of a secret. */
interface Column {
  readonly at: number;
  readonly kind: NameKind;
  readonly isPassword: boolean;
}

/** The columns of secrets in a header, and whether the table is a list of accounts, in which even a word is a password. */
export interface Header {
  readonly cells: number;
  readonly columns: readonly Column[];
  readonly hasAccounts: boolean;
}

/** Every header with a secret contains one of these. */
export const secretWord =
  /pass|pwd|\bpw\b|_pw\b|secret|token|key|credential|auth|jwt|psk|[^\x20-\x7e\s]|senha|heslo|parol|kennwort|wachtwoord|passord/i;
const account =
  /^(?:.*[^a-z])?(?:user(?:name|[ _-]?id)?|login(?:[ _-]?name)?|e-?mail(?:[ _-]?address)?|account|host(?:name)?|machine|server|service|site|website|url|uri|benutzer(?:name)?|usuario|utilisateur)$/i;
/** Columns that speak of passwords and hold none. */
const aboutSecrets = /fail|wrong|count|attempt|polic|length|reset|forgot|change|expire|strength|\?|（|\(/i;
const columnName = /^[\p{L}_][\p{L}\p{N}\p{M} _./#-]{0,39}$/u;
export const maxCells = 64;

/** The columns of secrets, if the cells are names of columns and one of them names a secret. */
export function headerOf(cells: readonly Cell[]): Header | undefined {
  if (cells.length < 2 || cells.length > maxCells) return undefined;
  const columns = cells.flatMap(({ text }, at): Column[] => {
    const kind = text.length > 40 || aboutSecrets.test(text) ? undefined : (kindOfName(text) ?? kindOfForeignName(text));
    return kind === undefined || text.split(' ').length > 3 ? [] : [{ at, kind, isPassword: kind === 'password' && !/secret$/i.test(text) }];
  });
  const isHeader = columns.length > 0 && cells.every(({ text }) => text === '' || columnName.test(text));
  return isHeader ? { cells: cells.length, columns, hasAccounts: cells.some(({ text }) => account.test(text)) } : undefined;
}

/** The secrets in the cells of a row. */
export function* secretsInRow(text: string, row: readonly Cell[], { columns, hasAccounts }: Header): Generator<TextSpan> {
  for (const { at, kind, isPassword } of columns) {
    const cell = row[at];
    if (cell && isSecretCell(cell.text, kind, isPassword, hasAccounts)) yield namedSpan(text, cell.from, cell.from + cell.text.length);
  }
}

/** Names of methods and types, which stand in tables about passwords. */
const method =
  /^(?:x509|h2|p256|ed25519|[ehr]s\d{3}|(?:sha|md|aes|rsa|hmac|utf|base|argon|pbkdf|oauth|int|float|uint|varchar|char|ntlm|tls|min|max|bcrypt|scrypt)[-_]?\d{1,5}[a-z]{0,3}(?:[-_][a-z\d]{1,6}){0,3})$/i;

/** Whether a cell below the name of a secret is one. Tables also describe secrets: their names, types, counts and states. */
function isSecretCell(value: string, kind: NameKind, isPassword: boolean, hasAccounts: boolean): boolean {
  if (!isSecretValue(value, kind, 'quoted') || kindOfName(value) !== undefined || method.test(value)) return false;
  if (value.includes('_') && isEnvironmentName(value)) return false;
  if (kind === 'header' || kind === 'phrase') return true;
  if (!isPassword) return isMixed(value);
  return isRandom(value) || (hasAccounts && (value.length >= 6 || /[^\w.-]/.test(value)));
}

/** The quotes, marks and brackets after the text of a cell. */
const tail = /(?:[ \t]+|\*\*|<\/code>|\\{0,8}["'`][);\]},]{0,4}|\\{2,8}(?:[ \t]\\{1,4}hline)?)$/;
const lead = /(?:[ \t]|\\*["'`]|\*\*|<code>)*/y;

/** The text of a cell without the quotes and marks around it. */
export function cleaned(raw: string, from: number): Cell {
  let text = raw.trimEnd();
  for (let round = 0; round < 4 && text !== ''; round++) text = text.slice(0, -24) + text.slice(-24).replace(tail, '');
  const start = runEnd(text, 0, lead);
  return { text: text.slice(start), from: from + start };
}

/** The secret in the second of two cells, if the first one names it: `| password | x7Kp2q9w |`. */
export function* secretInPair(text: string, [name, value]: readonly Cell[]): Generator<TextSpan> {
  if (!name || !value || isWeakName(name.text) || !columnName.test(name.text)) return;
  const kind = kindOfName(name.text) ?? kindOfForeignName(name.text);
  if (kind && isMixed(value.text) && isSecretCell(value.text, kind, false, false)) yield namedSpan(text, value.from, value.from + value.text.length);
}
