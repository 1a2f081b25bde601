import { badRequest, parseInstant, parseJson, picked } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf, OutputOf, Ticket } from '../contract/index.js';
import { type ForeignReview, type ForeignTicket, fromGitHub, fromMarkdown } from './foreign.js';
import { type Occasion, understoodBy } from './rows.js';
import { createTicket, finding, ticketOf } from './tickets.js';
import { giveVerdict, moveTicket } from './transition.js';

/**
 * Imports tickets from GitHub's JSON (issues, pull requests, reviews, review comments) or from a Markdown task list. A task
 * list has no times, so `at` or the current time is used. Each ticket gets the commit that was current at its time, marked
 * as found. Tickets that were imported before do not change.
 * @throws BAD_REQUEST if the text is neither.
 */
export function importTickets(chain: WriteChain, input: InputOf<'ticket.import'>): OutputOf<'ticket.import'> {
  const json = input.kind === 'markdown' ? undefined : parseJson(input.text);
  const found = input.kind === 'markdown' || (input.kind === undefined && json === undefined) ? fromMarkdown(input.text) : fromGitHub(json);
  if (!found.tickets.length)
    throw badRequest('text', 'The text contains no issue, review or task. Give JSON of GitHub issues, or a Markdown list with [ ] and [x].');
  const written = parseInstant(input.at ?? '') ?? chain.clock();
  return chain.db.transaction(() => {
    const known = knownOrigins(chain);
    const created: { foreign: ForeignTicket; ticketId: string }[] = [];
    for (const foreign of found.tickets) {
      if (known.has(foreign.origin)) continue;
      const ticket = bring(chain, foreign, foreign.under === undefined ? undefined : known.get(foreign.under), written);
      known.set(foreign.origin, ticket.ticketId);
      created.push({ foreign, ticketId: ticket.ticketId });
    }
    for (const { foreign, ticketId } of created) review(chain, foreign, ticketId, found.reviews, written);
    // Close children first, because a closed ticket has no open findings.
    const over = new Set(found.tickets.flatMap(({ closed, origin }) => (closed ? origin : [])));
    const isOver = ({ closed, type, under = '' }: ForeignTicket): boolean =>
      closed || (type === finding && (over.has(under) || isClosed(chain, known.get(under))));
    for (const { foreign, ticketId } of created.toReversed()) if (isOver(foreign)) close(chain, foreign, ticketId, written);
    return { created: created.map(({ ticketId }) => ticketId), known: found.tickets.length - created.length };
  });
}

const originLabel = 'from:';

const knownOrigins = (chain: ReadChain): Map<string, string> =>
  new Map(
    chain.db
      .all<{ label: string; ticketId: string }>(
        'SELECT l.value AS label, t.ticketId FROM ticket t, json_each(t.labels) l WHERE t.project = ? AND l.value >= ? AND l.value < ?',
        [chain.project, originLabel, `${originLabel.slice(0, -1)};`],
      )
      .map(({ label, ticketId }) => [label.slice(originLabel.length), ticketId]),
  );

function bring(chain: WriteChain, foreign: ForeignTicket, parent: string | undefined, written: number): Ticket {
  return createTicket(chain, {
    ...picked(foreign, 'title', 'body', 'assignee'),
    type: parent === undefined && foreign.type === finding ? 'review' : foreign.type,
    labels: [...foreign.labels, `${originLabel}${foreign.origin}`],
    parent,
    ...then(chain, foreign.author, foreign.at ?? written),
  });
}

/** A pull request with reviewers or reviews is in review, with their verdicts. */
function review(chain: WriteChain, foreign: ForeignTicket, ticketId: string, all: readonly ForeignReview[], written: number): void {
  const reviews = all
    .filter((each) => each.under === foreign.origin && each.reviewer !== foreign.author)
    .toSorted((a, b) => (a.at ?? written) - (b.at ?? written));
  const reviewers = [...new Set([...reviews.map((each) => each.reviewer), ...foreign.awaited])];
  if (foreign.type !== 'review' || reviewers.length === 0) return;
  moveTicket(chain, { ticketId, to: 'review', reviewers, ...then(chain, foreign.author, foreign.at ?? written) });
  for (const { reviewer, verdict, words, at } of reviews)
    giveVerdict(chain, { ...then(chain, reviewer, at ?? written), ticketId, reviewer, verdict, reason: words });
}

const isClosed = (chain: ReadChain, ticketId: string | undefined): boolean => ticketId !== undefined && ticketOf(chain, ticketId).status === 'closed';

function close(chain: WriteChain, foreign: ForeignTicket, ticketId: string, written: number): void {
  const isFinding = ticketOf(chain, ticketId).type === finding;
  moveTicket(chain, {
    ticketId,
    to: 'closed',
    reason: 'closed in the other system',
    ...(isFinding && { resolution: 'Closed in the other system' }),
    ...then(chain, undefined, foreign.closedAt ?? foreign.at ?? written),
  });
}

/** The author, time and context of an imported write: the author's newest commit then, else the project's, else none. */
function then(chain: ReadChain, by: string | undefined, at: number): Occasion {
  const own = by === undefined ? null : understoodBy(chain, by, at);
  const contextId = own ?? newestAt(chain, at);
  return { by, at, ...(contextId !== undefined && { contextId, isFound: true }) };
}

const newestAt = (chain: ReadChain, at: number): string | undefined =>
  chain.db.value<string>('SELECT id FROM commits WHERE +project = ? AND createdAt <= ? ORDER BY createdAt DESC, seq DESC LIMIT 1', chain.project, at);
