import { dayAfter, lengthOf, type Range } from './ranges';
import { type ChosenFacets, facets, type ShownGrouping } from './slices';

/** A text as a literal of SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The turns of forks that were made in Stemma, with their cost. */
export const forksSql = 'SELECT session_id, substr(at, 1, 10), calls, cost, turn_id FROM turns WHERE is_fork ORDER BY at DESC';

export const compactionsSql = `SELECT session_id, substr(committed_at, 1, 10), commit_id FROM entries
WHERE commit_type = 'compaction' AND entry_index = 0 ORDER BY committed_at DESC`;

/** The days up to which SQLite finds calls by their times faster than it passes those of other days. */
const fewDays = 7;

/** The days of a range, as a condition on a view of calls. */
const onDays = (range: Range): string => {
  const { from, to } = range;
  if (lengthOf(range) > fewDays) return `at >= ${quoted(from)} AND at < ${quoted(`${to}~`)}`;
  return `at_ms >= unixepoch(${quoted(from)}) * 1000 AND at_ms < unixepoch(${quoted(dayAfter(to, 1))}) * 1000`;
};

/** The conditions of a selection on a view with a session and a model. */
function conditions(days: string, chosen: ChosenFacets, more: readonly string[]): string {
  const chosenIn = facets.flatMap((facet) => {
    const values = chosen[facet] ?? [];
    if (values.length === 0) return [];
    const listed = `ifnull(${facet}, '') IN (${values.map(quoted).join(', ')})`;
    return [facet === 'agent' || facet === 'model' ? listed : `session_id IN (SELECT session_id FROM sessions WHERE ${listed})`];
  });
  return [days, ...chosenIn, ...more].join('\n  AND ');
}

/** The calls to models of a selection, the most expensive first. */
export const callsSql = (range: Range, chosen: ChosenFacets, more: readonly string[] = []): string =>
  `SELECT session_id, commit_id, at, model, cost, window_tokens, cache_read_tokens, output_tokens, miss_cause, lost_cost, wait_ms
FROM calls
WHERE ${conditions(onDays(range), chosen, more)}
ORDER BY cost DESC`;

/** The tool calls of a selection, failed ones first. */
export const toolCallsSql = (range: Range, chosen: ChosenFacets, more: readonly string[] = []): string =>
  `SELECT session_id, commit_id, entry_key, at, name, path, command, is_error, duration_ms
FROM tool_calls
WHERE ${conditions(onDays(range), chosen, more)}
ORDER BY is_error DESC, at_ms DESC`;

/** The sessions with a call of a selection, or with a tool call of it, from the sums by day. */
const sessionsSql = (views: readonly ('costs' | 'tools')[], { from, to }: Range, chosen: ChosenFacets, more: readonly string[]): string =>
  `SELECT session_id, title, agent, repository, branch, started_at, ended_at, turns, calls, errors, cost
FROM sessions
WHERE ${views.map((view) => `session_id IN (SELECT session_id FROM ${view} WHERE ${conditions(`day >= ${quoted(from)} AND day <= ${quoted(to)}`, chosen, more)})`).join('\n  OR ')}
ORDER BY ended_at DESC`;

/** What a number of the table consists of. */
export type ListedCalls = 'sessions' | 'calls' | 'misses' | 'errors' | 'unknown';

/** The statement that lists what a number consists of: of a row, or of a session in it, or of all rows. */
export function listSql(
  what: ListedCalls,
  { by, range, chosen }: { readonly by: ShownGrouping; readonly range: Range; readonly chosen: ChosenFacets },
  key?: string,
  session?: string,
): string {
  const facet = facets.find((one) => one === by);
  const days = by === 'day' && key !== undefined ? { from: key, to: key } : range;
  const values = facet && key !== undefined ? { ...chosen, [facet]: [key] } : chosen;
  const more = [
    ...(by === 'session' && key !== undefined ? [`ifnull(session_id, '') = ${quoted(key)}`] : []),
    ...(by === 'tool' && key !== undefined ? [`name = ${quoted(key)}`] : []),
    ...(session === undefined ? [] : [`session_id = ${quoted(session)}`]),
  ];
  const isTool = by === 'tool';
  if (what === 'sessions') return sessionsSql(isTool ? ['tools'] : ['costs', 'tools'], days, values, more);
  if (what === 'misses') return callsSql(days, values, [...more, 'cache_miss']);
  if (what === 'calls') return (isTool ? toolCallsSql : callsSql)(days, values, more);
  return toolCallsSql(days, values, [...more, what === 'errors' ? 'is_error' : 'is_error IS NULL']);
}
