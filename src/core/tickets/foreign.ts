import { isObject, type Json, parseInstant, stringAt } from '../base/index.js';
import type { Verdict } from '../contract/index.js';

export interface ForeignTicket {
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly author: string | undefined;
  readonly assignee: string | undefined;
  /** Milliseconds since 1970; undefined if the other system has no time. */
  readonly at: number | undefined;
  readonly closed: boolean;
  readonly closedAt: number | undefined;
  /** Identifies the ticket in the other system, so that a second import skips it. */
  readonly origin: string;
  readonly under: string | undefined;
  /** Requested reviewers without a verdict. */
  readonly awaited: readonly string[];
}

export interface ForeignReview {
  readonly under: string | undefined;
  readonly reviewer: string;
  readonly verdict: Exclude<Verdict, 'pending'>;
  readonly words: string | undefined;
  readonly at: number | undefined;
}

/** A reply to another item. It is appended to that item's text. */
interface Reply {
  readonly under: string;
  readonly author: string | undefined;
  readonly at: string | undefined;
  readonly body: string;
}

export interface ForeignTickets {
  readonly tickets: readonly ForeignTicket[];
  readonly reviews: readonly ForeignReview[];
}

const maxTitleLength = 300;

/** The items of a Markdown task list. An item is identified by its heading, parent and title, so that other lines can change. */
export function fromMarkdown(text: string): ForeignTickets {
  const parents: { indent: number; origin: string }[] = [];
  const times = new Map<string, number>();
  let heading = '';
  const tickets = text.split('\n').flatMap((line): ForeignTicket[] => {
    heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1] ?? heading;
    const [, space = '', mark = '', title = ''] = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s+(.+)$/.exec(line) ?? [];
    if (title === '') return [];
    const indent = space.replaceAll('\t', '    ').length;
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    const under = parents.at(-1)?.origin;
    const name = `markdown:${under === undefined ? heading : under.slice('markdown:'.length)}/${title.trim()}`;
    const time = times.get(name) ?? 0;
    times.set(name, time + 1);
    const origin = time === 0 ? name : `${name} (${time + 1})`;
    parents.push({ indent, origin });
    return [{ ...emptyTicket, title: title.trim().slice(0, maxTitleLength), type: 'task', closed: mark !== ' ', origin, under }];
  });
  return { tickets, reviews: [] };
}

const emptyTicket = {
  body: '',
  labels: [],
  author: undefined,
  assignee: undefined,
  at: undefined,
  closedAt: undefined,
  awaited: [],
} as const;

type Item = { readonly [key: string]: Json };

/** Parses GitHub's JSON (REST or `gh --json`): issues, pull requests, reviews and comments, single, in lists or nested. */
export function fromGitHub(value: Json | undefined): ForeignTickets {
  const items = (Array.isArray(value) ? value : [value]).flatMap((item): Item[] => (isObject(item) ? [item] : []));
  const all = items.flatMap((item) => [{ item, under: pageAddress(stringAt(item, 'pull_request_url')) }, ...nestedIn(item, findOrigin(item))]);
  const replies = all.flatMap(({ item, under }) => replyOf(item, under, all));
  const tickets = all
    .flatMap(({ item, under }) => issueOf(item) ?? findingOf(item, under) ?? [])
    .map((ticket) => ({ ...ticket, body: [ticket.body, ...replies.filter(({ under }) => under === ticket.origin).map(asText)].join('\n\n').trim() }));
  return { tickets, reviews: all.flatMap(({ item, under }) => reviewOf(item, under) ?? []) };
}

interface Placed {
  readonly item: Item;
  readonly under: string | undefined;
}

function nestedIn(item: Item, under: string): Placed[] {
  return ['reviews', 'comments', 'review_comments', 'reviewThreads'].flatMap((key) => {
    const list = item[key];
    return Array.isArray(list) ? list.flatMap((each): Placed[] => (isObject(each) ? [{ item: each, under }, ...nestedIn(each, under)] : [])) : [];
  });
}

function issueOf(item: Item): ForeignTicket | undefined {
  const title = stringAt(item, 'title');
  if (title === undefined) return undefined;
  const labels = list(item.labels).flatMap((label) => (typeof label === 'string' ? [label] : (stringAt(label, 'name') ?? [])));
  const isPull =
    isObject(item.pull_request) || ['merged_at', 'mergedAt', 'reviews', 'requested_reviewers', 'reviewRequests', 'head'].some((key) => key in item);
  const type = isPull
    ? 'review'
    : (['bug', 'feature', 'question'].find((each) => labels.some((label) => label.toLowerCase().includes(each))) ?? 'task');
  const state = stringAt(item, 'state')?.toLowerCase();
  const author = authorOf(item);
  return {
    title: title.slice(0, maxTitleLength),
    body: stringAt(item, 'body') ?? '',
    type,
    labels,
    author,
    assignee: loginOf(item.assignee) ?? list(item.assignees).flatMap((each) => loginOf(each) ?? [])[0] ?? (isPull ? author : undefined),
    at: timeIn(item, 'created_at', 'createdAt'),
    closed: state === 'closed' || state === 'merged',
    closedAt: timeIn(item, 'closed_at', 'closedAt', 'merged_at', 'mergedAt'),
    origin: findOrigin(item),
    under: undefined,
    awaited: [...list(item.requested_reviewers), ...list(item.reviewRequests)].flatMap((each) => loginOf(each) ?? []),
  };
}

/** A comment on a line, or a review with a request: a finding of its pull request. */
function findingOf(item: Item, under: string | undefined): ForeignTicket | undefined {
  const body = stringAt(item, 'body')?.trim();
  const path = stringAt(item, 'path');
  const state = stringAt(item, 'state')?.toLowerCase();
  const asks =
    path !== undefined ? !('in_reply_to_id' in item && item.in_reply_to_id !== null) : state === 'changes_requested' || state === 'commented';
  if (!body || !asks) return undefined;
  const line = [item.line, item.original_line, item.position].find((each) => typeof each === 'number');
  const hunk = stringAt(item, 'diff_hunk');
  const place = path === undefined ? '' : `\`${path}\`${line === undefined ? '' : ` line ${String(line)}`}`;
  return {
    ...emptyTicket,
    title: `${path === undefined ? '' : `${path}: `}${body.split('\n')[0] ?? ''}`.slice(0, maxTitleLength),
    body: [place, body, hunk === undefined ? '' : `\`\`\`diff\n${hunk}\n\`\`\``].filter((part) => part !== '').join('\n\n'),
    type: 'review_finding',
    author: authorOf(item),
    at: timeIn(item, 'created_at', 'createdAt', 'submitted_at', 'submittedAt'),
    closed: item.isResolved === true,
    origin: findOrigin(item),
    under,
  };
}

const verdictOf: Record<string, ForeignReview['verdict']> = { approved: 'approved', changes_requested: 'changes_requested', commented: 'commented' };

function reviewOf(item: Item, under: string | undefined): ForeignReview | undefined {
  const verdict = verdictOf[stringAt(item, 'state')?.toLowerCase() ?? ''];
  const reviewer = authorOf(item);
  if (!verdict || reviewer === undefined || stringAt(item, 'title') !== undefined || stringAt(item, 'path') !== undefined) return undefined;
  const words = stringAt(item, 'body')?.trim();
  return { under, reviewer, verdict, words: words || undefined, at: timeIn(item, 'submitted_at', 'submittedAt', 'created_at', 'createdAt') };
}

/** A general comment belongs to its item; a reply in a thread belongs to the first comment of the thread. */
function replyOf(item: Item, under: string | undefined, all: readonly Placed[]): Reply[] {
  const body = stringAt(item, 'body')?.trim();
  if (!body || stringAt(item, 'title') !== undefined) return [];
  const answered = item.in_reply_to_id;
  const begun = answered === undefined || answered === null ? undefined : all.find((each) => each.item.id === answered);
  const to = begun ? findOrigin(begun.item) : stringAt(item, 'path') === undefined && stringAt(item, 'state') === undefined ? under : undefined;
  return to === undefined ? [] : [{ under: to, author: authorOf(item), at: stringAt(item, 'created_at') ?? stringAt(item, 'createdAt'), body }];
}

const asText = ({ author, at, body }: Reply): string => `**${author ?? 'somebody'}**${at === undefined ? '' : `, ${at}`}:\n\n${body}`;

const findOrigin = (item: Item): string =>
  pageAddress(stringAt(item, 'html_url') ?? stringAt(item, 'url')) ?? `github:${String(item.id ?? item.number ?? stringAt(item, 'title') ?? '')}`;

/** Normalizes web and API addresses of the same item. */
const pageAddress = (url: string | undefined): string | undefined =>
  url?.replace(/^https:\/\/api\.([^/]+)\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)$/, 'https://$1/$2/pull/$3');

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const loginOf = (user: Json | undefined): string | undefined => stringAt(user, 'login');
const authorOf = (item: Item): string | undefined => loginOf(item.user) ?? loginOf(item.author);
const timeIn = (item: Item, ...names: string[]): number | undefined => names.flatMap((name) => parseInstant(stringAt(item, name) ?? '') ?? [])[0];
