import type { ContextId, GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { createRanges, type Ranges } from './ranges';

/** One page of commits: about what four screens show. */
export const chainPage = 400;

/** Chains up to this length are read in full in the background, so that they can be folded, filtered and drawn as a minimap. */
export const wholeChainLimit = 20_000;

let current: { key: string; rows: Ranges<GraphRow> } | undefined;

/** The rows of the project's graph, newest first. A new revision of the project starts over. */
export function chainOf(project: string, session: string | undefined, revision: number): Ranges<GraphRow> {
  const key = `${project}\n${session ?? ''}\n${revision}`;
  if (current?.key !== key) {
    const filter = session ? { sessionId: session } : undefined;
    const rows = createRanges<GraphRow>(chainPage, async (offset, limit) => {
      const { total, rows: items } = await api.context.graph({ offset, limit, ...(filter && { filter }) });
      return { total, items };
    });
    current = { key, rows };
  }
  return current.rows;
}

/** Where the loaded rows hold the commit, by its number in the chain. */
export function indexOfCommit(rows: Ranges<GraphRow>, id: ContextId): number | undefined {
  for (let index = 0; index < (rows.total() ?? 0); index++) if (rows.at(index)?.commit.id === id) return index;
  return undefined;
}
