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

const ticketId = /^tkt-[0-9a-f]{1,64}$/;
const contextId = /^ctx-[0-9a-f]{1,64}$/;

const any = (text: string): string | undefined => text;
const commit = (text: string): ContextId | undefined => (contextId.test(text) ? (text as ContextId) : undefined);
const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((one) => one === text);

/** How the parts of an address are read, in the order in which an address has them. A malformed part is ignored. */
const readers = {
  from: oneOf(...views),
  settings: oneOf(...settingsPages),
  project: any,
  session: any,
  commit,
  against: commit,
  /** Further commits of a comparison, such as the other samples of a run: ids separated by commas. */
  others: (text: string): string | undefined => (text.split(',').every((id) => contextId.test(id)) ? text : undefined),
  /** `after` runs the turns after the selected turn; undefined runs the selected turn itself. */
  runs: oneOf('after'),
  experiment: any,
  entry: (text: string): EntryKey | undefined => text as EntryKey,
  stop: (text: string): Stop | undefined => (text === 'root' || text === 'compaction' ? text : commit(text)),
  /** `yes` also shows entries that the agent recorded but never sent to the model. */
  unsent: oneOf('yes'),
  /** The space that the timeline shows; undefined shows the commit's context. */
  space: any,
  box: any,
  card: any,
  job: any,
  profile: any,
  /** The open version of a template, `name@version`. */
  template: any,
  /** The list that a page with two lists shows: jobs or rules, profiles or templates. Undefined means the first list. */
  kinds: oneOf('rules', 'templates'),
  /** The agent turn that a handover dispatched. */
  turn: any,
  /** `pack` opens the form that packs a handover; undefined shows past handovers. */
  handovers: oneOf('pack'),
  /** The open ticket; undefined shows all tickets as `tickets` says. */
  ticket: (text: string): string | undefined => (ticketId.test(text) ? text : undefined),
  /** How tickets are shown: as a board (undefined), as a list, or as the list of waiting starts. */
  tickets: oneOf('list', 'waiting'),
  call: any,
  /** The selected system prompt or tool set; any unknown value means the latest. */
  part: any,
  /** The days of Usage: `7`, `30`, `90`, `all` or `FROM..TO`. Undefined means the last 90 days. */
  range: any,
  /** What the bars of Usage show; undefined means the cost. */
  measure: any,
  /** What the table of Usage is grouped by; undefined means the repository. */
  group: any,
  /** The chosen facets of Usage: `agent=codex&model=gpt-5`. */
  only: any,
  bar: any,
  sql: any,
  /** The rule whose findings are shown; undefined means those of all rules. */
  rule: any,
};

type Parts = { readonly [Part in keyof typeof readers]?: ReturnType<(typeof readers)[Part]> };

/** The current place. The address contains all of it, so back, forward, reload and a copied link lead to the same place. */
export interface Route extends Parts {
  readonly view: ViewName;
}

/** Parses the hash of an address. Unknown or malformed parts are ignored. An address has its parts in the order of these. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const former = formerViews[path];
  const view = former?.view ?? views.find((name) => name === path) ?? 'sessions';
  const params = new URLSearchParams(query);
  const parts: Parts = Object.fromEntries(
    Object.entries(readers).map(([name, read]) => {
      const text = params.get(name);
      return [name, text ? read(text) : undefined];
    }),
  );
  const from = parts.from && isPage(view) && !isPage(parts.from) ? parts.from : undefined;
  return { view, ...parts, from, settings: former?.settings ?? parts.settings };
}

/** The hash of an address that leads to the place. */
export function formatRoute({ view, ...parts }: Route): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value) params.set(name, value);
  const query = params.toString();
  return `#/${view}${query && `?${query}`}`;
}
