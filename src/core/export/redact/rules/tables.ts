import { type Cell, cleaned, type Header, headerOf, maxCells, secretInPair, secretsInRow, secretWord } from './cells.js';
import { findMatches, runEnd, type TextSpan } from './span.js';

const maxLineLength = 4_096;

interface Line {
  readonly text: string;
  readonly from: number;
}

const lineBreak = /\r?\n/g;

function divideLines(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (const { index, 0: all } of text.matchAll(lineBreak)) {
    lines.push({ text: text.slice(from, index), from });
    from = index + all.length;
  }
  lines.push({ text: text.slice(from), from });
  return lines;
}

/** What separates cells. A cell in quotes may have the separator in it. */
interface Separator {
  readonly mark: RegExp;
  readonly cell: RegExp;
}
const separatedBy = (mark: string): Separator => ({
  mark: new RegExp(mark, 'y'),
  cell: new RegExp(String.raw`[ \t]{0,64}(\\{0,8}["'])(?:(?!\1).|\1\1){0,256}?\1[ \t]{0,64}(?=${mark}|$)|(?:(?!${mark}).)*`, 'y'),
});
const bars = separatedBy('[|│║]');
const commas = separatedBy(',');
const tabs = separatedBy('\\t');
const separators = [bars, commas, separatedBy(';'), tabs, separatedBy('[ \\t]{2,64}'), separatedBy('&')];

/** The cells of a line. The bars at its ends are no separators. */
function cellsOf({ text: line, from }: Line, { mark, cell }: Separator): Cell[] {
  const cells: Cell[] = [];
  for (let at = runEnd(line, 0, /[ \t]*[|│║]?/y); cells.length <= maxCells; ) {
    const end = runEnd(line, at, cell);
    cells.push(cleaned(line.slice(at, end), from + at));
    const next = runEnd(line, end, mark);
    if (next === end) break;
    at = next;
  }
  return cells;
}

/** A line that only draws: `| --- | :-: |`, `+----+`, `├──┤`. */
const isBorder = (line: string): boolean => /^[\s|+:=\-─━│┃├┼┤┌┬┐└┴┘╞╪╡╔╦╗╠╬╣╚╩╝═║╟╫╢]+$|^[ \t]*\\+hline$/.test(line);

/** Secrets in cells below a name: CSV, tabs, tables of Markdown, of LaTeX and of databases, and columns of spaces. */
function* linedTables(text: string): Generator<TextSpan> {
  const lines = divideLines(text);
  let next = 0;
  for (const [at, line] of lines.entries()) {
    if (line.text.length > maxLineLength || !secretWord.test(line.text)) continue;
    for (const separator of [bars, commas, tabs]) {
      const cells = cellsOf(line, separator);
      if (separator === bars || cells.length === 2) yield* secretInPair(text, cells);
    }
    const table = at < next ? undefined : tableAt(line);
    if (!table) continue;
    for (next = at + 1; next < lines.length; next++) {
      const row = table.strip(lines[next] as Line);
      if (isBorder(row.text)) continue;
      const cells = row.text.length > maxLineLength ? [] : cellsOf(row, table.separator);
      while (cells.length > table.header.cells && cells.at(-1)?.text === '') cells.pop();
      if (cells.length !== table.header.cells) break;
      yield* secretsInRow(text, cells, table.header);
    }
  }
}

/** What numbered listings, differences and quotations put before a line. */
const numbered = /[ \t]{0,8}\d{1,6} {0,8}(?:→|\t|:)[ \t]{0,4}/y;
const marked = /(?:[+>-]|\/\/|#)[ \t]?(?=[^\s-])/y;
/** A table may begin inside a string: `const csv = "user,password\\n…`. */
const openQuote = /[=(:<][ \t]{0,4}\\{0,8}["'`]/g;
const maxOpenQuotes = 4;

/** The table whose header is a line, or the part of a line in a string. */
function tableAt({ text, from }: Line) {
  const starts = [0, ...Array.from(text.matchAll(openQuote), ({ index, 0: all }) => index + all.length).slice(0, maxOpenQuotes)];
  for (const start of starts) {
    const isNumbered = runEnd(text, start, numbered) > start;
    /** Removes the number or mark before a line, if one stands before the header. */
    const strip = (line: Line, at = 0): Line => {
      const begin = runEnd(line.text, isNumbered ? runEnd(line.text, at, numbered) : at, marked);
      return { text: line.text.slice(begin), from: line.from + begin };
    };
    for (const separator of separators) {
      const cells = cellsOf(strip({ text, from }, start), separator);
      while (separator !== commas && cells.at(-1)?.text === '') cells.pop();
      const header = headerOf(cells);
      if (header) return { header, separator, strip };
    }
  }
  return undefined;
}

const htmlRow = /<tr\b[^>]{0,256}>((?:(?!<\/?tr\b)[\s\S]){0,8192})/gi;
const htmlCell = /<t[hd]\b[^>]{0,256}>\s{0,32}(?:<(?:code|b|strong|em|span|p|kbd)\b[^>]{0,64}>)?([^<]{0,512})/gi;

function* htmlTables(text: string): Generator<TextSpan> {
  let header: Header | undefined;
  for (const { 0: all, 1: row = '', index } of findMatches(text, htmlRow, '<')) {
    const from = index + all.length - row.length;
    const cells = Array.from(row.matchAll(htmlCell), ({ 0: whole, 1: inner = '', index: at }) =>
      cleaned(inner, from + at + whole.length - inner.length),
    );
    const next = headerOf(cells);
    if (next) header = next;
    else if (header?.cells === cells.length) yield* secretsInRow(text, cells, header);
    if (cells.length === 2) yield* secretInPair(text, cells);
  }
}

/** Secrets in tables whose header or first column names them. Linear in the length of the text. */
export function* tableSecrets(text: string): Generator<TextSpan> {
  if (!secretWord.test(text)) return;
  yield* linedTables(text);
  yield* htmlTables(text);
}
