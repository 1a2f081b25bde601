import type { ContextId, EntryKey, Stop } from '../../core/contract/index.js';

/** The views of the window. Each is defined in `app/views.ts`. */
export const views = [
  'sessions',
  'chain',
  'context',
  'calls',
  'replay',
  'usage',
  'sql',
  'findings',
  'compare',
  'run',
  'jobs',
  'timeline',
  'handover',
  'boxes',
  'profiles',
  'compose',
  'reviews',
  'experiments',
  'settings',
] as const;
export type ViewName = (typeof views)[number];

/** Views that open from a selection. Each has a way back to the view it was opened from. */
const pages: readonly ViewName[] = ['compare', 'run'];

/** Whether a view is a page that opens from a selection. */
export const isPage = (view: ViewName): boolean => pages.includes(view);

export const settingsPages = ['appearance', 'providers', 'summaries', 'prices', 'storage', 'replicas', 'team', 'updates'] as const;
export type SettingsPage = (typeof settingsPages)[number];

/** The names of views in addresses of earlier versions. */
const formerViews: Readonly<Record<string, Pick<Route, 'view' | 'settings'>>> = {
  library: { view: 'sessions' },
  request: { view: 'calls' },
  diff: { view: 'compare' },
  storage: { view: 'settings', settings: 'storage' },
};

/** How tickets are shown: as a board (undefined), as a list, or as the list of waiting starts. */
export type TicketsAs = 'list' | 'waiting';

/** The current place. The address contains all of it, so back, forward, reload and a copied link lead to the same place. */
export interface Route {
  readonly view: ViewName;
  readonly from?: ViewName | undefined;
  readonly settings?: SettingsPage | undefined;
  readonly project?: string | undefined;
  readonly session?: string | undefined;
  readonly commit?: ContextId | undefined;
  readonly against?: ContextId | undefined;
  /** Further commits of a comparison, such as the other samples of a run: ids separated by commas. */
  readonly others?: string | undefined;
  /** `after` runs the turns after the selected turn; undefined runs the selected turn itself. */
  readonly runs?: 'after' | undefined;
  readonly experiment?: string | undefined;
  readonly entry?: EntryKey | undefined;
  readonly stop?: Stop | undefined;
  /** `yes` also shows entries that the agent recorded but never sent to the model. */
  readonly unsent?: 'yes' | undefined;
  /** The space that the timeline shows; undefined shows the commit's context. */
  readonly space?: string | undefined;
  readonly box?: string | undefined;
  readonly card?: string | undefined;
  readonly job?: string | undefined;
  readonly profile?: string | undefined;
  /** The open version of a template, `name@version`. */
  readonly template?: string | undefined;
  /** The list that a page with two lists shows: jobs or rules, profiles or templates. Undefined means the first list. */
  readonly kinds?: 'rules' | 'templates' | undefined;
  /** The agent turn that a handover dispatched. */
  readonly turn?: string | undefined;
  /** `pack` opens the form that packs a handover; undefined shows past handovers. */
  readonly handovers?: 'pack' | undefined;
  /** The open ticket; undefined shows all tickets as `tickets` says. */
  readonly ticket?: string | undefined;
  readonly tickets?: TicketsAs | undefined;
  readonly call?: string | undefined;
  /** The selected system prompt or tool set; any unknown value means the latest. */
  readonly part?: string | undefined;
  /** The days of Usage: `7`, `30`, `90`, `all` or `FROM..TO`. Undefined means the last 90 days. */
  readonly range?: string | undefined;
  /** What the bars of Usage show; undefined means the cost. */
  readonly measure?: string | undefined;
  /** What the table of Usage is grouped by; undefined means the repository. */
  readonly group?: string | undefined;
  /** The chosen facets of Usage: `agent=codex&model=gpt-5`. */
  readonly only?: string | undefined;
  /** The first day of the selected bar. */
  readonly bar?: string | undefined;
  readonly sql?: string | undefined;
  /** The rule whose findings are shown; undefined means those of all rules. */
  readonly rule?: string | undefined;
}

const ticketId = /^tkt-[0-9a-f]{1,64}$/;
const contextId = /^ctx-[0-9a-f]{1,64}$/;

/** Parses the hash of an address. Unknown or malformed parts are ignored. An address has its parts in the order of these. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const former = formerViews[path];
  const view = former?.view ?? views.find((name) => name === path) ?? 'sessions';
  const params = new URLSearchParams(query);
  const text = (name: string) => params.get(name) || undefined;
  const commit = (name: string) => {
    const value = text(name);
    return value && contextId.test(value) ? (value as ContextId) : undefined;
  };
  const stop = text('stop');
  const others = text('others');
  const ticket = text('ticket');
  const tickets = text('tickets');
  const settings = text('settings');
  const kinds = text('kinds');
  return {
    view,
    from: isPage(view) ? views.find((name) => name === text('from') && !isPage(name)) : undefined,
    settings: former?.settings ?? settingsPages.find((page) => page === settings),
    project: text('project'),
    session: text('session'),
    commit: commit('commit'),
    against: commit('against'),
    others: others?.split(',').every((id) => contextId.test(id)) ? others : undefined,
    runs: text('runs') === 'after' ? 'after' : undefined,
    experiment: text('experiment'),
    entry: text('entry') as EntryKey | undefined,
    stop: stop === 'root' || stop === 'compaction' ? stop : commit('stop'),
    unsent: text('unsent') === 'yes' ? 'yes' : undefined,
    space: text('space'),
    box: text('box'),
    card: text('card'),
    job: text('job'),
    profile: text('profile'),
    template: text('template'),
    kinds: kinds === 'rules' || kinds === 'templates' ? kinds : undefined,
    turn: text('turn'),
    handovers: text('handovers') === 'pack' ? 'pack' : undefined,
    ticket: ticket && ticketId.test(ticket) ? ticket : undefined,
    tickets: tickets === 'list' || tickets === 'waiting' ? tickets : undefined,
    call: text('call'),
    part: text('part'),
    range: text('range'),
    measure: text('measure'),
    group: text('group'),
    only: text('only'),
    bar: text('bar'),
    sql: text('sql'),
    rule: text('rule'),
  };
}

/** The hash of an address that leads to the place. */
export function formatRoute({ view, ...parts }: Route): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value) params.set(name, value);
  const query = params.toString();
  return `#/${view}${query && `?${query}`}`;
}
