import {
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  FolderOpen,
  Keyboard,
  Library,
  Moon,
  PanelLeft,
  PanelRight,
  RotateCcw,
  Search,
  Sun,
  SunMoon,
} from 'lucide-react';
import { type DragEvent, Suspense, useEffect, useState } from 'react';
import { api, useConnection } from '../client';
import { Button, Empty, Failure, IconButton, Loading, MenuButton, notifyProblem } from '../parts';
import {
  followAddress,
  go,
  listen,
  move,
  noticeChanges,
  notify,
  type Route,
  setTheme,
  show,
  type ThemeChoice,
  useNavigation,
  useOpenDir,
  useProject,
  useQuery,
  useUi,
} from '../state';
import { ChainView } from '../views/chain';
import { ContextView } from '../views/context';
import { importPaths, LibraryView, openSample, pathsOfDrop, showProject } from '../views/library';
import { Boundary } from './Boundary';
import { CaptureControl } from './Capture';
import { Frame } from './Frame';
import { useKeys, useTitle } from './keys';
import {
  BoxesView,
  ComposeView,
  DiffView,
  ExperimentsView,
  HandoverView,
  loadViews,
  ReplayView,
  RequestView,
  ReviewsView,
  RunView,
  StorageView,
  TimelineView,
} from './later';
import { toggle, usePanes, viewsOfCommits } from './panes';
import { Sheets } from './Sheets';
import { StatusBar } from './StatusBar';
import { Tabs } from './Tabs';

export function App() {
  const current = useNavigation(({ route }) => route);
  const project = useProject(({ state }) => state);
  const dropping = useDrop();
  useKeys();
  useStartup();
  useEffect(loadViews, []);
  useTitle(project.phase === 'open' ? project.info.name : undefined);

  useEffect(() => {
    const onFocus = () => void noticeChanges();
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, []);

  // What comes into the project shows by itself.
  const openDir = useOpenDir();
  const line = useConnection(({ state }) => state.phase === 'open');
  useEffect(() => {
    if (openDir && line) void listen();
  }, [openDir, line]);

  // The engine's session follows the address, whoever changed it.
  useEffect(() => {
    const { state } = useProject.getState();
    const open = state.phase === 'none' ? undefined : state.dir;
    if (current.project !== open) void followAddress();
  }, [current.project]);

  return (
    <div className="app">
      <TopBar />
      <Offline />
      <Tabs />
      <Frame>
        <Center />
      </Frame>
      <StatusBar />
      <Sheets />
      {dropping && (
        <div className="drop-hint" aria-hidden>
          <p>Drop to import</p>
        </div>
      )}
    </div>
  );
}

function TopBar() {
  const { canBack, canForward } = useNavigation();
  const project = useProject(({ state }) => state);
  const recent = useQuery(project.phase, () => api.library.recent({}));
  const panes = usePanes();
  const name =
    project.phase === 'open' ? project.info.name : project.phase === 'none' ? 'No project' : (project.dir.split(/[\\/]/).at(-1) ?? project.dir);
  const others = recent.status === 'done' ? recent.data.filter((one) => !one.missing).slice(0, 10) : [];
  return (
    <header className="top-bar">
      {panes.left !== undefined && (
        <IconButton icon={PanelLeft} label="Sessions" keys="Ctrl B" aria-pressed={panes.left !== 'hidden'} onClick={() => toggle('left')} />
      )}
      <h1 className="brand">Stemma</h1>
      <span className="top-history">
        <IconButton small icon={ChevronLeft} label="Back" keys="Alt ←" disabled={!canBack} onClick={() => history.back()} />
        <IconButton small icon={ChevronRight} label="Forward" keys="Alt →" disabled={!canForward} onClick={() => history.forward()} />
      </span>
      <MenuButton
        label="Projects"
        button={
          <button type="button" className="button plain project-menu" title={project.phase === 'none' ? undefined : project.dir}>
            <span className="ellipsis">{name}</span>
            <ChevronDown size={13} aria-hidden />
          </button>
        }
        items={[
          ...others.map((one) => ({ name: one.name, icon: FolderOpen, act: () => showProject(one.dir) })),
          ...(others.length > 0 ? (['line'] as const) : []),
          { name: 'Library', icon: Library, keys: 'g l', act: () => go({ view: 'library' }) },
        ]}
      />
      <button type="button" className="search-box" onClick={() => show({ kind: 'palette' })}>
        <Search size={14} aria-hidden />
        <span className="grow ellipsis">Search or jump…</span>
        <kbd>Ctrl K</kbd>
      </button>
      {project.phase === 'open' && <CaptureControl />}
      <ThemeButton />
      <IconButton icon={Keyboard} label="Keyboard" keys="?" onClick={() => show({ kind: 'keys' })} />
      {panes.right !== undefined && (
        <IconButton icon={PanelRight} label="Inspector" keys="Ctrl J" aria-pressed={panes.right !== 'hidden'} onClick={() => toggle('right')} />
      )}
    </header>
  );
}

const nextTheme: Record<ThemeChoice, ThemeChoice> = { system: 'light', light: 'dark', dark: 'system' };
const themeIcons = { system: SunMoon, light: Sun, dark: Moon } as const;
const themeNames = { system: 'as the system', light: 'light', dark: 'dark' } as const;

function ThemeButton() {
  const theme = useUi((ui) => ui.theme);
  return <IconButton icon={themeIcons[theme]} label={`Theme: ${themeNames[theme]}`} onClick={() => setTheme(nextTheme[theme])} />;
}

/** The engine went away: what is on the screen stays, what needs the engine waits. */
function Offline() {
  const { state, retry } = useConnection();
  const [waited, setWaited] = useState(false);
  const away = state.phase === 'lost' || (state.phase === 'connecting' && state.attempt > 0);
  useEffect(() => {
    if (!away) return setWaited(false);
    const timer = setTimeout(() => setWaited(true), 300);
    return () => clearTimeout(timer);
  }, [away]);
  if (!away || !waited) return null;
  return (
    <div className="notice-line offline" role="alert">
      <span className="grow">
        {state.phase === 'lost' ? `${state.reason} ` : ''}What you see stays. Stemma is trying to reach the engine again; nothing that was stored is
        lost.{!window.stemma && ' If it was started again, open the link that it printed then.'}
      </span>
      <Button small icon={RotateCcw} onClick={retry} disabled={state.phase !== 'lost'}>
        Try now
      </Button>
    </div>
  );
}

function Center() {
  const route = useNavigation((state) => state.route);
  return (
    <section className="center" aria-label="View">
      <div className="view" id="view" role="tabpanel" aria-labelledby={`tab-${route.view}`}>
        <Boundary key={route.view} what="This view cannot be shown">
          <Suspense fallback={<Loading what="Loading the view" />}>
            {route.view === 'library' ? <LibraryView /> : <InProject route={route} />}
          </Suspense>
        </Boundary>
      </div>
    </section>
  );
}

/** A view of a project, or what stands in its place while there is none. */
function InProject({ route }: { route: Route }) {
  const { state } = useProject();
  const showsCommit = viewsOfCommits.has(route.view) || (route.view === 'timeline' && !route.space);
  useNewestCommit(state.phase === 'open' && showsCommit && !route.commit ? state.dir : undefined, route.session);
  switch (state.phase) {
    case 'none':
      return route.project ? <Loading what="Opening the project" /> : <NoProject />;
    case 'opening':
      return <Loading what={`Opening ${state.dir}`} lines={14} onCancel={() => go({ view: 'library', project: undefined })} />;
    case 'failed':
      return (
        <Failure
          what={`The project ${state.dir} cannot be opened`}
          error={state.error}
          stillWorks="Nothing in it was changed. Other projects still open."
          onRetry={() => void followAddress()}
          actions={<Button onClick={() => go({ view: 'library', project: undefined })}>Library</Button>}
        />
      );
    case 'open':
      switch (route.view) {
        case 'library':
          return null;
        case 'chain':
          return <ChainView key={`${state.dir} ${route.session ?? ''}`} project={state.dir} />;
        case 'context':
          return <ContextView project={state.dir} />;
        case 'request':
          return <RequestView project={state.dir} />;
        case 'diff':
          return <DiffView project={state.dir} />;
        case 'replay':
          return <ReplayView project={state.dir} />;
        case 'run':
          return <RunView project={state.dir} />;
        case 'experiments':
          return <ExperimentsView project={state.dir} />;
        case 'compose':
          return <ComposeView project={state.dir} />;
        case 'timeline':
          return <TimelineView project={state.dir} />;
        case 'boxes':
          return <BoxesView project={state.dir} />;
        case 'handover':
          return <HandoverView project={state.dir} />;
        case 'reviews':
          return <ReviewsView project={state.dir} />;
        case 'storage':
          return <StorageView project={state.dir} />;
      }
  }
}

/** Where a view shows a commit and the address names none, it is the newest: nobody starts at an empty page. */
function useNewestCommit(dir: string | undefined, session: string | undefined): void {
  useEffect(() => {
    if (dir === undefined) return;
    let stale = false;
    api.context.graph({ offset: 0, limit: 1, ...(session && { filter: { sessionId: session } }) }).then(({ rows }) => {
      const [newest] = rows;
      if (newest && !stale) move({ commit: newest.commit.id });
    }, notifyProblem);
    return () => {
      stale = true;
    };
  }, [dir, session]);
}

const NoProject = () => (
  <Empty
    title="No project is open"
    picture={<FolderOpen size={48} strokeWidth={1} />}
    actions={
      <>
        <Button look="primary" onClick={() => go({ view: 'library' })}>
          Go to the library
        </Button>
        <Button onClick={() => void openSample()}>Open the sample project</Button>
      </>
    }
  >
    Import a history of an agent or open a project, and its commits show here.
  </Empty>
);

let started = false;

/** What the engine was started with is opened once, unless the address already says where to go. */
function useStartup(): void {
  useEffect(() => {
    if (started) return;
    started = true;
    void (async () => {
      const { paths, project } = await api.library.startup({});
      // A reload keeps the address, and must not import the same again.
      if (sessionStorage.getItem('stemma.started')) return;
      sessionStorage.setItem('stemma.started', 'yes');
      const { route } = useNavigation.getState();
      if (project && !route.project) showProject(project);
      else if (!route.project) {
        // The project of last time is open behind the library: it knows what is imported, and one key leads to it.
        const last = (await api.library.recent({})).find((one) => !one.missing);
        if (last) move({ project: last.dir });
      }
      if (paths.length > 0) await importPaths(paths, true);
    })().catch(notifyProblem);
  }, []);
}

/** Files can be dropped anywhere. True while something hovers over the window. */
function useDrop(): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const carriesFiles = (event: globalThis.DragEvent | DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const enter = (event: globalThis.DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hover = (event: globalThis.DragEvent) => carriesFiles(event) && event.preventDefault();
    const drop = (event: globalThis.DragEvent) => {
      depth = 0;
      setOver(false);
      if (!event.dataTransfer || !carriesFiles(event)) return;
      event.preventDefault();
      pathsOfDrop(event.dataTransfer).then(({ paths, unknown }) => {
        if (unknown.length > 0) notify(`A browser does not say where ${unknown[0]} lies: type its path in the library.`);
        const projects = paths.filter((path) => path.endsWith('.stemma'));
        if (projects[0]) showProject(projects[0]);
        return importPaths(
          paths.filter((path) => !path.endsWith('.stemma')),
          true,
        );
      }, notifyProblem);
    };
    addEventListener('dragenter', enter);
    addEventListener('dragleave', leave);
    addEventListener('dragover', hover);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragenter', enter);
      removeEventListener('dragleave', leave);
      removeEventListener('dragover', hover);
      removeEventListener('drop', drop);
    };
  }, []);
  return over;
}
