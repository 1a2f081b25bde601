import type { ContextId } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import type { Entry, RowFacts } from '../contract/index.js';
import { costsAt } from '../usage/index.js';
import { touchOf } from './files.js';
import { deltaEntries } from './turns.js';

/** What a list shows of commits beside their rows. It reads their content, so ask for those in view. */
export function rowFacts(chain: Chain, ids: readonly ContextId[]): RowFacts[] {
  const rows = ids.map((named) => commitOf(chain, named));
  const costs = costsAt(
    chain,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const own = row.type === 'delta' ? deltaEntries(chain, row) : [];
    const calls = own.filter(({ kind }) => kind === 'tool_call');
    return {
      id: row.id,
      ms: spanOf(own),
      tools: calls.length,
      files: filesOf(row.format, own, calls),
      model: modelOf(own),
      cost: costs.get(row.id) ?? null,
    };
  });
}

/** From the first to the last recorded time; null unless there are two. */
function spanOf(own: readonly Entry[]): number | null {
  const times = own.flatMap(({ at }) => (at === undefined ? [] : [Date.parse(at)]));
  return times.length < 2 ? null : Math.max(...times) - Math.min(...times);
}

function filesOf(format: string, own: readonly Entry[], calls: readonly Entry[]): number {
  const results = new Map(own.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId ? [[entry.toolCallId, entry] as const] : [])));
  const paths = calls.flatMap((call) => {
    const result = results.get(call.toolCallId ?? '');
    return (result && touchOf(format, call, result)?.path) ?? [];
  });
  return new Set(paths).size;
}

/** The last model that answered; null if none is recorded. */
const modelOf = (own: readonly Entry[]): string | null =>
  own.findLast(({ role, author }) => role === 'assistant' && author !== undefined && author !== '<synthetic>')?.author ?? null;
