import { type Cell, cleaned, type Header, headerOf, secretsInRow } from './cells.js';
import { runEnd, type TextSpan } from './span.js';

/** Columns before values in SQL: `INSERT INTO users (name, password) VALUES (…), (…)`, `SET (name, password) = (…)`. */
const columnsOfSql = /\b(?:INSERT|REPLACE|UPSERT|MERGE|SET)\b[^()]{0,200}?\(([^()]{1,4096})\)[^()'"]{0,80}?(?:VALUES?\b|=)/gi;
/** Columns before lines of a dump of PostgreSQL. */
const columnsOfCopy = /\bCOPY\b[^()]{0,200}?\(([^()]{1,4096})\)\s{1,8}FROM\s{1,8}stdin\b[^\n]{0,80}\n/gi;
/** Names before lists of values: `{"columns": ["name", "password"], "rows": [["ada", "…"]]}`. */
const namesOfRows = /[[(]((?:\s{0,24}\\{0,8}["'][^"'\\\n[\]()]{1,40}\\{0,8}["']\s{0,8}[,\])]){2,64})/g;

const beforeRows = /\s{0,24},\s{0,24}(?:\\{0,8}["']\w{1,20}\\{0,8}["']\s{0,8}:\s{0,8}(?:\[\s{0,24})?)?(?=[[(])/y;
const beforeRow = /(?:\s|,|\bROW\b){0,32}[[(]/iy;
/** Values that a program gives for the marks of a statement: `execute("… VALUES (?, ?)", ["ada", "…"])`. */
const beforeGiven = /[^"'\x60()]{0,80}\\{0,8}["'\x60]{1,3}\s{0,8},\s{0,24}(?:[[(]\s{0,24}){0,2}/y;
const mark = /^(?:\?|%s|%\(\w{1,40}\)s|\$\d{1,3}|[:@]\w{1,40})$/;
const lineBreak = /[ \r]*\n/g;

/** Secrets in rows of values below names of columns: SQL, dumps of databases, and lists of lists. Linear in the length of the text. */
export function* listedSecrets(text: string): Generator<TextSpan> {
  yield* below(text, columnsOfSql, valuesOfSql, true);
  yield* below(text, columnsOfCopy, copiedRows, true);
  yield* below(text, namesOfRows, (whole, from, header) => rowsFrom(whole, runEnd(whole, from, beforeRows), header), false);
}

/** Reads the rows below each header that names a secret, and continues behind them. In the data of a database, a word under `password` is one. */
function* below(text: string, columns: RegExp, read: (text: string, from: number, header: Header) => Rows, isData: boolean): Generator<TextSpan> {
  columns.lastIndex = 0;
  for (let match = columns.exec(text); match; match = columns.exec(text)) {
    const cells = (match[1] ?? '').replace(/[\])]$/, '').split(',');
    const header = headerOf(cells.map((cell) => cleaned(cell.replaceAll(/^\s*\[|\]\s*$/g, '').trim(), 0)));
    if (!header) continue;
    const { rows, end } = read(text, columns.lastIndex, header);
    for (const row of rows) yield* secretsInRow(text, row, isData ? { ...header, hasAccounts: true } : header);
    columns.lastIndex = Math.max(end, columns.lastIndex);
  }
}

interface Rows {
  readonly rows: readonly (readonly Cell[])[];
  readonly end: number;
}

/** Values after the columns. If they are only marks, the values that a program gives for them are rows too. */
function valuesOfSql(text: string, from: number, header: Header): Rows {
  const { rows, end } = rowsFrom(text, from, header);
  const isMarked = rows.length > 0 && rows.every((row) => header.columns.every(({ at }) => mark.test(row[at]?.text ?? '')));
  const given = isMarked ? runEnd(text, end, beforeGiven) : end;
  if (given === end) return { rows, end };
  const first = listAt(text, given, header.cells);
  const more = rowsFrom(text, first.end, header);
  return { rows: [first.cells, ...more.rows], end: more.end };
}

/** The rows of values after a header. Rows of another number of cells end them. */
export function rowsFrom(text: string, from: number, header: Header): Rows {
  const rows: (readonly Cell[])[] = [];
  let end = from;
  for (;;) {
    const start = runEnd(text, end, beforeRow);
    if (start === end) return { rows, end };
    const list = listAt(text, start, header.cells);
    if (list.end === start || list.cells.length !== header.cells) return { rows, end };
    rows.push(list.cells);
    end = list.end;
  }
}

/** Lines of values between tabs, up to `\\.`. */
function copiedRows(text: string, from: number, header: Header): Rows {
  const rows: Cell[][] = [];
  for (let end = from; ; ) {
    lineBreak.lastIndex = end;
    const next = lineBreak.exec(text);
    const line = text.slice(end, Math.min(next?.index ?? text.length, end + maxListLength));
    let start = end;
    const cells = line.split('\t').map((cell) => {
      const at = text.indexOf(cell, start);
      start = at + cell.length;
      return { text: cell, from: at };
    });
    if (cells.length !== header.cells) return { rows, end };
    rows.push(cells);
    if (!next) return { rows, end: text.length };
    end = lineBreak.lastIndex;
  }
}

const maxListLength = 8_192;
const maxDepth = 6;
const quote = /\\{0,8}["'`]/y;

/** The cells of a list of `count` cells up to its end, or none. A cell with a string is the first string in it: `crypt('…', gen_salt('bf'))`. */
function listAt(text: string, from: number, count: number): { readonly cells: Cell[]; readonly end: number } {
  const cells: Cell[] = [];
  let start = from;
  let string: Cell | undefined;
  let depth = 0;
  const limit = Math.min(text.length, from + maxListLength);
  const close = (at: number): void => {
    cells.push(string ?? cleaned(text.slice(start, at).trimStart(), at - text.slice(start, at).trimStart().length));
    start = at + 1;
    string = undefined;
  };
  for (let at = from; at < limit && cells.length < count && depth < maxDepth; ) {
    const opened = runEnd(text, at, quote);
    if (opened > at) {
      const end = stringEnd(text, opened, text.slice(at, opened), limit);
      string ??= { text: text.slice(opened, end), from: opened };
      at = end + opened - at;
      // No list has a word right after a string. A list that does not end costs little.
      if (/\w/.test(text[at] ?? '')) break;
      continue;
    }
    const one = text[at] ?? '';
    if (/[([{]/.test(one)) depth++;
    else if (/[)\]}]/.test(one) && depth-- === 0) {
      close(at);
      return { cells, end: at + 1 };
    } else if (one === ',' && depth === 0) close(at);
    at++;
  }
  return { cells: [], end: from };
}

/** The end of a string: a quote that is not doubled, and without more backslashes before it. */
export function stringEnd(text: string, from: number, open: string, limit: number): number {
  for (let end = text.indexOf(open, from); end !== -1 && end < limit; end = text.indexOf(open, end + open.length)) {
    if (text.startsWith(open, end + open.length)) end += open.length;
    else if (text[end - 1] !== '\\') return end;
  }
  return limit;
}
