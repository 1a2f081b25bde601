import {
  ArrowDownUp,
  ArrowRightLeft,
  BookOpen,
  Bot,
  Boxes,
  ChartColumn,
  CirclePlay,
  FlaskConical,
  GitCompare,
  GitFork,
  IdCard,
  Layers,
  Lightbulb,
  ListChecks,
  MessagesSquare,
  Play,
  Repeat,
  Rows3,
  Settings,
  SquareTerminal,
} from 'lucide-react';
import type { Icon } from '../parts';
import { isPage, type Route, type ViewName } from '../state';
import { View as ChainView } from '../views/chain';
import { View as ContextView } from '../views/context';
import { View as SessionsView } from '../views/sessions';
import { later, type ViewComponent } from './later';

/** A place of the rail. A place with several views shows them as a row of links at its top. */
export interface RailPlace {
  readonly id: PlaceId;
  readonly title: string;
  readonly icon: Icon;
  readonly digit?: string;
  /** True for the first place of a group, which has a line above it. */
  readonly begins?: true;
}
type PlaceId = 'sessions' | 'chain' | 'context' | 'calls' | 'replay' | 'usage' | 'agents' | 'reviews' | 'experiments' | 'settings';

/** The places in the order of the rail. Settings stands at its foot. */
export const places: readonly RailPlace[] = [
  { id: 'sessions', title: 'Sessions', icon: Rows3, digit: '1' },
  { id: 'chain', title: 'Chain', icon: GitFork, digit: '2' },
  { id: 'context', title: 'Context', icon: BookOpen, digit: '3' },
  { id: 'calls', title: 'Calls', icon: ArrowDownUp, digit: '4' },
  { id: 'replay', title: 'Replay', icon: CirclePlay, digit: '5' },
  { id: 'usage', title: 'Usage', icon: ChartColumn, digit: '6' },
  { id: 'agents', title: 'Agents', icon: Bot, begins: true },
  { id: 'reviews', title: 'Reviews', icon: ListChecks },
  { id: 'experiments', title: 'Experiments', icon: FlaskConical },
  { id: 'settings', title: 'Settings', icon: Settings },
];

export interface ViewDefinition {
  readonly id: ViewName;
  readonly title: string;
  readonly icon: Icon;
  /** The two keys that open the view, one after the other. */
  readonly keys: string;
  /** The place that the view belongs to. A page that opens from a selection belongs to the place where it was opened. */
  readonly place: PlaceId;
  /** What the view needs, if it is not just an open project: nothing, or a commit of the project. A view of a commit starts at the newest commit. */
  readonly needs?: 'nothing' | 'commit';
  readonly View: ViewComponent;
}

const ExperimentsView = later(() => import('../views/experiments'));
const SettingsView = later(() => import('../views/settings'));

/** The views, one line each. Sessions, chain and context come with the first page; the others bring libraries, and are loaded later. */
export const views: readonly ViewDefinition[] = [
  { id: 'sessions', title: 'Sessions', icon: Rows3, keys: 'g s', place: 'sessions', needs: 'nothing', View: SessionsView },
  { id: 'chain', title: 'Chain', icon: GitFork, keys: 'g c', place: 'chain', needs: 'commit', View: ChainView },
  { id: 'context', title: 'Context', icon: BookOpen, keys: 'g x', place: 'context', needs: 'commit', View: ContextView },
  { id: 'calls', title: 'Calls', icon: ArrowDownUp, keys: 'g q', place: 'calls', needs: 'commit', View: later(() => import('../views/request')) },
  { id: 'replay', title: 'Replay', icon: CirclePlay, keys: 'g r', place: 'replay', needs: 'commit', View: later(() => import('../views/replay')) },
  { id: 'usage', title: 'Usage', icon: ChartColumn, keys: 'g u', place: 'usage', View: later(() => import('../views/usage')) },
  { id: 'findings', title: 'Findings', icon: Lightbulb, keys: 'g f', place: 'usage', View: later(() => import('../views/findings')) },
  { id: 'sql', title: 'SQL', icon: SquareTerminal, keys: 'g l', place: 'usage', View: later(() => import('../views/sql')) },
  { id: 'compare', title: 'Compare', icon: GitCompare, keys: 'g d', place: 'chain', View: later(() => import('../views/diff')) },
  { id: 'run', title: 'Run again', icon: Repeat, keys: 'g a', place: 'chain', needs: 'commit', View: later(() => import('../views/run')) },
  { id: 'jobs', title: 'Jobs', icon: Play, keys: 'g j', place: 'agents', View: later(() => import('../views/jobs')) },
  { id: 'timeline', title: 'Spaces', icon: MessagesSquare, keys: 'g t', place: 'agents', View: later(() => import('../views/timeline')) },
  { id: 'handover', title: 'Handovers', icon: ArrowRightLeft, keys: 'g h', place: 'agents', View: later(() => import('../views/handover')) },
  { id: 'boxes', title: 'Boxes and cards', icon: Boxes, keys: 'g b', place: 'agents', View: later(() => import('../views/boxes')) },
  { id: 'profiles', title: 'Profiles', icon: IdCard, keys: 'g p', place: 'agents', View: later(() => import('../views/profiles')) },
  { id: 'compose', title: 'Composition', icon: Layers, keys: 'g o', place: 'agents', needs: 'commit', View: later(() => import('../views/compose')) },
  { id: 'reviews', title: 'Reviews', icon: ListChecks, keys: 'g v', place: 'reviews', View: later(() => import('../views/reviews')) },
  { id: 'experiments', title: 'Experiments', icon: FlaskConical, keys: 'g e', place: 'experiments', View: ExperimentsView },
  { id: 'settings', title: 'Settings', icon: Settings, keys: 'g ,', place: 'settings', needs: 'nothing', View: SettingsView },
];

const byId = new Map(views.map((view) => [view.id, view]));

/** The definition of a view. @throws Error if the name has no line above, which is a mistake in the code. */
export function requireView(id: ViewName): ViewDefinition {
  const view = byId.get(id);
  if (!view) throw new Error(`The view ${id} is not registered in app/views.ts`);
  return view;
}

/** The views of a place that do not open from a selection. */
export const viewsIn = (place: PlaceId): readonly ViewDefinition[] => views.filter((view) => view.place === place && !isPage(view.id));

/** The view with which a place opens. */
export const firstViewIn = (place: PlaceId): ViewName => viewsIn(place)[0]?.id ?? 'sessions';

/** The view that a page goes back to. */
export const backFrom = ({ from }: Pick<Route, 'from'>): ViewDefinition => requireView(from ?? 'chain');

/** The current place of the window. */
export const findPlace = (at: Pick<Route, 'view' | 'from'>): PlaceId => (isPage(at.view) ? backFrom(at) : requireView(at.view)).place;
