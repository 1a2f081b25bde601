import { badRequest, inWords } from '../base/index.js';
import type { AnalysisQuestion } from '../contract/index.js';
import { type View, views } from './views.js';

export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

const call = /^\s*(count|sum|avg|min|max|total|count_distinct)\s*\(\s*(distinct\s+)?(\*|\w+)?\s*\)\s*$/i;
const alias = /^(.*?)\s+as\s+(\w+)\s*$/i;

/** The SELECT statement of a question. @throws BAD_REQUEST for an unknown column */
export function statementOf({ from, select, where, groupBy, orderBy, limit }: AnalysisQuestion): Statement {
  const view = views[from];
  const values: (string | number | null)[] = [];
  const chosen = (Array.isArray(select) ? select : [select]).flatMap((one) => selectedOf(view, one));
  const groups = toList(groupBy).map((name) => column(view, name, 'groupBy'));
  const conditions = conditionsOf(view, where, values);
  const order = toList(orderBy).map((one) => orderOf(view, one, chosen));
  return {
    sql: [
      `SELECT ${chosen.map(({ sql, name }) => `${sql} AS ${quoted(name)}`).join(', ')} FROM ${from}`,
      ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
      ...(groups.length > 0 ? [`GROUP BY ${groups.join(', ')}`] : []),
      ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
      ...(limit === undefined ? [] : [`LIMIT ${limit}`]),
    ].join(' '),
    values,
  };
}

const toList = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** @throws BAD_REQUEST if the view has no such column */
function column({ name, columns }: View, wanted: string, field: string): string {
  const found = columns.find((one) => one.name === wanted.trim().toLowerCase());
  if (found) return found.name;
  throw badRequest(field, `The view ${name} has no column ${inWords(wanted)}. It has ${columns.map((one) => one.name).join(', ')}.`);
}

interface Chosen {
  readonly sql: string;
  readonly name: string;
}

function selectedOf(
  view: View,
  one: Exclude<AnalysisQuestion['select'], readonly unknown[]> | { column?: string | undefined; fn?: string | undefined; as?: string | undefined },
): Chosen[] {
  if (typeof one !== 'string') {
    const { column: of = '*', fn, as } = one;
    const [chosen] = selectedOf(view, fn === undefined ? of : `${fn}(${of})`);
    return chosen ? [{ ...chosen, name: as ?? chosen.name }] : [];
  }
  if (one.trim() === '*') return view.columns.map(({ name }) => ({ sql: name, name }));
  const [, inner, as] = alias.exec(one) ?? [undefined, one, undefined];
  const [, fn, distinct, of] = call.exec(inner ?? one) ?? [];
  if (fn === undefined) {
    const name = column(view, inner ?? one, 'select');
    return [{ sql: name, name: as ?? name }];
  }
  const name = fn.toLowerCase();
  const isDistinct = distinct !== undefined || name === 'count_distinct';
  if ((of ?? '*') === '*' && (name !== 'count' || isDistinct)) throw badRequest('select', `${inWords(one)} needs a column: only count(*) has none.`);
  const argument = (of ?? '*') === '*' ? '*' : column(view, of ?? '', 'select');
  return [{ sql: `${name === 'count_distinct' ? 'count' : name}(${isDistinct ? 'DISTINCT ' : ''}${argument})`, name: as ?? inner?.trim() ?? name }];
}

const operators: Readonly<Record<string, string>> = { eq: '=', ne: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=' };

function conditionsOf(view: View, where: AnalysisQuestion['where'], values: (string | number | null)[]): string[] {
  if (where === undefined) return [];
  if (Array.isArray(where)) return where.map(({ column: name, op = '=', value = null }) => conditionOf(view, name, op, value, values));
  return Object.entries(where).flatMap(([name, given]) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.entries(given).map(([op, value]) => conditionOf(view, name, op, value ?? null, values))
      : [conditionOf(view, name, Array.isArray(given) ? 'in' : '=', given, values)],
  );
}

type Operand = string | number | boolean | null | readonly (string | number | boolean | null)[];

function conditionOf(view: View, name: string, given: string, value: Operand, values: (string | number | null)[]): string {
  const of = column(view, name, 'where');
  const op = operators[given] ?? given;
  const add = (one: string | number | boolean | null): string => {
    values.push(typeof one === 'boolean' ? (one ? 1 : 0) : one);
    return '?';
  };
  if (op === 'is null' || op === 'is not null') return `${of} ${op.toUpperCase()}`;
  if (op === 'in' || op === 'not in') {
    if (!Array.isArray(value)) throw badRequest('where', `${name} ${op} needs a list, not ${inWords(value)}.`);
    return `${of} ${op.toUpperCase()} (${value.map(add).join(', ')})`;
  }
  if (typeof value === 'object' && value !== null) throw badRequest('where', `${name} ${op} needs one value, not a list. For a list, use "in".`);
  if (op === '=' || op === '!=') return `${of} ${op === '=' ? 'IS' : 'IS NOT'} ${add(value)}`;
  return `${of} ${op.toUpperCase()} ${add(value)}`;
}

function orderOf(view: View, one: string | { column: string; descending?: boolean | undefined }, chosen: readonly Chosen[]): string {
  if (typeof one !== 'string') return orderOf(view, `${one.column}${one.descending ? ' desc' : ''}`, chosen);
  const [, minus, name = '', direction] = /^\s*(-?)\s*(.+?)(?:\s+(asc|desc))?\s*$/i.exec(one) ?? [];
  const isDescending = minus === '-' || direction?.toLowerCase() === 'desc';
  const known = chosen.find((each) => each.name === name || each.sql.toLowerCase() === name.toLowerCase());
  return `${known ? quoted(known.name) : column(view, name, 'orderBy')}${isDescending ? ' DESC' : ''}`;
}
