import type { Range } from './ranges';
import { type Chosen, facets } from './sums';

/** A text as a literal of SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The turns of forks that were made in Stemma, with their cost. */
export const forksSql = 'SELECT session_id, substr(at, 1, 10), calls, cost, turn_id FROM turns WHERE is_fork ORDER BY at DESC';

/** The commits in which agents compacted. */
export const compactionsSql = `SELECT session_id, substr(committed_at, 1, 10), commit_id FROM entries
WHERE commit_type = 'compaction' AND entry_index = 0 ORDER BY committed_at DESC`;

/** The conditions of a selection on a view with a session, a model and a time. */
function conditions({ from, to }: Range, chosen: Chosen, more: readonly string[]): string {
  const columns = { agent: 'agent', model: 'model', repository: 'repository', person: 'person', branch: 'branch' } as const;
  const chosenIn = facets.flatMap((facet) => {
    const values = chosen[facet] ?? [];
    if (values.length === 0) return [];
    const column = columns[facet];
    const listed = `ifnull(${column}, '') IN (${values.map(quoted).join(', ')})`;
    return [facet === 'agent' || facet === 'model' ? listed : `session_id IN (SELECT session_id FROM sessions WHERE ${listed})`];
  });
  return [`at >= ${quoted(from)} AND at < ${quoted(`${to}~`)}`, ...chosenIn, ...more].join('\n  AND ');
}

/** The calls to models of a selection, the most expensive first. */
export const callsSql = (range: Range, chosen: Chosen, more: readonly string[] = []): string =>
  `SELECT session_id, commit_id, at, model, cost, window_tokens, cache_read_tokens, output_tokens, miss_cause, lost_cost, wait_ms
FROM calls
WHERE ${conditions(range, chosen, more)}
ORDER BY cost DESC`;

/** The tool calls of a selection, failed ones first. */
export const toolCallsSql = (range: Range, chosen: Chosen, more: readonly string[] = []): string =>
  `SELECT session_id, commit_id, entry_key, at, name, path, command, is_error, duration_ms
FROM tool_calls
WHERE ${conditions(range, chosen, more)}
ORDER BY is_error DESC, at DESC`;
