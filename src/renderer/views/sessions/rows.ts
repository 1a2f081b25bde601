import type { FoundSession, SessionRow, SessionSort, SourceAgent } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** A history on this machine of which the project contains nothing or only an earlier state. */
export interface ListedHistory extends FoundSession {
  readonly agent: SourceAgent;
}

/** A row of the list: a session in the project, on this machine, or both. */
export interface Listed {
  readonly key: string;
  readonly title: string;
  readonly agent: string;
  readonly repository: string | null;
  readonly lastAt: string;
  /** The session in the project; undefined if it is not imported. */
  readonly session?: SessionRow;
  /** The file on this machine, if the project does not contain it completely. */
  readonly found?: ListedHistory;
  readonly subagents: readonly Listed[];
}

/** The chips above the list. Each narrows it to some values of a column. */
export const facets = ['agent', 'repository', 'model'] as const;
export type SessionFacet = (typeof facets)[number];

export const spans = [
  ['Today', 1],
  ['Last 7 days', 7],
  ['Last 30 days', 30],
  ['Last 12 months', 366],
] as const;

/** What a person chose to narrow the list. */
export interface SessionNarrowing {
  readonly text: string;
  readonly chosen: Readonly<Record<SessionFacet, ReadonlySet<string>>>;
  /** Days back from now; undefined shows all. */
  readonly days: number | undefined;
  readonly archived: boolean;
}

export type SessionListRow =
  | { readonly kind: 'group'; readonly key: string; readonly name: string; readonly count: number }
  | {
      readonly kind: 'session';
      readonly key: string;
      readonly listed: Listed;
      readonly level: 1 | 2;
      readonly open?: boolean;
      readonly isLast?: boolean;
    };

/** Joins the sessions of the project with the histories found on this machine. */
export function joinSessions(sessions: readonly SessionRow[], found: readonly ListedHistory[]): readonly Listed[] {
  const files = new Map(found.map((one) => [one.sessionId, one] as const));
  const ids = new Set(sessions.map(({ sessionId }) => sessionId));
  const known = new Set(sessions.flatMap(({ sessionId, continuedAs }) => [sessionId, ...continuedAs]));
  const listed = sessions.map((session): Listed => {
    const file = [session.sessionId, ...session.continuedAs].flatMap((id) => files.get(id) ?? [])[0];
    return {
      key: session.sessionId,
      title: session.title,
      agent: session.agent,
      repository: session.repository,
      lastAt: session.lastAt,
      session,
      ...(file && !session.parentSessionId && { found: file }),
      subagents: [],
    };
  });
  const subagents = Map.groupBy(listed, ({ session }) => session?.parentSessionId);
  return [
    ...listed
      .filter(({ session }) => session?.parentSessionId === undefined || !ids.has(session.parentSessionId))
      .map((one) => ({ ...one, subagents: subagents.get(one.key) ?? [] })),
    ...found
      .filter(({ sessionId }) => !known.has(sessionId))
      .map(
        (one): Listed => ({
          key: one.path,
          title: one.title ?? one.sessionId,
          agent: one.agent,
          repository: one.repository ?? one.cwd ?? null,
          lastAt: one.modifiedAt,
          found: one,
          subagents: [],
        }),
      ),
  ];
}

/** The values of a chip with the number of sessions that have each, the most frequent first. */
export function countValues(listed: readonly Listed[], facet: SessionFacet): readonly (readonly [value: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const one of listed) for (const value of valuesIn(one, facet)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

function valuesIn({ agent, repository, session }: Listed, facet: SessionFacet): readonly string[] {
  if (facet === 'agent') return [agent];
  if (facet === 'model') return session?.models ?? [];
  return repository === null ? [] : [repository];
}

const dayMs = 86_400_000;

/** Shortens a snippet to start shortly before the words, because its column shows only the beginning. */
export function fromWords(snippet: string, words: string): string {
  const text = snippet.toLowerCase();
  const [word = ''] = words.toLowerCase().trim().split(/\s+/);
  const whole = text.indexOf(words.toLowerCase().trim());
  const at = whole < 0 ? text.indexOf(word) : whole;
  if (at <= maxBefore) return snippet;
  const space = snippet.indexOf(' ', at - maxBefore);
  return snippet.slice(space < 0 || space >= at ? at : space + 1);
}
const maxBefore = 12;

interface Sought extends SessionNarrowing {
  /** Sessions whose content contains the text. */
  readonly hits: ReadonlyMap<string, string>;
}

/** The sessions that match the text and every chip. Text matches the title, the repository, tags, the id, the file or the content. */
export function narrow(listed: readonly Listed[], { text, chosen, days, archived, hits }: Sought, now = Date.now()): readonly Listed[] {
  const needle = text.trim().toLowerCase();
  const matches = ({ key, title, repository, session, found }: Listed): boolean =>
    hits.has(key) || `${title}\n${repository ?? ''}\n${session?.tags.join('\n') ?? ''}\n${key}\n${found?.path ?? ''}`.toLowerCase().includes(needle);
  return listed.filter(
    (one) =>
      (one.session?.archived ?? false) === archived &&
      facets.every((facet) => chosen[facet].size === 0 || valuesIn(one, facet).some((value) => chosen[facet].has(value))) &&
      (days === undefined || Date.parse(one.lastAt) >= now - days * dayMs) &&
      (needle === '' || matches(one) || one.subagents.some(matches)),
  );
}

/** The values of the columns to sort by. Unknown values are undefined and come last. */
const columns: Readonly<Record<SessionSort, (row: Listed) => string | number | undefined>> = {
  title: ({ title }) => title.toLowerCase(),
  agent: ({ agent }) => agent,
  repository: ({ repository }) => repository ?? undefined,
  lastAt: ({ lastAt }) => lastAt,
  turns: ({ session }) => session?.turns,
  branches: ({ session }) => session?.branches,
  errors: ({ session }) => session?.errors,
  peakTokens: ({ session }) => (session?.peakTokens == null ? undefined : session.peakTokens / (session.limit ?? Number.POSITIVE_INFINITY)),
  cost: ({ session }) => session?.cost?.amount,
};

export interface Order {
  readonly by: SessionSort;
  readonly ascending: boolean;
}

/** Sorted sessions, pinned ones first. */
export function sorted(listed: readonly Listed[], { by, ascending }: Order): readonly Listed[] {
  const order = (a: Listed, b: Listed): number => {
    const pinned = Number(b.session?.pinned ?? false) - Number(a.session?.pinned ?? false);
    const [x, y] = [columns[by](a), columns[by](b)];
    const known = Number(x === undefined) - Number(y === undefined);
    const value = x === undefined || y === undefined || x === y ? 0 : (ascending ? 1 : -1) * (x < y ? -1 : 1);
    return pinned || known || value || (a.lastAt < b.lastAt ? 1 : a.lastAt > b.lastAt ? -1 : 0);
  };
  return [...listed].sort(order);
}

/** The rows of the list: grouped by day if it is sorted by time, with the subagents of open sessions. */
export function arrangeRows(listed: readonly Listed[], order: Order, opened: ReadonlySet<string>, now = new Date()): readonly SessionListRow[] {
  const ordered = sorted(listed, order);
  const rows: SessionListRow[] = [];
  const counts = new Map<string, number>();
  if (order.by === 'lastAt') for (const one of ordered) counts.set(groupOf(one, now), (counts.get(groupOf(one, now)) ?? 0) + 1);
  let last: string | undefined;
  for (const one of ordered) {
    const group = order.by === 'lastAt' ? groupOf(one, now) : undefined;
    if (group !== undefined && group !== last) rows.push({ kind: 'group', key: `group ${group}`, name: group, count: counts.get(group) ?? 0 });
    last = group;
    const open = opened.has(one.key);
    rows.push({ kind: 'session', key: one.key, listed: one, level: 1, ...(one.subagents.length > 0 && { open }) });
    if (open)
      for (const [n, subagent] of one.subagents.entries())
        rows.push({ kind: 'session', key: subagent.key, listed: subagent, level: 2, isLast: n === one.subagents.length - 1 });
  }
  return rows;
}

const monthAndYear = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' });

function groupOf({ lastAt, session }: Listed, now: Date): string {
  if (session?.pinned) return 'Pinned';
  const day = say.day(lastAt, now);
  if (day === 'Today' || day === 'Yesterday' || day === 'No date') return day;
  const ago = (now.getTime() - Date.parse(lastAt)) / dayMs;
  return ago < 7 ? 'Last 7 days' : ago < 30 ? 'Last 30 days' : monthAndYear.format(new Date(lastAt));
}
