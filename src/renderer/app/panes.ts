import { type ProjectState, type Route, route, type Side, togglePane, useNavigation, useProject, useRoom, useUi, type ViewName } from '../state';

/** The views that show a commit. Each begins at the newest one, and has the inspector beside it. */
export const viewsOfCommits: ReadonlySet<ViewName> = new Set(['chain', 'context', 'request', 'replay', 'run', 'compose']);

/** Beside these the inspector shows what is selected, too; the others need the room, and have nothing to inspect. */
const inspects = ({ view, commit, space, ticket }: Route): boolean =>
  viewsOfCommits.has(view) ||
  view === 'diff' ||
  (view === 'timeline' && (space === undefined || commit !== undefined)) ||
  (view === 'reviews' && ticket !== undefined);

/** Whether a pane has something to show: a project that is not there has no sessions, one without commits nothing to inspect. */
function hasPane(side: Side, at: Route, project: ProjectState): boolean {
  if (project.phase === 'none' || project.phase === 'failed') return false;
  if (side === 'left') return at.view !== 'library';
  return inspects(at) && !(project.phase === 'open' && project.info.counts.commits === 0);
}

/** How a pane stands: undefined where the view has none. */
type PaneState = 'beside' | 'drawer' | 'hidden' | undefined;

export const usePanes = (): Readonly<Record<Side, PaneState>> => ({ left: usePane('left'), right: usePane('right') });

function usePane(side: Side): PaneState {
  const hasRoom = useRoom(side);
  const { route: at } = useNavigation();
  const { state } = useProject();
  const isOut = useUi(({ leftHidden, rightHidden, drawer }) => (hasRoom ? !(side === 'left' ? leftHidden : rightHidden) : drawer === side));
  if (!hasPane(side, at, state)) return undefined;
  return isOut ? (hasRoom ? 'beside' : 'drawer') : 'hidden';
}

/** Shows or hides a pane, where there is one. */
export function toggle(side: Side): void {
  if (hasPane(side, route(), useProject.getState().state)) togglePane(side);
}
