import type { ContextId, EntryKey, Stop } from '../../core/contract/index.js';

export const views = [
  'library',
  'chain',
  'context',
  'request',
  'diff',
  'replay',
  'run',
  'experiments',
  'compose',
  'timeline',
  'boxes',
  'handover',
  'reviews',
  'storage',
] as const;
export type ViewName = (typeof views)[number];

/** How tickets are shown: as a board (left out), as a list, or as what waits for somebody to start. */
export type TicketsAs = 'list' | 'waiting';

/** Where the person is. Stands in the address in full, so that back, forward, reload and a copied link lead to the same place. */
export interface Route {
  readonly view: ViewName;
  /** The folder of the open project. */
  readonly project?: string | undefined;
  /** Only this session's commits in the chain. */
  readonly session?: string | undefined;
  readonly commit?: ContextId | undefined;
  /** The other commit of a comparison. */
  readonly against?: ContextId | undefined;
  /** Further commits of a comparison, such as the other samples of a run: their ids, with commas between. */
  readonly others?: string | undefined;
  /** What is run again: the turns after the chosen one, or (left out) itself. */
  readonly runs?: 'after' | undefined;
  /** The experiment that is open. */
  readonly experiment?: string | undefined;
  readonly entry?: EntryKey | undefined;
  readonly stop?: Stop | undefined;
  /** The context shows also what the runtime recorded but never sent: `yes`, or left out. */
  readonly unsent?: 'yes' | undefined;
  /** The space of the timeline; without one it shows the commit's context. */
  readonly space?: string | undefined;
  readonly box?: string | undefined;
  readonly card?: string | undefined;
  /** The turn of an agent that a handover handed out. */
  readonly turn?: string | undefined;
  /** A handover is packed by hand: `pack`; left out, the view shows who handed what to whom. */
  readonly handovers?: 'pack' | undefined;
  /** The ticket that is open; without one the reviews show all of them, as `tickets` says. */
  readonly ticket?: string | undefined;
  readonly tickets?: TicketsAs | undefined;
  /** The call to a model that is looked at. */
  readonly call?: string | undefined;
  /** The system prompt or tool set that is looked at; any other word stands for the latest. */
  readonly part?: string | undefined;
}

const ticketId = /^tkt-[0-9a-f]{1,64}$/;
const contextId = /^ctx-[0-9a-f]{1,64}$/;

/** Reads an address's hash. Anything unknown or malformed is left out rather than followed. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const view = views.find((name) => name === path) ?? 'library';
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
  return {
    view,
    project: text('project'),
    session: text('session'),
    commit: commit('commit'),
    against: commit('against'),
    others: others?.split(',').every((id) => contextId.test(id)) ? others : undefined,
    runs: text('runs') === 'after' ? 'after' : undefined,
    experiment: text('experiment'),
    entry: text('entry') as EntryKey | undefined,
    space: text('space'),
    box: text('box'),
    card: text('card'),
    turn: text('turn'),
    handovers: text('handovers') === 'pack' ? 'pack' : undefined,
    ticket: ticket && ticketId.test(ticket) ? ticket : undefined,
    tickets: tickets === 'list' || tickets === 'waiting' ? tickets : undefined,
    call: text('call'),
    part: text('part'),
    unsent: text('unsent') === 'yes' ? 'yes' : undefined,
    stop: stop === 'root' || stop === 'compaction' ? stop : commit('stop'),
  };
}

export function formatRoute(route: Route): string {
  const params = new URLSearchParams();
  for (const name of [
    'project',
    'session',
    'commit',
    'against',
    'others',
    'runs',
    'experiment',
    'entry',
    'stop',
    'unsent',
    'space',
    'box',
    'card',
    'turn',
    'handovers',
    'ticket',
    'tickets',
    'call',
    'part',
  ] as const) {
    const value = route[name];
    if (value) params.set(name, value);
  }
  const query = params.toString();
  return `#/${route.view}${query && `?${query}`}`;
}
