import { type ContextId, timestampOf } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import { type TicketRow, type TicketStatus, ticketStatuses } from '../contract/index.js';
import { fromStored, type Stored } from './rows.js';

export interface OverviewFilter {
  readonly status?: TicketStatus | undefined;
  readonly type?: string | undefined;
  readonly assignee?: string | undefined;
  readonly label?: string | undefined;
  readonly ready?: boolean | undefined;
  readonly text?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

export interface Overview {
  readonly total: number;
  readonly rows: TicketRow[];
  readonly counts: Record<TicketStatus, number>;
  readonly facets: { readonly types: string[]; readonly assignees: string[]; readonly labels: string[]; readonly people: string[] };
}

const usualLimit = 500;

const isReady = /* sql */ `(t.status = 'open' AND NOT EXISTS (
  SELECT 1 FROM ticketDependency d JOIN ticket o ON o.no = d.dependsOn WHERE d.ticket = t.no AND o.status <> 'closed'))`;

const fits = /* sql */ `t.project = :project
  AND (:type IS NULL OR t.type = :type)
  AND (:assignee IS NULL OR t.assignee = :assignee)
  AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(t.labels) WHERE value = :label))
  AND (:ready IS NULL OR ${isReady} = :ready)
  AND (:text IS NULL OR instr(lower(t.title || char(10) || t.body || char(10) || t.ticketId), lower(:text)) > 0)`;

const selectRow = /* sql */ `SELECT t.*, p.ticketId AS parentId, ${isReady} AS ready,
    (SELECT COUNT(*) FROM ticket f WHERE f.parent = t.no AND f.type = 'review_finding') AS findings,
    (SELECT COUNT(*) FROM ticket f WHERE f.parent = t.no AND f.type = 'review_finding' AND f.status <> 'closed') AS openFindings
  FROM ticket t LEFT JOIN ticket p ON p.no = t.parent`;

/** Tickets as a list or board shows them, the last changed first: one statement, whatever their number. */
export function overview(chain: Chain, filter: OverviewFilter): Overview {
  const given = {
    project: chain.project,
    type: filter.type ?? null,
    assignee: filter.assignee ?? null,
    label: filter.label ?? null,
    ready: filter.ready === undefined ? null : Number(filter.ready),
    text: filter.text?.trim() || null,
  };
  const counted = new Map(
    chain.db
      .all<{ status: TicketStatus; n: number }>(`SELECT t.status, COUNT(*) AS n FROM ticket t WHERE ${fits} GROUP BY t.status`, given)
      .map(({ status, n }) => [status, n]),
  );
  const counts = Object.fromEntries(ticketStatuses.map((status) => [status, counted.get(status) ?? 0])) as Record<TicketStatus, number>;
  const rows = chain.db.all<Stored & { parentId: string | null; ready: number; findings: number; openFindings: number; updatedAt: number }>(
    `${selectRow} WHERE ${fits} AND (:status IS NULL OR t.status = :status) ORDER BY t.updatedAt DESC, t.no DESC LIMIT :limit OFFSET :offset`,
    { ...given, status: filter.status ?? null, limit: filter.limit ?? usualLimit, offset: filter.offset ?? 0 },
  );
  return {
    total: filter.status === undefined ? Object.values(counts).reduce((sum, n) => sum + n, 0) : counts[filter.status],
    rows: rows.map((stored) => {
      const row = fromStored(stored);
      return {
        ticketId: row.ticketId,
        title: row.title,
        type: row.type,
        status: row.status,
        assignee: row.assignee,
        reviewers: [...row.reviewers],
        labels: [...row.labels],
        parent: stored.parentId,
        contextId: row.contextId,
        contextFound: row.contextFound,
        threadId: row.threadId,
        ready: stored.ready === 1,
        findings: { open: stored.openFindings, total: stored.findings },
        createdAt: timestampOf(row.createdAt),
        updatedAt: timestampOf(stored.updatedAt),
      };
    }),
    counts,
    facets: facetsOf(chain),
  };
}

function facetsOf(chain: Chain): Overview['facets'] {
  const values = (sql: string): string[] => chain.db.all<{ value: string }>(sql, { project: chain.project }).map(({ value }) => value);
  return {
    types: values('SELECT DISTINCT type AS value FROM ticket WHERE project = :project ORDER BY 1'),
    assignees: values('SELECT DISTINCT assignee AS value FROM ticket WHERE project = :project AND assignee IS NOT NULL ORDER BY 1'),
    labels: values('SELECT DISTINCT l.value FROM ticket t, json_each(t.labels) l WHERE t.project = :project ORDER BY 1'),
    people: values(
      `SELECT assignee AS value FROM ticket WHERE project = :project AND assignee IS NOT NULL
        UNION SELECT r.value ->> 'name' FROM ticket t, json_each(t.reviewers) r WHERE t.project = :project
        UNION SELECT by FROM ticketVersion WHERE project = :project AND by IS NOT NULL ORDER BY 1`,
    ),
  };
}

export interface TicketAtContext {
  readonly contextId: ContextId;
  readonly ticketId: string;
  readonly title: string;
  readonly type: string;
  readonly status: TicketStatus;
  readonly how: 'written' | 'discussed';
  readonly at: ReturnType<typeof timestampOf>;
}

/** Which tickets were written with, or discussed in, which commits of this project; of one commit where it is named. */
export function ticketsOfContexts(chain: Chain, { id }: { id?: ContextId | undefined } = {}): TicketAtContext[] {
  const context = id === undefined ? null : commitOf(chain, id).id;
  return chain.db
    .all<Omit<TicketAtContext, 'at'> & { at: number }>(
      `SELECT c.id AS contextId, t.ticketId, t.title, t.type, t.status, 'written' AS how, MIN(v.at) AS at
         FROM ticketVersion v JOIN ticket t ON t.no = v.ticket JOIN context c ON c.project = v.project AND c.id = v.contextId
        WHERE v.project = :project AND v.contextId IS NOT NULL AND (:context IS NULL OR v.contextId = :context) GROUP BY t.no, c.id
       UNION ALL
       SELECT c.id, t.ticketId, t.title, t.type, t.status, 'discussed', c.createdAt
         FROM ticket t JOIN context c ON c.threadId = t.threadId AND c.project = t.project
        WHERE t.project = :project AND t.threadId IS NOT NULL AND (:context IS NULL OR c.id = :context)
        ORDER BY 7`,
      { project: chain.project, context },
    )
    .map((row) => ({ ...row, at: timestampOf(row.at) }));
}
