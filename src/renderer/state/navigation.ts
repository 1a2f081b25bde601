import { create } from 'zustand';
import { formatRoute, parseRoute, type Route } from './route';

interface Navigation {
  readonly route: Route;
  readonly canBack: boolean;
  readonly canForward: boolean;
}

/** How far this window's own steps reach, so that the back and forward buttons know when they lead nowhere. */
const position = () => (history.state as { step?: number } | null)?.step ?? 0;
let farthest = position();

export const useNavigation = create<Navigation>(() => ({
  route: parseRoute(location.hash),
  canBack: position() > 0,
  canForward: false,
}));

const follow = () => useNavigation.setState({ route: parseRoute(location.hash), canBack: position() > 0, canForward: position() < farthest });

export const route = (): Route => useNavigation.getState().route;

/** What a change leads to. Further commits of a comparison belong to the two that they were compared with. */
const after = (change: Partial<Route>): string =>
  formatRoute({ ...route(), ...(('commit' in change || 'against' in change) && { others: undefined }), ...change });

/** Goes somewhere as a step of its own: back returns. */
export function go(change: Partial<Route>): void {
  const next = after(change);
  if (next === location.hash) return;
  farthest = position() + 1;
  history.pushState({ step: farthest }, '', next);
  follow();
}

/** Goes on within a step: moving a selection does not fill the history. */
export function move(change: Partial<Route>): void {
  const next = after(change);
  if (next === location.hash) return;
  history.replaceState(history.state, '', next);
  follow();
}

addEventListener('popstate', follow);
addEventListener('hashchange', follow);
