import { cleaned, type Header, headerOf, maxCells, secretsInRow } from './cells.js';
import { rowsFrom, stringEnd } from './lists.js';
import { runEnd, type TextSpan } from './span.js';

const name = String.raw`((?:\\{0,8}["'\x60[]?[\w$#-]{1,64}\\{0,8}["'\x60\]]?\.){0,3}\\{0,8}["'\x60[]?[\w$#-]{1,64}\\{0,8}["'\x60\]]?)`;
/** A statement that names the columns of a table, or one that gives rows without names. */
const statement = new RegExp(
  String.raw`\bCREATE\s{1,8}(?:\w{1,12}\s{1,8}){0,2}TABLE\s{1,8}(?:IF\s{1,8}NOT\s{1,8}EXISTS\s{1,8})?${name}\s{0,24}\(` +
    String.raw`|\b(?:INSERT|REPLACE)\s{1,8}(?:\w{1,12}\s{1,8}){0,3}INTO\s{1,8}${name}\s{1,24}VALUES?\b`,
  'gi',
);
const columnWord = /\s{0,64}\\{0,8}["'`[]?([\w$#-]{1,40})/y;
/** Parts of a table's definition that are no columns. */
const noColumn = /^(?:primary|foreign|unique|constraint|check|key|index|fulltext|spatial|exclude|like|period)$/i;
const quote = /\\{0,8}["'`]/y;
const comment = /--[^\n]*|\/\*(?:(?!\*\/)[\s\S]){0,1024}\*\//y;
const maxDefinition = 16_384;

/** Secrets in rows without names of columns, below the definition of their table: dumps of SQLite and MySQL. Linear in the length of the text. */
export function* dumpedSecrets(text: string): Generator<TextSpan> {
  const tables = new Map<string, Header | undefined>();
  statement.lastIndex = 0;
  for (let match = statement.exec(text); match; match = statement.exec(text)) {
    const from = statement.lastIndex;
    if (match[1] !== undefined) {
      const { columns, end } = definedAt(text, from);
      tables.set(bare(match[1]), headerOf(columns.map((column) => cleaned(column, 0))));
      statement.lastIndex = end;
      continue;
    }
    const header = tables.get(bare(match[2] ?? ''));
    if (!header) continue;
    const { rows, end } = rowsFrom(text, from, header);
    for (const row of rows) yield* secretsInRow(text, row, { ...header, hasAccounts: true });
    statement.lastIndex = Math.max(end, from);
  }
}

/** The name of a table without its schema and quotes. */
const bare = (given: string): string =>
  given
    .replace(/^.*\./, '')
    .replaceAll(/["'`[\]\\]/g, '')
    .toLowerCase();

function definedAt(text: string, from: number): { readonly columns: readonly string[]; readonly end: number } {
  const columns: string[] = [];
  const limit = Math.min(text.length, from + maxDefinition);
  const add = (at: number): void => {
    columnWord.lastIndex = at;
    const word = columnWord.exec(text)?.[1];
    if (word !== undefined && !noColumn.test(word)) columns.push(word);
  };
  let depth = 0;
  let at = skipped(text, from);
  add(at);
  while (at < limit && columns.length <= maxCells) {
    const opened = runEnd(text, at, quote);
    const next = opened > at ? stringEnd(text, opened, text.slice(at, opened), limit) + opened - at : runEnd(text, at, comment);
    if (next > at) {
      at = next;
      continue;
    }
    const one = text[at];
    if (one === ';' || (one === ')' && depth === 0)) break;
    if (one === '(') depth++;
    else if (one === ')') depth--;
    at++;
    if (one === ',' && depth === 0) {
      at = skipped(text, at);
      add(at);
    }
  }
  return { columns, end: at };
}

function skipped(text: string, from: number): number {
  let at = runEnd(text, from, /\s{0,64}/y);
  for (let next = runEnd(text, at, comment); next > at; next = runEnd(text, at, comment)) at = runEnd(text, next, /\s{0,64}/y);
  return at;
}
