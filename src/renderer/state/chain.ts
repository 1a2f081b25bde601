import { useEffect, useMemo } from 'react';
import type { ContextId, GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { useProject } from './project';
import { createRanges, type Ranges, useRanges } from './ranges';

/** One page of commits: about what four screens show. */
const chainPage = 400;

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

/** Asks for the next page of a chain that is short enough to be read in full. */
export function readOn(rows: Ranges<GraphRow>): void {
  const total = rows.total();
  if (total !== undefined && total > wholeChainLimit) return;
  let known = 0;
  while (total !== undefined && known < total && rows.at(known)) known += 1;
  rows.need(0, known + 1);
}

export interface Started {
  readonly commit: ContextId;
  readonly toolCallId: string;
}

/** Subagents of the rows that are there: by the call that started one the end of its chain, and by its first commit the call. */
export function subagentsOf(rows: Ranges<GraphRow>): {
  readonly byCall: ReadonlyMap<string, ContextId>;
  readonly byCommit: ReadonlyMap<ContextId, Started>;
} {
  const byCall = new Map<string, ContextId>();
  const byCommit = new Map<ContextId, Started>();
  // Newest first: the first child that is met is the one that leads to the newest end.
  const newestChild = new Map<ContextId, ContextId>();
  for (let n = 0; n < (rows.total() ?? 0); n++) {
    const row = rows.at(n);
    if (!row) continue;
    const { id, parent } = row.commit;
    if (parent && !newestChild.has(parent)) newestChild.set(parent, id);
    if (!row.startedBy) continue;
    byCommit.set(id, row.startedBy);
    let end = id;
    for (let next = newestChild.get(end); next; next = newestChild.get(end)) end = next;
    byCall.set(row.startedBy.toolCallId, end);
  }
  return { byCall, byCommit };
}

/** The same for a project, read in the background. */
export function useSubagents(project: string, session: string | undefined): ReturnType<typeof subagentsOf> {
  const revision = useProject((state) => state.revision);
  const rows = useRanges(chainOf(project, session, revision));
  const version = rows.version();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives asks for the next
  useEffect(() => readOn(rows), [rows, version]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what `rows` holds changes with its version
  return useMemo(() => subagentsOf(rows), [rows, version]);
}
