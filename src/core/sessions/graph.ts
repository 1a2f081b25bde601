import type { graph, ReadChain, WriteChain } from '../chain/index.js';
import { countedGraph, type UnstoredWindows, unstoredWindows } from '../usage/index.js';
import { firstPage, pageIsDue, storedPage, storePage } from './first-page.js';
import { mainTitles } from './list.js';

/** The graph of commits with the counts of the providers, in which a branch has the title that its session has everywhere. */
export const titledGraph = (chain: ReadChain, query: Parameters<typeof graph>[1], unstored: UnstoredWindows): ReturnType<typeof graph> =>
  storedPage(chain, query) ?? readGraph(chain, query, unstored);

function readGraph(chain: ReadChain, query: Parameters<typeof graph>[1], unstored: UnstoredWindows): ReturnType<typeof graph> {
  const { rows, ...rest } = countedGraph(chain, query, unstored);
  const ends = rows.flatMap(({ commit, tipOf, forked }) => (tipOf !== undefined && !forked ? [commit.id] : []));
  const titles = mainTitles(chain, ends);
  return {
    ...rest,
    rows: rows.map((row) => (row.tipOf !== undefined && titles.has(row.commit.id) ? { ...row, tipOf: titles.get(row.commit.id) } : row)),
  };
}

/** Stores the first page of the graph, if it has changed. */
export function storeFirstPage(chain: WriteChain): void {
  if (pageIsDue(chain)) storePage(chain, readGraph(chain, firstPage, unstoredWindows));
}
