import { Braces, ChevronDown, CloudDownload, FilePlus2, FolderInput, FolderOpen, Sparkles } from 'lucide-react';
import { api } from '../client';
import { hubForm } from '../forms';
import { MenuButton, type MenuEntry } from '../parts';
import { ask, type ProjectState, placeLink, show, showProject, useNavigation, useProject, useQuery } from '../state';
import { openSample } from '../views/sessions';
import { CaptureControl } from './Capture';
import { findPlace, firstViewIn, places, type RailPlace } from './views';

/** Stemma's mark: a chain with two branches. */
const Mark = () => (
  <svg
    className="mark-stemma"
    width="20"
    height="20"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    aria-hidden="true"
  >
    <path d="M6 21V5M6 15c0-5 10-3 10-9" />
    <circle cx="6" cy="3.5" r="2" />
    <circle cx="16" cy="4.5" r="2" />
    <path d="M6 19c0-4 12-2 12-7" />
    <circle cx="18" cy="10.5" r="1.6" />
  </svg>
);

/** The places of the window, the project menu, live capture and the settings. */
export function Rail() {
  const project = useProject(({ state }) => state);
  const links = (isFoot: boolean) =>
    places.filter(({ id }) => (id === 'settings') === isFoot).map((place) => <PlaceLink key={place.id} place={place} />);
  return (
    <nav className="rail stack shrinks on-pane" aria-label="Places">
      <ProjectMenu project={project} />
      {links(false)}
      <div className="rail-foot">
        {project.phase === 'open' && <CaptureControl />}
        {links(true)}
      </div>
    </nav>
  );
}

/** A link to a place. It is a real link, so it can be copied and opened in a new window. */
function PlaceLink({ place: { id, title, icon: Glyph, digit, begins } }: { place: RailPlace }) {
  const route = useNavigation((state) => state.route);
  return (
    <>
      {begins && <hr />}
      <a
        className="place nav-link row"
        title={digit ? `${title} (${digit})` : title}
        aria-current={findPlace(route) === id ? 'page' : undefined}
        {...placeLink({ view: firstViewIn(id) })}
      >
        <Glyph size={16} aria-hidden />
        <span className="place-name">{title}</span>
        {digit && (
          <span className="place-digit" aria-hidden>
            {digit}
          </span>
        )}
      </a>
    </>
  );
}

/** The name of the open project, or of the folder that cannot be opened. */
export const projectName = (project: ProjectState): string =>
  project.phase === 'open' ? project.info.name : project.phase === 'none' ? 'No project' : (project.dir.split(/[\\/]/).at(-1) ?? project.dir);

/** Recent projects, and ways to open and make others. */
export function useProjectItems(): readonly MenuEntry[] {
  const phase = useProject(({ state }) => state.phase);
  const recent = useQuery(phase, () => api.library.recent({}));
  const others = recent.status === 'done' ? recent.data.filter((one) => !one.missing).slice(0, 10) : [];
  return [
    ...others.map((one) => ({ name: one.name, icon: FolderOpen, act: () => showProject(one.dir) })),
    ...(others.length > 0 ? (['line'] as const) : []),
    { name: 'New project…', icon: FilePlus2, act: () => show({ kind: 'newProject' }) },
    { name: 'Open from a hub…', icon: CloudDownload, act: () => ask(hubForm()) },
    { name: 'Open or import a path…', icon: FolderInput, act: () => show({ kind: 'openPath' }) },
    { name: 'Import with a mapping…', icon: Braces, act: () => show({ kind: 'mapping' }) },
    { name: 'Sample project', icon: Sparkles, act: () => void openSample() },
  ];
}

function ProjectMenu({ project }: { project: ProjectState }) {
  const items = useProjectItems();
  const name = projectName(project);
  return (
    <MenuButton
      label="Projects"
      align="start"
      button={
        <button type="button" className="brand rigid nowrap row" title={project.phase === 'none' ? 'Projects' : project.dir}>
          <Mark />
          <b>Stemma</b>
          <span className="unseen">Project:</span>
          <span className="ellipsis brand-project muted small">{name}</span>
          <ChevronDown size={12} aria-hidden />
        </button>
      }
      items={items}
    />
  );
}
