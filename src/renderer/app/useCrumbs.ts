import type { CommitPlace, ContextId, SessionRow } from '../../core/contract/index.js';
import { type MenuEntry, repositoryNames, say } from '../parts';
import { go, isPage, type Route, useCommitInView, useNavigation, useOpenDir, usePlace, useProject, useSessionList } from '../state';
import { projectName, useProjectItems } from './Rail';
import { findPlace, firstViewIn, places, requireView } from './views';

export interface Crumb {
  readonly kind: 'Project' | 'Place' | 'Repository' | 'Session' | 'Branch' | 'Turn' | 'Page';
  readonly name: string;
  readonly to: Partial<Route>;
  readonly items: readonly MenuEntry[];
}

const maxSiblings = 25;

/** The parts of the breadcrumb: repository, session, branch and turn if a commit is shown, else the project and the place. */
export function useCrumbs(): readonly Crumb[] {
  const { route } = useNavigation();
  const project = useProject(({ state }) => state);
  const projects = useProjectItems();
  const ofCommit = useCommitCrumbs(useCommitInView());
  const place = findPlace(route);
  const title = places.find(({ id }) => id === place)?.title ?? '';
  const here: Crumb = {
    kind: 'Place',
    name: title,
    to: { view: firstViewIn(place) },
    items: places.map(({ id, title: name, icon }) => ({ name, icon, act: () => go({ view: firstViewIn(id) }) })),
  };
  const page: Crumb[] = isPage(route.view) ? [{ kind: 'Page', name: requireView(route.view).title, to: {}, items: [] }] : [];
  return ['chain', 'context', 'calls', 'replay'].includes(place) && ofCommit.length > 0
    ? [...ofCommit, ...page]
    : [{ kind: 'Project', name: projectName(project), to: { view: 'sessions' }, items: projects }, here, ...page];
}

function useCommitCrumbs(commit: ContextId | undefined): readonly Crumb[] {
  const dir = useOpenDir();
  const found = usePlace(dir, commit);
  // The menus list the newest sessions.
  const listed = useSessionList(commit && dir, { isWhole: false });
  if (!commit || found.status !== 'done') return [];
  return crumbsOf(found.data, listed.status === 'done' ? listed.data.sessions : []);
}

const atCommit = (commit: ContextId | undefined): Partial<Route> => ({ commit, against: undefined, entry: undefined, stop: undefined });
const openSession = ({ sessionId, tips }: SessionRow): void => go({ session: sessionId, ...atCommit(tips[0]) });
const openCommit = (commit: ContextId): void => go(atCommit(commit));

function crumbsOf(place: CommitPlace, sessions: readonly SessionRow[]): readonly Crumb[] {
  const { sessionId, title, repository, branch, branches, turn, turns } = place;
  const top = sessions.filter(({ parentSessionId }) => parentSessionId === undefined);
  const repositories = [...new Set(top.flatMap((one) => one.repository ?? []))];
  const names = repositoryNames(repository === null ? repositories : [...repositories, repository]);
  const near = top.filter((one) => one.repository === repository);
  const own = turn ? turns.findIndex(({ number }) => number === turn.number) : -1;
  const at = own < 0 ? turns.length - 1 : own;
  const from = Math.max(0, Math.min(at - Math.floor(maxSiblings / 2), turns.length - maxSiblings));
  const crumbs: (Crumb | false)[] = [
    repository !== null && {
      kind: 'Repository',
      name: names.get(repository) ?? repository,
      to: { view: 'sessions' },
      items: repositories.slice(0, maxSiblings).flatMap((path) => {
        const newest = top.find((one) => one.repository === path);
        return newest ? [{ name: names.get(path) ?? path, act: () => openSession(newest) }] : [];
      }),
    },
    sessionId !== null &&
      title !== null && {
        kind: 'Session',
        name: say.firstLine(title, 90),
        to: { view: 'chain', session: sessionId },
        items: near.slice(0, maxSiblings).map((one) => ({ name: say.firstLine(one.title, 70), act: () => openSession(one) })),
      },
    {
      kind: 'Branch',
      name: say.firstLine(branch.title, 50),
      to: atCommit(branch.tip),
      items: branches.slice(0, maxSiblings).map((one) => ({ name: say.firstLine(one.title, 60), act: () => openCommit(one.tip) })),
    },
    turn !== null && {
      kind: 'Turn',
      name: `Turn ${turn.number} of ${turn.of}`,
      to: { view: 'context', ...atCommit(turns[at]?.commit) },
      items: turns
        .slice(from, from + maxSiblings)
        .map((one) => ({ name: `Turn ${one.number}: ${say.firstLine(one.title, 60)}`, act: () => openCommit(one.commit) })),
    },
  ];
  return crumbs.filter((crumb) => crumb !== false);
}
