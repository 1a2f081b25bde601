import type { ReactNode } from 'react';
import { say } from '../../parts';
import { askSql } from './selection';
import { hitShare, type Sums, tokensOf } from './sums';
import { dollars, measured, measuredSum, million, share } from './words';

/** A column of the table. */
export interface Column {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  /** Columns that narrow windows leave out. */
  readonly isLow?: true;
  readonly value: (sums: Sums) => number;
  readonly shown: (sums: Sums, row: Row) => ReactNode;
}

/** A row of the table. */
export interface Row {
  readonly key: string;
  readonly sums: Sums;
  /** The statement that lists the calls of this row. */
  readonly calls: string;
  readonly errors: string;
}

const Ask = ({ sql, label, children }: { sql: string; label: string; children: ReactNode }) => (
  <button type="button" className="usage-ask" aria-label={label} title={label} onClick={() => askSql(sql)}>
    {children}
  </button>
);

const sessionsColumn: Column = {
  ...{ id: 'sessions', name: 'Sessions', hint: 'Sessions with at least one call, subagents included' },
  value: ({ sessions }) => sessions.size,
  shown: ({ sessions }) => say.exact(sessions.size),
};
const errorsColumn: Column = {
  ...{ id: 'errors', name: 'Errors', hint: 'Failed tool calls' },
  value: ({ errors }) => errors,
  shown: ({ errors }, row) =>
    errors === 0 ? (
      '0'
    ) : (
      <Ask sql={row.errors} label={`List ${say.plural(errors, 'failed tool call')}`}>
        {say.exact(errors)}
      </Ask>
    ),
};

/** The columns of calls to models. */
export const callColumns: readonly Column[] = [
  sessionsColumn,
  {
    ...{ id: 'calls', name: 'Calls', hint: 'Calls to models. A call counts once, however many files contain it' },
    value: ({ calls }) => calls,
    shown: ({ calls }, row) =>
      calls === 0 ? (
        '0'
      ) : (
        <Ask sql={row.calls} label={`List ${say.plural(calls, 'call')}`}>
          {say.exact(calls)}
        </Ask>
      ),
  },
  { id: 'tokens', name: 'Tokens', hint: 'All counted tokens: input, cache and output', value: tokensOf, shown: (sums) => million(tokensOf(sums)) },
  {
    ...{ id: 'hit', name: 'Cache hit', hint: 'The share of the input that was read from the cache', isLow: true },
    value: (sums) => hitShare(sums) ?? -1,
    shown: (sums) => share(hitShare(sums)),
  },
  {
    ...{ id: 'loss', name: 'Cache loss', hint: 'What cache misses cost beyond a cache read' },
    value: ({ loss }) => loss,
    shown: ({ loss }) => dollars(loss),
  },
  errorsColumn,
  {
    ...{ id: 'time', name: 'Wait', hint: 'The time from questions to the ends of the replies', isLow: true },
    value: ({ waitMs }) => waitMs,
    shown: ({ waitMs }) => measured(waitMs, 'time'),
  },
  {
    ...{ id: 'cost', name: 'Cost', hint: 'At API prices. A subscription does not pay them. ≥: a price or an output is missing' },
    value: ({ cost }) => cost,
    shown: (sums) => <b>{measuredSum(sums, 'cost')}</b>,
  },
];

/** The columns of tool calls. */
export const toolColumns: readonly Column[] = [
  sessionsColumn,
  {
    ...{ id: 'calls', name: 'Tool calls', hint: 'Calls of the tool' },
    value: ({ toolCalls }) => toolCalls,
    shown: ({ toolCalls }, row) => (
      <Ask sql={row.calls} label={`List ${say.plural(toolCalls, 'tool call')}`}>
        {say.exact(toolCalls)}
      </Ask>
    ),
  },
  errorsColumn,
  {
    ...{ id: 'rate', name: 'Errors per 100', hint: 'Failed calls per 100 calls with a recorded result' },
    value: ({ errors, results }) => (results === 0 ? -1 : errors / results),
    shown: ({ errors, results }) => (results === 0 ? 'not recorded' : ((errors / results) * 100).toFixed(1)),
  },
  {
    ...{ id: 'unknown', name: 'No result', hint: 'Calls whose result was not recorded', isLow: true },
    value: ({ toolCalls, results }) => toolCalls - results,
    shown: ({ toolCalls, results }) => say.exact(toolCalls - results),
  },
  {
    ...{ id: 'time', name: 'Time', hint: 'The time from the calls to their results' },
    value: ({ toolMs }) => toolMs,
    shown: ({ toolMs }) => measured(toolMs, 'time'),
  },
];
