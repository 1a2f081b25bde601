import { type ContextId, defined, picked, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type InputOf, type OutputOf, type TicketStatus, ticketStatuses } from '../contract/index.js';
import { waitingCount } from './events.js';
import { fromStored, isReady, readTicket, type StoredTicket } from './rows.js';

const defaultLimit = 500;

const maxResolvedLength = 200;

const conditions = {
  type: 't.type = :type',
  assignee: 't.assignee = :assignee',
  label: 'EXISTS (SELECT 1 FROM json_each(t.labels) WHERE value = :label)',
  parent: 't.parent = :parent',
  ids: 't.ticketId IN (SELECT value FROM json_each(:ids))',
  ready: `${isReady} = :ready`,
  text: 'instr(lower(t.title || char(10) || t.body || char(10) || t.ticketId), lower(:text)) > 0',
} as const;

const selectRow = /* sql */ `SELECT t.*, p.ticketId AS parentId, ${isReady} AS ready,
    (SELECT COUNT(*) FROM ticket f WHERE f.parent = t.no AND f.type = 'review_finding') AS findings,
    (SELECT COUNT(*) FROM ticket f WHERE f.parent = t.no AND f.type = 'review_finding' AND f.status <> 'closed') AS openFindings
  FROM ticket t LEFT JOIN ticket p ON p.no = t.parent`;

/** Lists tickets for a list or board, with two queries in total. @throws NOT_FOUND for an unknown parent. */
export function overview(chain: ReadChain, filter: InputOf<'ticket.overview'>): OutputOf<'ticket.overview'> {
  const given = {
    project: chain.project,
    ...defined(picked(filter, 'type', 'assignee', 'label')),
    ...(filter.parent !== undefined && { parent: readTicket(chain, filter.parent).no }),
    ...(filter.ids !== undefined && { ids: JSON.stringify(filter.ids) }),
    ...(filter.ready !== undefined && { ready: Number(filter.ready) }),
    ...(filter.text?.trim() && { text: filter.text.trim() }),
  };
  const fits = ['t.project = :project', ...Object.entries(conditions).flatMap(([name, sql]) => (name in given ? sql : []))].join(' AND ');
  const counted = new Map(chain.db.rows<[TicketStatus, number]>(`SELECT t.status, COUNT(*) FROM ticket t WHERE ${fits} GROUP BY t.status`, given));
  const counts = Object.fromEntries(ticketStatuses.map((status) => [status, counted.get(status) ?? 0])) as Record<TicketStatus, number>;
  const order = filter.parent === undefined ? 't.updatedAt DESC, t.no DESC' : 't.no';
  const rows = chain.db.all<StoredTicket & { parentId: string | null; ready: number; findings: number; openFindings: number; updatedAt: number }>(
    `${selectRow} WHERE ${fits}${filter.status === undefined ? '' : ' AND t.status = :status'} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
    { ...given, status: filter.status ?? null, limit: filter.limit ?? defaultLimit, offset: filter.offset ?? 0 },
  );
  return {
    total: filter.status === undefined ? Object.values(counts).reduce((sum, n) => sum + n, 0) : counts[filter.status],
    rows: rows.map((stored) => {
      const row = fromStored(stored);
      return {
        ...picked(row, 'ticketId', 'title', 'type', 'status', 'assignee'),
        reviewers: [...row.reviewers],
        labels: [...row.labels],
        parent: stored.parentId,
        ...picked(row, 'contextId', 'contextFound', 'threadId'),
        ready: stored.ready === 1,
        findings: { open: stored.openFindings, total: stored.findings },
        resolved: row.resolution?.slice(0, maxResolvedLength) ?? null,
        createdAt: toTimestamp(row.createdAt),
        updatedAt: toTimestamp(stored.updatedAt),
      };
    }),
    counts,
  };
}

/** All values of the project that filters can use. Tickets repeat few of them, so each combination is read once. */
export function facets(chain: ReadChain): OutputOf<'ticket.facets'> {
  const kinds = chain.db.all<{ type: string; assignee: string | null; labels: string; reviewers: string; n: number }>(
    'SELECT type, assignee, labels, reviewers, COUNT(*) AS n FROM ticket WHERE +project = ? GROUP BY 1, 2, 3, 4',
    chain.project,
  );
  const authors = chain.db.column<string>('SELECT DISTINCT by FROM ticketVersion WHERE project = ? AND by IS NOT NULL', chain.project);
  const assignees = kinds.flatMap(({ assignee }) => assignee ?? []);
  const listed = (column: 'labels' | 'reviewers'): unknown[] => [...new Set(kinds.map((kind) => kind[column]))].flatMap((text) => JSON.parse(text));
  const reviewers = (listed('reviewers') as readonly { readonly name: string }[]).map(({ name }) => name);
  return {
    total: kinds.reduce((sum, { n }) => sum + n, 0),
    waiting: waitingCount(chain),
    types: distinct(kinds.map(({ type }) => type)),
    assignees: distinct(assignees),
    labels: distinct(listed('labels') as string[]),
    people: distinct([...assignees, ...reviewers, ...authors]),
  };
}

/** The different texts, in the order of SQLite: that of their bytes. */
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

export type TicketAtContext = OutputOf<'ticket.ofContexts'>[number];

/** The tickets that were written with, or discussed in, each of these commits. */
export function ticketsOfContexts(chain: ReadChain, { ids }: { readonly ids: readonly ContextId[] }): TicketAtContext[] {
  return chain.db
    .all<Omit<TicketAtContext, 'at'> & { at: number }>(
      `WITH asked AS MATERIALIZED (SELECT id, threadId, createdAt FROM commits WHERE project = :project AND id IN (SELECT value FROM json_each(:ids)))
       SELECT a.id AS contextId, t.ticketId, t.title, t.type, t.status, 'written' AS how, MIN(v.at) AS at
         FROM asked a JOIN ticketVersion v ON v.contextId = a.id AND v.project = :project JOIN ticket t ON t.no = v.ticket GROUP BY t.no, a.id
       UNION ALL
       SELECT a.id, t.ticketId, t.title, t.type, t.status, 'discussed', a.createdAt
         FROM asked a JOIN ticket t ON t.threadId = a.threadId AND t.project = :project
        ORDER BY 7`,
      { project: chain.project, ids: JSON.stringify(ids) },
    )
    .map((row) => ({ ...row, at: toTimestamp(row.at) }));
}
