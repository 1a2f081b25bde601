import { type ProjectState, type Route, route, toggleInspectorPane, useInspectorRoom, useNavigation, useProject, useUi } from '../state';

/** Whether a view has the inspector beside it: those of one commit, and a ticket. Others show the facts themselves or need the width. */
const inspects = ({ view, ticket }: Route): boolean =>
  ['chain', 'context', 'replay', 'run'].includes(view) || (view === 'reviews' && ticket !== undefined);

const hasInspector = (at: Route, project: ProjectState): boolean =>
  project.phase !== 'none' && project.phase !== 'failed' && inspects(at) && !(project.phase === 'open' && project.info.counts.commits === 0);

/** How the inspector is shown beside the current view; undefined if the view has no inspector. */
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
