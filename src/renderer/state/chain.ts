import { useEffect, useMemo } from 'react';
import { create } from 'zustand';
import type { ContextId, GraphMap, GraphRow, RowFacts } from '../../core/contract/index.js';
import { api } from '../client';
import { useNavigation } from './navigation';
import { useProject } from './project';
import { useProjectQuery } from './query';
import { createRanges, type Ranges, useRanges } from './ranges';

/** The number of commits in a page: about three screens. The pages of a short chain that a screen does not wait for come four at a time. */
const chainPage = 100;
const pagesTogether = 4;

/** Chains up to this length are loaded completely in the background. Longer ones are folded, filtered and drawn from their map. */
export const wholeChainLimit = 20_000;

let current: { readonly key: string; revision: number; readonly rows: Ranges<GraphRow> } | undefined;

/** The rows of the project's graph, newest first. A new revision of the project reloads them; the old rows stay until then. */
export function chainOf(project: string, session: string | undefined, revision: number): Ranges<GraphRow> {
  const key = `${project}\n${session ?? ''}`;
  if (current?.key !== key) {
    const filter = session ? { sessionId: session } : undefined;
    const rows = createRanges<GraphRow>(
      chainPage,
      (offset, limit) => api.context.graph({ offset, limit, together: true, ...(filter && { filter }) }),
      pagesTogether,
    );
    current = { key, revision, rows };
  } else if (current.revision !== revision) {
    current.revision = revision;
    current.rows.renew();
  }
  return current.rows;
}

/** The rows of a chain. Those of a short one are loaded in the background. `version` changes whenever they do. */
export function useChain(project: string, session: string | undefined): { readonly rows: Ranges<GraphRow>; readonly version: number } {
  const revision = useProject((state) => state.revision);
  const rows = useRanges(chainOf(project, session, revision));
  const version = rows.version();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives requests the next one
  useEffect(() => readOn(rows), [rows, version]);
  return { rows, version };
}

/** Loads the next pages of a chain that is short enough to be loaded completely. */
function readOn(rows: Ranges<GraphRow>): void {
  const total = rows.total();
  if (total !== undefined && total > wholeChainLimit) return;
  let known = 0;
  while (total !== undefined && known < total && rows.at(known)) known += 1;
  rows.need(0, known + (known > 0 ? pagesTogether * chainPage : 1));
}

/** Facts about the rows of a chain, and those that contain the words. Does not ask the engine if `words` is null. */
export function useChainMap(project: string, session: string | undefined, words: string | null): (GraphMap & { readonly words: string }) | undefined {
  const subject = `${project} ${session ?? ''}`;
  return useProjectQuery(subject, words === null ? null : `${project} map ${session ?? ''} ${words}`, async (signal) => {
    const asked = { together: true, ...(session && { filter: { sessionId: session } }), ...(words && { text: words }) };
    return { ...(await api.context.graphMap(asked, { signal })), words: words ?? '' };
  }).data;
}

export interface Started {
  readonly commit: ContextId;
  readonly toolCallId: string;
}

/** The name of a commit in which an agent continued by itself. */
export const continuedName = 'Continued after the compaction';

/** Facts about commits from the loaded rows, for views that show commits without the chain. */
export interface ChainFacts {
  /** The newest commit of a subagent, by the id of the tool call that started it. */
  readonly subagentOfCall: ReadonlyMap<string, ContextId>;
  /** The tool call that started a subagent, by the subagent's first commit. */
  readonly callOfSubagent: ReadonlyMap<ContextId, Started>;
  readonly summaries: ReadonlyMap<ContextId, string>;
  /** The first commits of branches that were made in Stemma. */
  readonly forks: ReadonlySet<ContextId>;
  /** These first commits, newest first, by the commit that they continue. */
  readonly forksAfter: ReadonlyMap<ContextId, readonly ContextId[]>;
}

function gatherFacts(rows: Ranges<GraphRow>): ChainFacts {
  const subagentOfCall = new Map<string, ContextId>();
  const callOfSubagent = new Map<ContextId, Started>();
  const summaries = new Map<ContextId, string>();
  const forks = new Set<ContextId>();
  const forksAfter = new Map<ContextId, ContextId[]>();
  // Rows are sorted newest first, so the first child found leads to the newest tip.
  const newestChild = new Map<ContextId, ContextId>();
  for (let n = 0; n < (rows.total() ?? 0); n++) {
    const row = rows.at(n);
    if (!row) continue;
    const { id, summary } = row.commit;
    // An answer to an edited prompt has the row of their turn, which stands below the parent of the fork.
    const parent = row.fork ? row.fork.parent : row.commit.parent;
    const title = row.continues ? continuedName : (row.fork?.title ?? summary);
    if (title) summaries.set(id, title);
    if (row.forked) forks.add(id);
    if (row.fork) forks.add(row.fork.commit);
    if (row.fork?.title) summaries.set(row.fork.commit, row.fork.title);
    if (row.forked && parent) forksAfter.set(parent, [...(forksAfter.get(parent) ?? []), id]);
    if (parent && !newestChild.has(parent)) newestChild.set(parent, id);
    if (!row.startedBy) continue;
    callOfSubagent.set(id, row.startedBy);
    let end = id;
    for (let next = newestChild.get(end); next; next = newestChild.get(end)) end = next;
    subagentOfCall.set(row.startedBy.toolCallId, end);
  }
  return { subagentOfCall, callOfSubagent, summaries, forks, forksAfter };
}

/** The chain facts of the chosen session of a project, or of all sessions. */
export function useChainFacts(project: string): ChainFacts {
  const session = useNavigation(({ route }) => route.session);
  const { rows, version } = useChain(project, session);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content of `rows` changes with its version
  return useMemo(() => gatherFacts(rows), [rows, version]);
}

/** The loaded facts of commits. Commits never change, so their facts stay valid. */
const knownFacts = new Map<string, RowFacts>();
/** Commits whose facts are loading, so that new rows do not request them again. */
const askedFacts = new Set<string>();
const useKnownFacts = create(() => ({ count: 0 }));
const none: ReadonlyMap<ContextId, RowFacts> = new Map();

const factsName = (project: string, id: ContextId): string => `${project}\n${id}`;

async function askFacts(project: string, ids: readonly ContextId[]): Promise<void> {
  const missing = ids.filter((id) => !knownFacts.has(factsName(project, id)) && !askedFacts.has(factsName(project, id)));
  if (missing.length === 0) return;
  for (const id of missing) askedFacts.add(factsName(project, id));
  const loaded = await api.turn.facts({ ids: missing }).catch(() => []);
  for (const facts of loaded) knownFacts.set(factsName(project, facts.id), facts);
  for (const id of missing) askedFacts.delete(factsName(project, id));
  useKnownFacts.setState({ count: knownFacts.size });
}

/** Duration, tools and files of commits, for the rows in view. */
export function useRowFacts(project: string, ids: readonly ContextId[]): ReadonlyMap<ContextId, RowFacts> {
  const known = useKnownFacts(({ count }) => count);
  const names = ids.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` stands for the ids
  useEffect(() => void askFacts(project, ids), [project, names]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` stands for the ids, `known` for what arrived
  return useMemo(() => {
    const all = ids.flatMap((id) => {
      const facts = knownFacts.get(factsName(project, id));
      return facts ? [[id, facts] as const] : [];
    });
    return all.length ? new Map(all) : none;
  }, [project, names, known]);
}
