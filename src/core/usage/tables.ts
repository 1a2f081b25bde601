import { type ArtifactNo, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { readerOf } from '../formats/index.js';
import { readPending } from './backfill.js';
import { agentOf } from './facts.js';

/** How a column is stored. A time is a number of milliseconds since 1970. */
export type ColumnKind = 'text' | 'count' | 'number' | 'time' | 'yes-no';

/** Facts of one day, by columns of equal length. They hold names and counts, and no content. */
export interface FactPartition {
  readonly table: 'calls' | 'sessions' | 'tool_calls';
  /** The day in UTC, such as `2026-01-31`. */
  readonly date: string;
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind; readonly values: readonly (string | number | boolean | null)[] }[];
}

type Value = string | number | boolean | null;
type Names = readonly (readonly [name: string, kind: ColumnKind])[];

const dayMs = 86_400_000;
/** Rows that are read together: each group of days is one scan of the table. */
const rowsAtOnce = 500_000;

/** Every fact of a project, one partition after the other. A partition holds all facts of its day, so that writing it again replaces it. */
export function* factPartitions(chain: Chain): Generator<FactPartition> {
  readPending(chain);
  yield* callPartitions(chain);
  yield* sessionPartitions(chain);
  yield* toolPartitions(chain);
}

const callColumns: Names = [
  ['call', 'text'],
  ['session', 'text'],
  ['agent', 'text'],
  ['subagent', 'text'],
  ['model', 'text'],
  ['at', 'time'],
  ['asked_at', 'time'],
  ['ended_at', 'time'],
  ['input', 'count'],
  ['cache_read', 'count'],
  ['cache_write', 'count'],
  ['cache_write_1h', 'count'],
  ['output', 'count'],
  ['reasoning', 'count'],
  ['cost', 'number'],
  ['flaw', 'text'],
];

function* callPartitions({ db, project }: Chain): Generator<FactPartition> {
  const counts = db.all<{ day: number; rows: number }>(
    `SELECT at / ${dayMs} AS day, count(*) AS rows FROM usageCall WHERE project = ? GROUP BY 1 ORDER BY 1`,
    project,
  );
  for (const days of grouped(counts)) {
    const rows = db.all<Record<string, Value>>(
      `SELECT call, session, agent, subagent, model, at, askedAt AS asked_at, endedAt AS ended_at, input, cacheRead AS cache_read,
              cacheWrite AS cache_write, cacheWrite1h AS cache_write_1h, output, reasoning, cost, flaw
         FROM usageCall WHERE project = ? AND at >= ? AND at < ?`,
      project,
      (days[0]?.day ?? 0) * dayMs,
      ((days.at(-1)?.day ?? 0) + 1) * dayMs,
    );
    yield* partitioned('calls', callColumns, rows, ({ at }) => at as number);
  }
}

/** Groups of neighboring days, each with at most about `rowsAtOnce` rows. */
function* grouped<T extends { readonly rows: number }>(days: readonly T[]): Generator<T[]> {
  let group: T[] = [];
  let rows = 0;
  for (const day of days) {
    if (group.length > 0 && rows + day.rows > rowsAtOnce) {
      yield group;
      [group, rows] = [[], 0];
    }
    group.push(day);
    rows += day.rows;
  }
  if (group.length > 0) yield group;
}

const sessionColumns: Names = [
  ['session', 'text'],
  ['agent', 'text'],
  ['began_at', 'time'],
  ['last_at', 'time'],
  ['commits', 'count'],
  ['errors', 'count'],
  ['calls', 'count'],
  ['input', 'count'],
  ['cache_read', 'count'],
  ['cache_write', 'count'],
  ['output', 'count'],
  ['cost', 'number'],
];

function sessionPartitions({ db, project }: Chain): Generator<FactPartition> {
  const rows = db.all<Record<string, Value>>(
    `SELECT c.sessionId AS session, substr(c.template, 1, instr(c.template || '/', '/') - 1) AS agent, min(c.createdAt) AS began_at,
            max(c.createdAt) AS last_at, count(*) AS commits, sum(c.errors) AS errors, ifnull(u.calls, 0) AS calls, u.input, u.cacheRead AS cache_read,
            u.cacheWrite AS cache_write, u.output, u.cost
       FROM context c
       LEFT JOIN (SELECT session, sum(calls) AS calls, sum(input) AS input, sum(cacheRead) AS cacheRead, sum(cacheWrite) AS cacheWrite,
                         sum(output) AS output, sum(cost) AS cost FROM usageSum WHERE project = ? GROUP BY session) u ON u.session = c.sessionId
      WHERE c.project = ? AND c.sessionId IS NOT NULL GROUP BY c.sessionId`,
    project,
    project,
  );
  return partitioned('sessions', sessionColumns, rows, ({ began_at }) => began_at as number);
}

const toolColumns: Names = [
  ['session', 'text'],
  ['agent', 'text'],
  ['subagent', 'text'],
  ['commit', 'text'],
  ['call', 'text'],
  ['tool', 'text'],
  ['at', 'time'],
  ['argument_tokens', 'count'],
  ['is_error', 'yes-no'],
  ['result_tokens', 'count'],
];

interface Commit {
  readonly id: string;
  readonly session: string | null;
  readonly template: string;
  readonly format: string;
  readonly artifact: ArtifactNo;
  readonly createdAt: number;
}

function* toolPartitions({ db, project, artifacts }: Chain): Generator<FactPartition> {
  const counts = db.all<{ day: number; rows: number }>(
    `SELECT createdAt / ${dayMs} AS day, sum(entries) AS rows FROM context WHERE project = ? AND type = 'delta' GROUP BY 1 ORDER BY 1`,
    project,
  );
  for (const days of grouped(counts)) {
    const commits = db.all<Commit>(
      `SELECT id, sessionId AS session, template, format, artifact, createdAt FROM context
        WHERE project = ? AND type = 'delta' AND createdAt >= ? AND createdAt < ? ORDER BY seq`,
      project,
      (days[0]?.day ?? 0) * dayMs,
      ((days.at(-1)?.day ?? 0) + 1) * dayMs,
    );
    // A result may be in a later commit of the same group of days.
    const called = new Map<string, Record<string, Value>>();
    const rows: Record<string, Value>[] = [];
    for (const commit of commits) {
      const bytes = contentOf(artifacts, commit.artifact);
      const { entries } = bytes ? readerOf(commit.format).parse(bytes) : { entries: [] };
      for (const { kind, toolCallId = '', toolName, at, tokens, isError } of entries) {
        const id = `${commit.session} ${toolCallId}`;
        if (kind === 'tool_call') {
          const { session, id: name, createdAt } = commit;
          const time = at === undefined ? createdAt : Date.parse(at);
          const call = { session, ...agentOf(commit.template), commit: name, call: toolCallId, tool: toolName ?? null, at: time, day: createdAt };
          const row = { ...call, argument_tokens: tokens, is_error: null, result_tokens: null };
          called.set(id, row);
          rows.push(row);
        } else if (kind === 'tool_result') {
          const row = called.get(id);
          if (row) Object.assign(row, { is_error: isError === true, result_tokens: tokens });
        }
      }
    }
    yield* partitioned('tool_calls', toolColumns, rows, ({ day }) => day as number);
  }
}

/** The content of a commit; undefined for one that is damaged or expired. */
function contentOf(artifacts: Chain['artifacts'], no: ArtifactNo): Uint8Array | undefined {
  try {
    return artifacts.read(no);
  } catch (error) {
    if (error instanceof StemmaError && error.code !== 'UNAVAILABLE') return undefined;
    throw error;
  }
}

/** Rows as columns, one partition for each day. */
function* partitioned(
  table: FactPartition['table'],
  names: Names,
  rows: readonly Record<string, Value>[],
  timeOf: (row: Record<string, Value>) => number,
): Generator<FactPartition> {
  const days = Map.groupBy(rows, (row) => Math.floor(timeOf(row) / dayMs));
  for (const [day, inIt] of [...days].sort(([a], [b]) => a - b))
    yield {
      table,
      date: new Date(day * dayMs).toISOString().slice(0, 10),
      columns: names.map(([name, kind]) => ({ name, kind, values: inIt.map((row) => row[name] ?? null) })),
    };
}
