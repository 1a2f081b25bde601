import type { AnalysisAnswer, AnalysisSchema } from '../../../core/contract/index.js';

const keywords = [
  'SELECT',
  'FROM',
  'WHERE',
  'GROUP BY',
  'ORDER BY',
  'HAVING',
  'LIMIT',
  'JOIN',
  'LEFT JOIN',
  'AND',
  'OR',
  'NOT',
  'NULL',
  'LIKE',
  'DESC',
];
const functions = ['count(*)', 'sum(', 'avg(', 'min(', 'max(', 'round(', 'substr(', 'ifnull('];

/** The word that ends at the caret. */
export const wordAt = (text: string, caret: number): string => /[A-Za-z_]\w*$/.exec(text.slice(0, caret))?.[0] ?? '';

export interface Suggestion {
  readonly text: string;
  readonly what: string;
}

const most = 8;

/** What can complete the word at the caret: columns of the views that the statement names come first, then views, then words of SQL. */
export function suggestionsFor(text: string, caret: number, views: readonly AnalysisSchema[]): readonly Suggestion[] {
  const word = wordAt(text, caret).toLowerCase();
  // Inside of a text or a comment, nothing is completed.
  if (word === '' || isQuoted(text.slice(0, caret))) return [];
  const named = new Set((text.toLowerCase().match(/[a-z_]\w*/g) ?? []).filter((one) => views.some(({ name }) => name === one)));
  const columnsOf = (isNamed: boolean): Suggestion[] =>
    views
      .filter(({ name }) => named.has(name) === isNamed)
      .flatMap(({ name, columns }) => columns.map((one) => ({ text: one.name, what: `${name}: ${one.what}` })));
  const viewNames = views.map(({ name, what }) => ({ text: name as string, what }));
  const all = [
    ...(named.size > 0 ? columnsOf(true) : []),
    ...viewNames,
    ...[...keywords, ...functions].map((one) => ({ text: one, what: '' })),
    ...columnsOf(false),
  ];
  const seen = new Set<string>();
  return all
    .filter((one) => {
      const name = one.text.toLowerCase();
      return name.startsWith(word) && name !== word && !seen.has(name) && seen.add(name);
    })
    .slice(0, most);
}

/** Whether a text ends inside of a quoted text or a comment. */
function isQuoted(text: string): boolean {
  const open = /'(?:[^']|'')*$|--[^\n]*$|\/\*(?:(?!\*\/)[\s\S])*$/.exec(text.replace(/'(?:[^']|'')*'|--[^\n]*\n|\/\*[\s\S]*?\*\//g, ' '));
  return open !== null;
}

/** The statement with the word at the caret completed, and the new caret. */
export function completed(text: string, caret: number, suggestion: string): { readonly text: string; readonly caret: number } {
  const start = caret - wordAt(text, caret).length;
  const isOpen = suggestion.endsWith('(');
  const inserted = isOpen || /^\s/.test(text.slice(caret)) ? suggestion : `${suggestion} `;
  return { text: text.slice(0, start) + inserted + text.slice(caret), caret: start + inserted.length };
}

/** A cell as text. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined ? 'null' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The number columns of an answer, by their places. */
export const numberColumns = ({ columns, rows }: Pick<AnalysisAnswer, 'columns' | 'rows'>): readonly number[] =>
  columns.flatMap((_, at) =>
    rows.some((row) => typeof row[at] === 'number') && rows.every((row) => row[at] === null || typeof row[at] === 'number') ? [at] : [],
  );

/** What a chart of an answer shows: the names of its bars, and the column of their lengths. Undefined if the answer has no column of numbers. */
export interface Bars {
  readonly name: string;
  readonly value: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
  readonly left: number;
}
const mostBars = 60;

/** The bars of an answer by a column of numbers. Texts of the first other column name them. */
export function barsIn(answer: Pick<AnalysisAnswer, 'columns' | 'rows'>, column: number | undefined): Bars | undefined {
  const numbers = numberColumns(answer);
  const by = column !== undefined && numbers.includes(column) ? column : numbers.at(-1);
  if (by === undefined) return undefined;
  const { columns, rows } = answer;
  const names = columns.findIndex((_, at) => at !== by && !numbers.includes(at));
  const label = names >= 0 ? names : columns.findIndex((_, at) => at !== by);
  return {
    name: columns[label] ?? 'row',
    value: columns[by] ?? '',
    bars: rows.slice(0, mostBars).map((row, at) => ({
      name: label >= 0 ? cellText(row[label]) : String(at + 1),
      value: typeof row[by] === 'number' ? (row[by] as number) : 0,
    })),
    left: Math.max(0, rows.length - mostBars),
  };
}
