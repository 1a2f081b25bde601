import type { ReactNode } from 'react';
import { say } from '../../parts';
import { askSql } from './selection';
import type { ListedCalls } from './statements';
import { hitShare, type Sums, sumTokens } from './sums';
import { measured, measuredSum, share, tokensIn } from './words';

export interface UsageColumn {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  /** Columns that narrow windows leave out. */
  readonly isLow?: true;
  readonly value: (sums: Sums) => number;
  readonly shown: (sums: Sums) => ReactNode;
  /** What a click on the number lists, and in words. */
  readonly lists: ListedCalls;
  readonly words: (sums: Sums) => string;
}

export interface UsageTableRow {
  readonly key: string;
  readonly sums: Sums;
  /** The statement that lists what a number of this row consists of. */
  readonly list: (what: ListedCalls) => string;
}

/** A number, which opens what it consists of. */
export function Cell({ column: { value, shown, lists, words }, row }: { column: UsageColumn; row: UsageTableRow }) {
  if (value(row.sums) <= 0) return shown(row.sums);
  return (
    <button type="button" className="usage-ask" title={`List ${words(row.sums)}`} onClick={() => askSql(row.list(lists))}>
      {shown(row.sums)}
    </button>
  );
}

/** A column. If nothing else is said, a click on its number lists the calls. */
const column = (
  id: string,
  name: string,
  hint: string,
  rest: Pick<UsageColumn, 'value' | 'shown'> & Partial<Pick<UsageColumn, 'isLow' | 'lists' | 'words'>>,
): UsageColumn => ({ id, name, hint, lists: 'calls', words: () => 'the calls', ...rest });

/** The column of a count, which stands for so many of `noun`. */
const counted = (id: keyof Sums, name: string, hint: string, lists: ListedCalls, noun: string): UsageColumn =>
  column(id, name, hint, {
    lists,
    value: (sums) => sums[id],
    shown: (sums) => say.exact(sums[id]),
    words: (sums) => say.plural(sums[id], noun),
  });
const sessionsColumn = counted(
  'sessions',
  'Sessions',
  'Sessions with at least one call to a model or a tool, subagents included',
  'sessions',
  'session',
);
const errorsColumn = counted('errors', 'Errors', 'Failed tool calls', 'errors', 'failed tool call');

export const callColumns: readonly UsageColumn[] = [
  sessionsColumn,
  counted('calls', 'Calls', 'Calls to models. A call counts once, however many files contain it', 'calls', 'call'),
  column('tokens', 'Tokens', 'All counted tokens: input, cache and output. ≥: a count is missing', { value: sumTokens, shown: tokensIn }),
  column('hit', 'Cache hit', 'The share of the input that was read from the cache', {
    isLow: true,
    value: (sums) => hitShare(sums) ?? -1,
    shown: (sums) => share(hitShare(sums)),
  }),
  column('loss', 'Cache loss', 'What cache misses cost beyond a cache read', {
    lists: 'misses',
    words: () => 'the cache misses',
    value: ({ loss }) => loss,
    shown: (sums) => measuredSum(sums, 'loss'),
  }),
  errorsColumn,
  column('time', 'Wait', 'The time from questions to the ends of the replies', {
    isLow: true,
    value: ({ waitMs }) => waitMs,
    shown: ({ waitMs }) => measured(waitMs, 'time'),
  }),
  column('cost', 'Cost', 'At API prices. A subscription does not pay them. ≥: a price or an output is missing', {
    value: ({ cost }) => cost,
    shown: (sums) => <b>{measuredSum(sums, 'cost')}</b>,
  }),
];

export const toolColumns: readonly UsageColumn[] = [
  sessionsColumn,
  counted('toolCalls', 'Tool calls', 'Calls of the tool', 'calls', 'tool call'),
  errorsColumn,
  column('rate', 'Errors per 100', 'Failed calls per 100 calls with a recorded result', {
    lists: 'errors',
    value: ({ errors, results }) => (results === 0 ? -1 : errors / results),
    shown: ({ errors, results }) => (results === 0 ? 'not recorded' : ((errors / results) * 100).toFixed(1)),
    words: () => 'the failed tool calls',
  }),
  column('unknown', 'No result', 'Calls whose result was not recorded', {
    isLow: true,
    lists: 'unknown',
    value: ({ toolCalls, results }) => toolCalls - results,
    shown: ({ toolCalls, results }) => say.exact(toolCalls - results),
    words: ({ toolCalls, results }) => `${say.plural(toolCalls - results, 'tool call')} without a recorded result`,
  }),
  column('time', 'Time', 'The time from the calls to their results', {
    value: ({ toolMs }) => toolMs,
    shown: ({ toolMs }) => measured(toolMs, 'time'),
  }),
];
