import { create } from 'zustand';
import { formatRoute, isPage, parseRoute, type Route } from './route';

interface Navigation {
  readonly route: Route;
  readonly canBack: boolean;
  readonly canForward: boolean;
}

/** The position in this window's own history, so that the back and forward buttons can be disabled at its ends. */
const position = () => (history.state as { step?: number } | null)?.step ?? 0;
let farthest = position();

/** The current address, and whether back and forward are possible. */
export const useNavigation = create<Navigation>(() => ({ route: parseRoute(location.hash), canBack: position() > 0, canForward: false }));

const follow = () => useNavigation.setState({ route: parseRoute(location.hash), canBack: position() > 0, canForward: position() < farthest });

/** The current address. */
export const route = (): Route => useNavigation.getState().route;

/** The address after a change. Further commits of a comparison go when a main one changes. A page keeps the view that it was opened from. */
export function nextAddress(change: Partial<Route>): string {
  const now = route();
  const view = change.view ?? now.view;
  return formatRoute({
    ...now,
    ...(('commit' in change || 'against' in change) && { others: undefined }),
    from: !isPage(view) ? undefined : isPage(now.view) ? now.from : now.view,
    settings: view === 'settings' ? now.settings : undefined,
    sql: view === 'sql' ? now.sql : undefined,
    ...change,
  });
}

/** Changes the address and adds a step to the history. */
export function go(change: Partial<Route>): void {
  const next = nextAddress(change);
  if (next === location.hash) return;
  farthest = position() + 1;
  history.pushState({ step: farthest }, '', next);
  follow();
}

/** The properties of a link to a place. A click with a modifier key stays the browser's. */
export const placeLink = (to: Partial<Route>) => ({
  href: nextAddress(to),
  onClick: (event: Pick<MouseEvent, 'ctrlKey' | 'metaKey' | 'shiftKey' | 'preventDefault'>): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  },
});

/** Opens a project's chain with nothing selected. */
export const showProject = (dir: string): void =>
  go({ view: 'chain', project: dir, session: undefined, commit: undefined, against: undefined, entry: undefined, stop: undefined });

/** Opens the context of a commit at its end. */
export const openContext = (commit: Route['commit']): void => go({ view: 'context', commit, entry: undefined, stop: undefined });

/** Opens a comparison of two commits. */
export const openComparison = (commit: Route['commit'], against: Route['against']): void =>
  go({ view: 'compare', commit, against, entry: undefined });

/** Opens a box. */
export const openBox = (box: string | undefined): void => go({ view: 'boxes', box, card: undefined });

/** Changes the address without a new history step, so that moving a selection does not fill the history. */
export function move(change: Partial<Route>): void {
  const next = nextAddress(change);
  if (next === location.hash) return;
  history.replaceState(history.state, '', next);
  follow();
}

addEventListener('popstate', follow);
addEventListener('hashchange', follow);
