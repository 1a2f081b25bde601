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
export function Cell({ column, row }: { column: UsageColumn; row: UsageTableRow }) {
  const { value, shown, lists, words } = column;
  if (value(row.sums) <= 0) return shown(row.sums);
  return (
    <button type="button" className="usage-ask" title={`List ${words(row.sums)}`} onClick={() => askSql(row.list(lists))}>
      {shown(row.sums)}
    </button>
  );
}

const theCalls = { lists: 'calls', words: () => 'the calls' } as const;

const sessionsColumn: UsageColumn = {
  ...{ id: 'sessions', name: 'Sessions', hint: 'Sessions with at least one call to a model or a tool, subagents included', lists: 'sessions' },
  value: ({ sessions }) => sessions,
  shown: ({ sessions }) => say.exact(sessions),
  words: ({ sessions }) => say.plural(sessions, 'session'),
};
const errorsColumn: UsageColumn = {
  ...{ id: 'errors', name: 'Errors', hint: 'Failed tool calls', lists: 'errors' },
  value: ({ errors }) => errors,
  shown: ({ errors }) => say.exact(errors),
  words: ({ errors }) => say.plural(errors, 'failed tool call'),
};

export const callColumns: readonly UsageColumn[] = [
  sessionsColumn,
  {
    ...{ id: 'calls', name: 'Calls', hint: 'Calls to models. A call counts once, however many files contain it', lists: 'calls' },
    value: ({ calls }) => calls,
    shown: ({ calls }) => say.exact(calls),
    words: ({ calls }) => say.plural(calls, 'call'),
  },
  {
    ...{ id: 'tokens', name: 'Tokens', hint: 'All counted tokens: input, cache and output. ≥: a count is missing', ...theCalls },
    value: sumTokens,
    shown: tokensIn,
  },
  {
    ...{ id: 'hit', name: 'Cache hit', hint: 'The share of the input that was read from the cache', isLow: true, ...theCalls },
    value: (sums) => hitShare(sums) ?? -1,
    shown: (sums) => share(hitShare(sums)),
  },
  {
    ...{ id: 'loss', name: 'Cache loss', hint: 'What cache misses cost beyond a cache read', lists: 'misses', words: () => 'the cache misses' },
    value: ({ loss }) => loss,
    shown: (sums) => measuredSum(sums, 'loss'),
  },
  errorsColumn,
  {
    ...{ id: 'time', name: 'Wait', hint: 'The time from questions to the ends of the replies', isLow: true, ...theCalls },
    value: ({ waitMs }) => waitMs,
    shown: ({ waitMs }) => measured(waitMs, 'time'),
  },
  {
    ...{ id: 'cost', name: 'Cost', hint: 'At API prices. A subscription does not pay them. ≥: a price or an output is missing', ...theCalls },
    value: ({ cost }) => cost,
    shown: (sums) => <b>{measuredSum(sums, 'cost')}</b>,
  },
];

export const toolColumns: readonly UsageColumn[] = [
  sessionsColumn,
  {
    ...{ id: 'calls', name: 'Tool calls', hint: 'Calls of the tool', lists: 'calls' },
    value: ({ toolCalls }) => toolCalls,
    shown: ({ toolCalls }) => say.exact(toolCalls),
    words: ({ toolCalls }) => say.plural(toolCalls, 'tool call'),
  },
  errorsColumn,
  {
    ...{ id: 'rate', name: 'Errors per 100', hint: 'Failed calls per 100 calls with a recorded result', lists: 'errors' },
    value: ({ errors, results }) => (results === 0 ? -1 : errors / results),
    shown: ({ errors, results }) => (results === 0 ? 'not recorded' : ((errors / results) * 100).toFixed(1)),
    words: () => 'the failed tool calls',
  },
  {
    ...{ id: 'unknown', name: 'No result', hint: 'Calls whose result was not recorded', isLow: true, lists: 'unknown' },
    value: ({ toolCalls, results }) => toolCalls - results,
    shown: ({ toolCalls, results }) => say.exact(toolCalls - results),
    words: ({ toolCalls, results }) => `${say.plural(toolCalls - results, 'tool call')} without a recorded result`,
  },
  {
    ...{ id: 'time', name: 'Time', hint: 'The time from the calls to their results', ...theCalls },
    value: ({ toolMs }) => toolMs,
    shown: ({ toolMs }) => measured(toolMs, 'time'),
  },
];
