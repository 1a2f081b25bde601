import { type graph, intactColumn, type ReadChain, type WriteChain } from '../chain/index.js';
import { countedGraph, type UnstoredWindows, unstoredWindows } from '../usage/index.js';
import { mainTitles } from './list.js';
import { stateNumber } from './stored.js';

type Query = Parameters<typeof graph>[1];
type Page = ReturnType<typeof graph>;

/** The graph of commits with the counts of the providers, in which a branch has the title that its session has everywhere. */
export const titledGraph = (chain: ReadChain, query: Query, unstored: UnstoredWindows): Page =>
  storedPage(chain, query) ?? readGraph(chain, query, unstored);

function readGraph(chain: ReadChain, query: Query, unstored: UnstoredWindows): Page {
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
  if (!pageIsDue(chain)) return;
  const data = Buffer.from(JSON.stringify(readGraph(chain, firstPage, unstoredWindows)));
  chain.db.run('REPLACE INTO graphGroup (project, name, state, data) VALUES (?, ?, ?, ?)', chain.project, name, pageState(chain), data);
}

const pageRows = 200;
/** The query for the stored rows. */
const firstPage: Query = { offset: 0, limit: pageRows };
/** Increase this number when a row of the graph changes its meaning. */
const pageVersion = 1;
/** The name of the row in `graphGroup`. Groups have names of JSON. */
const name = 'page';

/** A text that changes with everything that the rows are read from. */
const pageState = (chain: ReadChain): string =>
  `${pageVersion} ${stateNumber(
    chain,
    `(SELECT COUNT(*) FROM started WHERE project = :project) || ' ' ||
     (SELECT IFNULL(group_concat(name || value), '') FROM derivedProgress WHERE project = :project AND name IN ('usage', 'usage version'))`,
  )}`;

/** The stored answer to a query for the newest rows, if it is current and none of its commits has been damaged since. */
function storedPage(chain: ReadChain, { offset, limit, together, filter = {} }: Query): Page | undefined {
  const isAsked = offset === 0 && limit <= pageRows && !together && Object.values(filter).every((value) => value === undefined);
  if (!isAsked || chain.artifacts.copies.expects()) return undefined;
  const data = storedValue<Uint8Array>(chain, 'data');
  if (!data) return undefined;
  const { total, rows } = JSON.parse(Buffer.from(data).toString()) as Page;
  const asked = rows.slice(0, limit);
  const intact = chain.db.value<number>(
    `SELECT COUNT(*) FROM (SELECT ${intactColumn} FROM commits c WHERE project = ? AND id IN (SELECT value FROM json_each(?))) WHERE intact`,
    [chain.project, JSON.stringify(asked.map(({ commit }) => commit.id))],
  );
  return intact === asked.length ? { total, rows: asked } : undefined;
}

/** A value from the row that stores the newest rows, if they have not changed since. `1` only asks whether it is there. */
const storedValue = <Value>(chain: ReadChain, wanted: 'data' | '1'): Value | undefined =>
  chain.db.value<Value>(`SELECT ${wanted} FROM graphGroup WHERE project = ? AND name = ? AND state = ?`, chain.project, name, pageState(chain));

/** Whether the newest rows have changed since they were stored. Never where contents come from copies elsewhere, since they come and go. */
export const pageIsDue = (chain: ReadChain): boolean => !chain.artifacts.copies.expects() && storedValue(chain, '1') === undefined;
