import { type Route, route, togglePane, useNarrow, useNavigation, useUi, type ViewName } from '../state';

/** The views that show a commit. Each begins at the newest one, and has the inspector beside it. */
export const viewsOfCommits: ReadonlySet<ViewName> = new Set(['chain', 'context', 'request', 'replay', 'run', 'compose']);

/** Beside these the inspector shows what is selected, too; the others need the room, and have nothing to inspect. */
const inspects = ({ view, commit, space, ticket }: Route): boolean =>
  viewsOfCommits.has(view) ||
  view === 'diff' ||
  (view === 'timeline' && (space === undefined || commit !== undefined)) ||
  (view === 'reviews' && ticket !== undefined);

const hasPane = { left: ({ view }: Route): boolean => view !== 'library', right: inspects };

/** Which panes are out: undefined where the view has no such pane. */
export function usePanes(): { readonly narrow: boolean; readonly left: boolean | undefined; readonly right: boolean | undefined } {
  const narrow = useNarrow();
  const { leftHidden, rightHidden, drawer } = useUi();
  const hasLeft = useNavigation((state) => hasPane.left(state.route));
  const hasRight = useNavigation((state) => hasPane.right(state.route));
  return {
    narrow,
    left: hasLeft ? (narrow ? drawer === 'left' : !leftHidden) : undefined,
    right: hasRight ? (narrow ? drawer === 'right' : !rightHidden) : undefined,
  };
}

/** Shows or hides a pane, where the view has it. */
export function toggle(side: 'left' | 'right'): void {
  if (hasPane[side](route())) togglePane(side);
}
