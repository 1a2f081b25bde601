import { badRequest, isObject, type Json, parseInstant, parseJson, stringAt } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Ticket } from '../contract/index.js';
import { createTicket, listTickets, moveTicket, type NewTicket, updateTicket } from './tickets.js';

/** A ticket as another system has it. */
interface Foreign {
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly author: string | undefined;
  readonly assignee: string | undefined;
  readonly closed: boolean;
  readonly at: number | undefined;
  /** What makes it the same ticket when it is brought in again. */
  readonly origin: string;
  /** The origin of the ticket that it stands under. */
  readonly under: string | undefined;
}

export interface ImportedTickets {
  readonly created: string[];
  readonly known: number;
}

/**
 * Brings in tickets from GitHub's JSON (issues, pull requests, their reviews and review comments) or from a Markdown
 * task list. Each is linked to the commit that was current when it was made. One that was brought in before stays as it is.
 * @throws BAD_REQUEST where the text is neither.
 */
export function importTickets(chain: Chain, text: string, kind?: 'github' | 'markdown'): ImportedTickets {
  const foreign = kind === 'markdown' || (kind === undefined && parseJson(text) === undefined) ? fromMarkdown(text) : fromGitHub(parseJson(text));
  if (!foreign.length)
    throw badRequest('text', 'there is no issue, review or task in the text: it is JSON of GitHub issues, or a list with [ ] and [x]');
  return chain.db.transaction(() => {
    const byOrigin = new Map(
      listTickets(chain, {}).flatMap((ticket) =>
        ticket.labels.filter((label) => label.startsWith(originLabel)).map((label) => [label.slice(originLabel.length), ticket.ticketId] as const),
      ),
    );
    const created: string[] = [];
    for (const each of foreign) {
      if (byOrigin.has(each.origin)) continue;
      const { ticketId } = bring(chain, each, each.under === undefined ? undefined : byOrigin.get(each.under));
      byOrigin.set(each.origin, ticketId);
      created.push(ticketId);
    }
    return { created, known: foreign.length - created.length };
  });
}

const originLabel = 'from:';

function bring(chain: Chain, foreign: Foreign, parent: string | undefined): Ticket {
  const contextId = currentAt(chain, foreign.at);
  const input: NewTicket = {
    title: foreign.title,
    body: foreign.body,
    type: parent === undefined && foreign.type === 'review_finding' ? 'review' : foreign.type,
    labels: [...foreign.labels, `${originLabel}${foreign.origin}`],
    parent,
    assignee: foreign.assignee,
    by: foreign.author,
    at: foreign.at,
    ...(contextId !== undefined && { contextId }),
  };
  const made = createTicket(chain, input);
  if (!foreign.closed) return made;
  if (made.type === 'review_finding') updateTicket(chain, { ticketId: made.ticketId, resolution: 'Closed where it came from', at: foreign.at });
  return moveTicket(chain, { ticketId: made.ticketId, to: 'closed', reason: 'closed where it came from', at: foreign.at });
}

/** The newest commit of the project at the instant. */
const currentAt = (chain: Chain, at: number | undefined): string | undefined =>
  at === undefined
    ? undefined
    : chain.db.one<{ id: string }>(
        'SELECT id FROM context WHERE project = ? AND createdAt <= ? ORDER BY createdAt DESC, seq DESC LIMIT 1',
        chain.project,
        at,
      )?.id;

function fromMarkdown(text: string): Foreign[] {
  const parents: { indent: number; origin: string }[] = [];
  return text.split('\n').flatMap((line, number): Foreign[] => {
    const match = /^(\s*)[-*+]\s+\[([ xX])\]\s+(.+)$/.exec(line);
    const [, space = '', mark = '', title = ''] = match ?? [];
    if (!match) return [];
    const indent = space.replaceAll('\t', '    ').length;
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    const under = parents.at(-1)?.origin;
    const origin = `markdown:${under === undefined ? '' : `${under}/`}${title.trim()}#${number}`;
    parents.push({ indent, origin });
    return [
      {
        title: title.trim(),
        body: '',
        type: 'task',
        labels: [],
        author: undefined,
        assignee: undefined,
        closed: mark !== ' ',
        at: undefined,
        origin,
        under,
      },
    ];
  });
}

function fromGitHub(value: Json | undefined): Foreign[] {
  const items: readonly Json[] = Array.isArray(value) ? value : isObject(value) ? [value] : [];
  return items.flatMap((item) => (isObject(item) ? [...issueOf(item), ...nested(item)] : []));
}

function nested(item: { readonly [key: string]: Json }): Foreign[] {
  const under = stringAt(item, 'html_url') ?? stringAt(item, 'url');
  return ['reviews', 'comments', 'review_comments'].flatMap((key) => {
    const list = item[key];
    return Array.isArray(list) ? list.flatMap((each) => (isObject(each) ? reviewOf(each, under) : [])) : [];
  });
}

function issueOf(item: { readonly [key: string]: Json }): Foreign[] {
  const title = stringAt(item, 'title');
  if (title === undefined) return reviewOf(item, stringAt(item, 'pull_request_url'));
  const labels = Array.isArray(item.labels)
    ? item.labels.flatMap((label) => (typeof label === 'string' ? [label] : (stringAt(label, 'name') ?? [])))
    : [];
  const isPull = isObject(item.pull_request) || item.merged_at !== undefined;
  const type = isPull
    ? 'review'
    : (['bug', 'feature', 'question'].find((each) => labels.some((label) => label.toLowerCase().includes(each))) ?? 'task');
  const state = stringAt(item, 'state')?.toLowerCase();
  return [
    { ...foreignOf(item), title, type, labels, assignee: loginOf(item.assignee), closed: state === 'closed' || state === 'merged', under: undefined },
  ];
}

/** A review or one of its comments: a finding under the request that it was made on. */
function reviewOf(item: { readonly [key: string]: Json }, under: string | undefined): Foreign[] {
  const body = stringAt(item, 'body')?.trim();
  const place = stringAt(item, 'path');
  if (!body || (place === undefined && stringAt(item, 'state') === undefined)) return [];
  const [first = ''] = body.split('\n');
  return [
    {
      ...foreignOf(item),
      title: `${place === undefined ? '' : `${place}: `}${first}`.slice(0, 300),
      type: 'review_finding',
      labels: [],
      assignee: undefined,
      closed: false,
      under,
    },
  ];
}

const foreignOf = (item: { readonly [key: string]: Json }): Pick<Foreign, 'body' | 'author' | 'at' | 'origin'> => ({
  body: stringAt(item, 'body') ?? '',
  author: loginOf(item.user) ?? loginOf(item.author),
  at: parseInstant(stringAt(item, 'created_at') ?? stringAt(item, 'createdAt') ?? stringAt(item, 'submitted_at') ?? ''),
  origin: stringAt(item, 'html_url') ?? stringAt(item, 'url') ?? `github:${String(item.id ?? item.number ?? stringAt(item, 'title') ?? '')}`,
});

const loginOf = (user: Json | undefined): string | undefined => stringAt(user, 'login');
