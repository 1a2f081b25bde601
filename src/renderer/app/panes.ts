import { type Route, route, type Side, togglePane, useNavigation, useProject, useRoom, useUi, type ViewName } from '../state';

/** The views that show a commit. Each begins at the newest one, and has the inspector beside it. */
export const viewsOfCommits: ReadonlySet<ViewName> = new Set(['chain', 'context', 'request', 'replay', 'run', 'compose']);

/** Beside these the inspector shows what is selected, too; the others need the room, and have nothing to inspect. */
const inspects = ({ view, commit, space, ticket }: Route): boolean =>
  viewsOfCommits.has(view) ||
  view === 'diff' ||
  (view === 'timeline' && (space === undefined || commit !== undefined)) ||
  (view === 'reviews' && ticket !== undefined);

const hasPane = { left: ({ view }: Route): boolean => view !== 'library', right: inspects };

/** How a pane stands: undefined where the view has none. */
type PaneState = 'beside' | 'drawer' | 'hidden' | undefined;

export const usePanes = (): Readonly<Record<Side, PaneState>> => ({ left: usePane('left'), right: usePane('right') });

function usePane(side: Side): PaneState {
  const hasRoom = useRoom(side);
  const isEmpty = useProject(({ state }) => state.phase === 'open' && state.info.counts.commits === 0);
  const has = useNavigation((state) => hasPane[side](state.route)) && !(side === 'right' && isEmpty);
  const isOut = useUi(({ leftHidden, rightHidden, drawer }) => (hasRoom ? !(side === 'left' ? leftHidden : rightHidden) : drawer === side));
  if (!has) return undefined;
  return isOut ? (hasRoom ? 'beside' : 'drawer') : 'hidden';
}

/** Shows or hides a pane, where the view has it. */
export function toggle(side: Side): void {
  if (hasPane[side](route())) togglePane(side);
}
