import { FileInput, FolderOpen, FolderPlus, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, Loading, notifyProblem, problemOf, say } from '../../parts';
import { useKept, useOpenDir, useProject, useQuery } from '../../state';
import { importPaths, openSample, showProject } from './act';

/** Projects opened before, the sample, and a new one. */
export function Projects({ compact = false }: { compact?: boolean }) {
  const revision = useProject((state) => state.revision);
  const openDir = useOpenDir();
  const recent = useKept(useQuery(`recent ${revision}`, () => api.library.recent({})));
  return (
    <section aria-label="Projects" className="projects">
      <h2>Projects</h2>
      {recent.status === 'loading' && !compact && <Loading what="Reading the list of projects" lines={3} />}
      {recent.status === 'failed' && <p className="muted">The list cannot be read: {problemOf(recent.error).message}</p>}
      {recent.status === 'done' && (
        <ul>
          {recent.data.map((project) => (
            <li key={project.dir}>
              <button
                type="button"
                className={`project${project.dir === openDir ? ' chosen' : ''}`}
                title={project.missing ? `${project.dir}\nThe folder is not there any more.` : project.dir}
                aria-current={project.dir === openDir || undefined}
                disabled={project.missing}
                onClick={() => showProject(project.dir)}
              >
                <FolderOpen size={14} aria-hidden />
                <span className="ellipsis grow">{project.name}</span>
                <span className="muted">{project.missing ? 'missing' : say.day(project.openedAt)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {recent.status === 'done' && recent.data.length === 0 && <p className="muted">None opened yet.</p>}
      {!(recent.status === 'done' && recent.data.some((project) => /[\\/]Sample\.stemma$/.test(project.dir))) && (
        <button type="button" className="project" onClick={() => void openSample()}>
          <Sparkles size={14} aria-hidden />
          Sample project
        </button>
      )}
      {!compact && <NewProject />}
    </section>
  );
}

function NewProject() {
  const [open, setOpen] = useState(false);
  const [dir, setDir] = useState('');
  if (!open) {
    return (
      <button type="button" className="project" onClick={() => setOpen(true)}>
        <FolderPlus size={14} aria-hidden />
        New project…
      </button>
    );
  }
  const create = async () => {
    const path = dir.trim().replace(/[\\/]+$/, '');
    if (!path) return;
    try {
      const info = await api.project.create({ dir: path.endsWith('.stemma') ? path : `${path}.stemma` });
      setOpen(false);
      showProject(info.dir);
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <form
      className="path-form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: opened to be typed into
        autoFocus
        className="field grow mono"
        placeholder="/path/to/Name"
        aria-label="Folder of the new project"
        value={dir}
        onChange={(event) => setDir(event.target.value)}
      />
      <Button type="submit">Create</Button>
    </form>
  );
}

/** The way in for what is not found by itself: a path of a session, a folder of sessions, or a project. */
export function OpenPath() {
  const [path, setPath] = useState('');
  const open = () => {
    const wanted = path.trim();
    if (!wanted) return;
    if (/\.stemma[\\/]?$/.test(wanted)) showProject(wanted.replace(/[\\/]+$/, ''));
    else void importPaths([wanted], true);
    setPath('');
  };
  return (
    <section aria-label="Open a path" className="open-path">
      <h2>Open or import</h2>
      <form
        className="path-form"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <input
          className="field grow mono"
          placeholder="/path/to/session.jsonl"
          aria-label="Path to import or open"
          value={path}
          onChange={(event) => setPath(event.target.value)}
        />
        <Button type="submit" icon={FileInput} disabled={!path.trim()}>
          Open
        </Button>
      </form>
      <p className="muted">A session, a folder of sessions, or a .stemma project. Files can be dropped anywhere.</p>
    </section>
  );
}
