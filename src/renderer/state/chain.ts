import { useEffect, useMemo } from 'react';
import type { ContextId, GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { useProject } from './project';
import { createRanges, type Ranges, useRanges } from './ranges';

/** One page of commits: about what four screens show. */
const chainPage = 400;

/** Chains up to this length are read in full in the background, so that they can be folded, filtered and drawn as a minimap. */
export const wholeChainLimit = 20_000;

let current: { readonly key: string; revision: number; readonly rows: Ranges<GraphRow> } | undefined;

/** The rows of the project's graph, newest first. With a new revision of the project they are read again, and stand until they are there. */
export function chainOf(project: string, session: string | undefined, revision: number): Ranges<GraphRow> {
  const key = `${project}\n${session ?? ''}`;
  if (current?.key !== key) {
    const filter = session ? { sessionId: session } : undefined;
    const rows = createRanges<GraphRow>(chainPage, async (offset, limit) => {
      const { total, rows: items } = await api.context.graph({ offset, limit, ...(filter && { filter }) });
      return { total, items };
    });
    current = { key, revision, rows };
  } else if (current.revision !== revision) {
    current.revision = revision;
    current.rows.renew();
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

/** What the rows that are there say of commits, for views that show commits but not the chain. */
export interface ChainFacts {
  /** By the call that started a subagent the end of its chain. */
  readonly subagentOfCall: ReadonlyMap<string, ContextId>;
  /** By a subagent's first commit the call that started it. */
  readonly callOfSubagent: ReadonlyMap<ContextId, Started>;
  readonly summaries: ReadonlyMap<ContextId, string>;
}

function factsOf(rows: Ranges<GraphRow>): ChainFacts {
  const subagentOfCall = new Map<string, ContextId>();
  const callOfSubagent = new Map<ContextId, Started>();
  const summaries = new Map<ContextId, string>();
  // Newest first: the first child that is met is the one that leads to the newest end.
  const newestChild = new Map<ContextId, ContextId>();
  for (let n = 0; n < (rows.total() ?? 0); n++) {
    const row = rows.at(n);
    if (!row) continue;
    const { id, parent, summary } = row.commit;
    if (summary) summaries.set(id, summary);
    if (parent && !newestChild.has(parent)) newestChild.set(parent, id);
    if (!row.startedBy) continue;
    callOfSubagent.set(id, row.startedBy);
    let end = id;
    for (let next = newestChild.get(end); next; next = newestChild.get(end)) end = next;
    subagentOfCall.set(row.startedBy.toolCallId, end);
  }
  return { subagentOfCall, callOfSubagent, summaries };
}

/** The same for a project, whose chain is read on in the background. */
export function useChainFacts(project: string, session: string | undefined): ChainFacts {
  const revision = useProject((state) => state.revision);
  const rows = useRanges(chainOf(project, session, revision));
  const version = rows.version();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives asks for the next
  useEffect(() => readOn(rows), [rows, version]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what `rows` holds changes with its version
  return useMemo(() => factsOf(rows), [rows, version]);
}
