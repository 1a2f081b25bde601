import { type ProjectState, type Route, route, toggleInspectorPane, useInspectorRoom, useNavigation, useProject, useUi } from '../state';
import { viewOf } from './views';

/** Whether the inspector belongs beside the view: always beside views of a commit, elsewhere only where something is selected. */
const inspects = ({ view, commit, space, ticket }: Route): boolean =>
  // Calls shows the selected call in a panel of its own.
  (viewOf(view).needs === 'commit' && view !== 'calls') ||
  view === 'compare' ||
  (view === 'timeline' && space === undefined && commit !== undefined) ||
  (view === 'reviews' && ticket !== undefined);

/** Whether the inspector has something to show. */
const hasInspector = (at: Route, project: ProjectState): boolean =>
  project.phase !== 'none' && project.phase !== 'failed' && inspects(at) && !(project.phase === 'open' && project.info.counts.commits === 0);

/** How the inspector is shown beside the current view; undefined where the view has none. */
export function useInspector(): 'beside' | 'drawer' | 'hidden' | undefined {
  const hasRoom = useInspectorRoom();
  const { route: at } = useNavigation();
  const { state } = useProject();
  const isOut = useUi(({ inspectorHidden, drawer }) => (hasRoom ? !inspectorHidden : drawer));
  if (!hasInspector(at, state)) return undefined;
  return isOut ? (hasRoom ? 'beside' : 'drawer') : 'hidden';
}

/** Shows or hides the inspector, if the view has one. */
export function toggleInspector(): void {
  if (hasInspector(route(), useProject.getState().state)) toggleInspectorPane();
}
