import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Ticket, ticketStatuses } from '../../../src/core/contract/index.js';
import { createTicket, discuss, events, facets, giveVerdict, moveTicket, overview, ticketOf } from '../../../src/core/tickets/index.js';
import { commit, openEngine } from '../engine.js';
import { chance, prose } from '../material.js';
import { medians, type Part, plain, type Row, type Run } from '../measure.js';

const shownInColumn = 100;
const shownInInbox = 100;

/** Many tickets, every tenth with a review, two findings and a thread, and the queries of the window. */
function ticketsOfATeam(folder: string, { quick }: Run): Row[] {
  const many = quick ? 1_000 : 10_000;
  const project = openEngine(join(mkdtempSync(join(folder, 'tickets-')), 'project'));
  const { chain } = project;
  const next = chance(17);
  const understood = commit(chain, null, '{"type":"user","uuid":"u1","message":{"role":"user","content":"Review it"}}\n');
  let reviewed: Ticket | undefined;
  for (let at = 0; at < many; at += 500)
    chain.db.transaction(() => {
      for (let n = at; n < at + 500; n++) {
        const made = createTicket(chain, {
          title: prose(next, 50),
          body: prose(next, 600),
          type: n % 3 ? 'task' : 'bug',
          labels: [`area-${n % 20}`],
          by: `@pm-${n % 5}`,
          contextId: understood,
        });
        const { ticketId } = made;
        if (n % 10 < 4) moveTicket(chain, { ticketId, to: 'in_progress', assignee: `@author-${n % 30}` });
        if (n % 10 >= 2) continue;
        moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev', '@second'] });
        if (n % 10 > 0) continue;
        const find = { type: 'review_finding', parent: ticketId, by: '@rev', contextId: understood };
        const found = createTicket(chain, { ...find, title: prose(next, 40) });
        createTicket(chain, { ...find, title: prose(next, 40) });
        giveVerdict(chain, { ticketId, reviewer: '@rev', verdict: 'changes_requested' });
        if (n % 100 === 0) discuss(chain, { ticketId: found.ticketId, text: 'What do you mean?', principal: '@author' });
        reviewed = made;
      }
    });
  const page = reviewed?.ticketId ?? '';
  const board = () => ticketStatuses.map((status) => overview(chain, { status, limit: shownInColumn }).rows.length).reduce((sum, n) => sum + n, 0);
  if (overview(chain, { limit: 1 }).total !== many * 1.2) throw new Error('tickets are missing');
  if (events(chain, { state: 'waiting', newestFirst: true, limit: shownInInbox }).length !== shownInInbox) throw new Error('starts are missing');
  const ms = medians(
    {
      board: plain(board),
      found: plain(() => overview(chain, { text: 'retry', limit: shownInColumn })),
      inbox: plain(() => events(chain, { state: ['waiting', 'taken'], newestFirst: true, limit: shownInInbox })),
      facets: plain(() => facets(chain)),
      page: plain(() => [ticketOf(chain, page), overview(chain, { parent: page }), events(chain, { ticketId: page })]),
      read: plain(() => chain.db.all('SELECT * FROM ticket')),
    },
    9,
  );
  project.close();
  return [
    {
      id: 'B2',
      what: `board, inbox and filters of ${(many * 1.2).toLocaleString('en')} tickets over reading their rows`,
      ratio: (ms.board + ms.inbox + ms.facets) / ms.read,
      must: 4,
      stretch: 2,
      better: 'less',
      note: 'the window reads these whenever a ticket was changed',
      figures: { boardMs: ms.board, inboxMs: ms.inbox, facetsMs: ms.facets, filteredMs: ms.found, pageMs: ms.page, rowsMs: ms.read },
    },
  ];
}

export const ticketParts: readonly Part[] = [{ rows: ['B2'], run: ticketsOfATeam }];
