import type { graph, ReadChain } from '../chain/index.js';
import { countedGraph, type UnstoredWindows } from '../usage/index.js';
import { mainTitles } from './list.js';

/** The graph of commits with the counts of the providers, in which a branch has the title that its session has everywhere. */
export function titledGraph(chain: ReadChain, query: Parameters<typeof graph>[1], unstored: UnstoredWindows): ReturnType<typeof graph> {
  const { rows, ...rest } = countedGraph(chain, query, unstored);
  const ends = rows.flatMap(({ commit, tipOf, forked }) => (tipOf !== undefined && !forked ? [commit.id] : []));
  const titles = mainTitles(chain, ends);
  return {
    ...rest,
    rows: rows.map((row) => (row.tipOf !== undefined && titles.has(row.commit.id) ? { ...row, tipOf: titles.get(row.commit.id) } : row)),
  };
}
