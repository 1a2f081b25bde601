import { analysisFormats } from './kinds.js';
import { contextId, count, entryKey, flag, line, list, name, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

/** The views that questions over many sessions are asked of. */
export const analysisViews = ['sessions', 'turns', 'calls', 'tool_calls', 'entries', 'files', 'tickets', 'costs', 'tools'] as const;
export type AnalysisView = (typeof analysisViews)[number];

/** The most rows that an answer may have. A file has no such limit. */
export const mostRows = 100_000;
const maxSql = 100_000;

const column = z.string().min(1).max(200);
const value = z.union([line, z.number(), z.boolean(), z.null()]);
const aggregates = ['count', 'sum', 'avg', 'min', 'max', 'total', 'count_distinct'] as const;

const selected = z
  .union([
    column,
    z.strictObject({
      column: column.optional().describe('The column. Without it, `count` counts rows.'),
      fn: z.enum(aggregates).optional().describe('How the rows of a group become one value.'),
      as: column.optional().describe('The name in the answer.'),
    }),
  ])
  .describe('A column, `sum(column)`, `count(*)`, or the same as an object. ` as name` gives it another name.');

const operators = ['=', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'like', 'is null', 'is not null', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const;
const operand = z.union([value, list(value, 1_000)]);
const condition = z.strictObject({
  column: column.describe('The column.'),
  op: z.enum(operators).optional().describe('How to compare. The default is `=`.'),
  value: operand.optional().describe('The value, or a list for `in`.'),
});
const conditions = z.union([list(condition, 100), z.record(column, z.union([operand, z.partialRecord(z.enum(operators), operand)]))]);

const order = z.union([
  column,
  z.strictObject({
    column: column.describe('A column or a name of the answer.'),
    descending: flag('The largest first.'),
  }),
]);

/** A question without SQL. */
export const analysisQuestion = {
  from: z.enum(analysisViews).describe('The view.'),
  select: z.union([column, list(selected, 100).min(1)]).describe('What each row has. `*` is every column.'),
  where: conditions.optional().describe('Which rows: `{"agent": "codex", "cost": {">": 1}}`, or a list of `{column, op, value}`. All must hold.'),
  groupBy: z
    .union([column, list(column, 20)])
    .optional()
    .describe('The columns of which each combination becomes one row.'),
  orderBy: z
    .union([order, list(order, 20)])
    .optional()
    .describe('`cost`, `-cost` or `cost desc`: a column or a name of the answer.'),
};
const question = z.strictObject({ ...analysisQuestion, limit: count.max(mostRows).optional().describe('The maximum number of rows.') });
export type AnalysisQuestion = z.output<typeof question>;

const limit = count.max(mostRows).optional().describe('The maximum number of rows. The default is 10,000.');
const sql = z.string().min(1).max(maxSql).describe('One SELECT statement of SQLite over the views. `analysis.schema` lists them.');

const answer = z.object({
  columns: z.array(z.string()),
  /** Texts, numbers and nulls. An integer that a number cannot hold is a text. */
  rows: z.array(z.array(z.unknown())),
  /** Whether rows were left out, because of the limit or of the size of the answer. */
  truncated: z.boolean(),
  ms: z.number().optional(),
});
export type AnalysisAnswer = z.output<typeof answer>;

const viewSchema = z.object({
  name: z.enum(analysisViews),
  what: z.string(),
  columns: z.array(z.object({ name: z.string(), kind: z.string(), what: z.string() })),
});
export type AnalysisSchema = z.output<typeof viewSchema>;

const numbers = z.array(z.number());
/** Columns of equal length, because a large project has many rows. The rows of a session follow each other. */
const sums = z.array(numbers);
/** Days, sessions and so on, which the columns name by their places here. An empty text stands for what was not recorded. */
const names = z.array(z.string());

/** Sums of the calls of a project, as one text of JSON. */
const analysisSums = z.object({
  names,
  /** The sessions: ids, titles, latest commits, and places: repository, machine, agent, for a subagent the session that started it, and the last branch of git. */
  sessions: z.object({ ids: numbers, titles: z.array(z.string()), tips: z.array(z.string()), places: sums }),
  /**
   * Day in UTC, session, agent, model; the sums of calls, input, cache reads, cache writes, output, cost; calls without a price, an input, an output;
   * cache misses, what they cost, and the wait in milliseconds; tool calls, those with a result, failed ones, and their time in milliseconds.
   */
  calls: sums,
  /** The turns that were made in Stemma, the latest first: day, session, commit, calls, and cost (null if no call has a price). */
  forks: z.array(z.tuple([z.string(), z.string().nullable(), contextId, count, z.number().nullable()])),
  /** The commits in which agents compacted, the latest first: day, session and commit. */
  compactions: z.array(z.tuple([z.string(), z.string().nullable(), contextId])),
});
export type AnalysisSums = z.output<typeof analysisSums>;

/** Sums of the tool calls of a project, as one text of JSON. */
const analysisTools = z.object({
  names,
  /** Day in UTC, session, agent, model, tool; the sums of calls, calls with a result, failed calls, and their time in milliseconds. */
  tools: sums,
});
export type AnalysisTools = z.output<typeof analysisTools>;

export const analysisContract = {
  sums: procedure('Returns the sums of all calls by session, day, agent and model, from which charts and tables are computed.').returns({
    packed: z.string().describe('The sessions, the sums of calls, the forks and the compactions as JSON.'),
    left: count.describe('The commits that are not counted, because another program was writing to the project.'),
  }),
  tools: procedure(
    'Returns the sums of all tool calls by session, day, agent, model and tool. There are several times as many as sums of calls.',
  ).returns({ packed: z.string().describe('The sums of tool calls as JSON.') }),
  progress: procedure(
    'Counts the commits of the project, and those from which questions over all sessions are answered. The first question after an import waits for the others.',
  ).returns({ done: count, total: count }),
  query: procedure(
    'Answers a question over all sessions of the project: columns of a view, filtered, grouped and sorted.',
    question.extend({ limit }),
  ).returns(answer),
  sql: procedure(
    'Answers a SELECT statement over the documented views of the project. It reads only, in a process of its own, with limits of time, memory and rows.',
    { sql, limit },
  ).returns(answer),
  schema: procedure('Lists the views that `analysis.sql` and `analysis.query` read, with their columns.').returns({
    version: count,
    views: z.array(viewSchema),
  }),
  export: procedure(
    'Writes the rows of a question, or with `dataset` all views of the project as a folder of Parquet files by view and month. Never overwrites a file.',
    z
      .strictObject({
        sql: sql.optional(),
        query: question.optional().describe('The question, as `analysis.query` takes it.'),
        dataset: z.literal(true).optional().describe('All views, each as files by month.'),
        format: z.enum(analysisFormats).describe('The format of the file.'),
        path: line.min(1).describe('The new file, or for a dataset the new folder. It must not exist.'),
      })
      .refine(({ sql, query, dataset }) => [sql, query, dataset].filter((one) => one !== undefined).length === 1, {
        message: 'give one of sql, query and dataset',
        path: ['sql'],
      }),
  ).returns({ path: z.string(), rows: count, bytes: count }),
};

export const findingRule = z.object({
  rule: z.string(),
  title: z.string(),
  what: z.string(),
  severity: z.enum(['high', 'medium', 'low']),
  /** False for a person's own rule. */
  isBuiltIn: z.boolean(),
  sql: z.string(),
  /** The number of findings, or what is wrong with the rule. */
  found: count,
  problem: z.string().optional(),
});
export type FindingRule = z.output<typeof findingRule>;

export const finding = z.object({
  rule: z.string(),
  title: z.string(),
  severity: z.enum(['high', 'medium', 'low']),
  sessionId: z.string().nullable(),
  sessionTitle: z.string().nullable(),
  /** The commit and the entry that show it. */
  commit: contextId.nullable(),
  entryKey: entryKey.nullable(),
  at: timestamp.nullable(),
  /** One sentence about this case. */
  detail: z.string(),
  count: count,
});
export type Finding = z.output<typeof finding>;

/** The number of sessions to which the built-in rules were not yet applied. The next question goes on with them. */
const unchecked = count.optional();

export const findingContract = {
  list: procedure('Lists what the rules find in all sessions: each with the commit and the entry that show it.', {
    rule: name.optional().describe('Only findings of this rule.'),
    sessionId: name.optional().describe('Only findings in this session.'),
    offset: count.optional().describe('How many findings to skip.'),
    limit: count.max(10_000).optional().describe('The maximum number of findings. The default is 1,000.'),
  }).returns({
    total: count,
    findings: z.array(finding),
    problems: z.array(z.object({ rule: z.string(), message: z.string() })),
    unchecked,
  }),
  rules: procedure('Lists the rules: the built-in ones, and those in the folder `rules` of Stemma’s data folder.').returns({
    folder: z.string().nullable(),
    rules: z.array(findingRule),
    unchecked,
  }),
};
