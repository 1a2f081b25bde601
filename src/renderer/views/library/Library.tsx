import { useVirtualizer } from '@tanstack/react-virtual';
import {
  Bot,
  ChevronRight,
  FileInput,
  FolderOpen,
  FolderPlus,
  FolderSearch,
  GitBranch,
  GitGraph,
  Import,
  Scissors,
  Sparkles,
  TriangleAlert,
} from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { FoundSource, Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agents, Button, Empty, Loading, notifyProblem, placeByKey, problemOf, say } from '../../parts';
import { useKept, useOpenDir, useProject, useQuery } from '../../state';
import { importPaths, openSample, showProject, showSession } from './act';
import { groupSessions, type ListedSession, sessionsOf } from './groups';

/** The first page: histories found on this machine, projects, and the ways in. */
export function LibraryView() {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const found = useQuery('found', () => api.library.sources({}));
  const held = useKept(
    useQuery(dir ? `sources ${revision}` : null, () => api.source.list({})),
    dir,
  );
  const sources = held.status === 'done' ? held.data : [];
  return (
    <section className="library" aria-label="Library">
      <div className="library-side">
        <Projects />
        <OpenPath />
      </div>
      <div className="library-main">
        <Answer
          query={found}
          what="The histories on this machine cannot be listed"
          loading="Looking for histories"
          stillWorks="You can still type a path, drop files, or open a project."
        >
          {(places) =>
            places.some((place) => place.sessions > 0) || sources.length > 0 ? (
              <Places found={places} held={sources} key={dir} revision={revision} />
            ) : (
              <NothingFound sources={places} />
            )
          }
        </Answer>
      </div>
    </section>
  );
}

function NothingFound({ sources }: { sources: readonly FoundSource[] }) {
  return (
    <Empty
      title="No agent histories were found on this machine"
      picture={<FolderSearch size={56} strokeWidth={1} />}
      actions={
        <Button look="primary" icon={Sparkles} onClick={() => void openSample()}>
          Open the sample project
        </Button>
      }
    >
      {sources.length > 0
        ? `Stemma looked in ${sources.map((source) => source.root).join(', ')}.${sources.some((source) => source.problem) ? ` ${sources.map((source) => source.problem).join(' ')}` : ''} `
        : ''}
      Type a path or drop a session file anywhere, or see what it is like with the sample: branches, a compaction and a subagent.
    </Empty>
  );
}

interface PlacesProps {
  readonly found: readonly FoundSource[];
  readonly held: readonly Source[];
  readonly revision: number;
}

/** Where sessions are: places of agents on this machine, and the open project; and the sessions of the chosen one. */
function Places({ found, held, revision }: PlacesProps) {
  const firstFull = found.find((source) => source.sessions > 0)?.root;
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const root = chosen === undefined ? (firstFull ?? null) : chosen;
  return (
    <>
      <header className="library-sources">
        {found.map((one) => (
          <div key={one.root} className={`library-source${one.root === root ? ' chosen' : ''}`}>
            <button
              type="button"
              className="library-source-name"
              aria-pressed={one.root === root}
              onClick={() => setChosen(one.root)}
              title={one.root}
            >
              <b>{agents[one.agent].name}</b>
              <span className="muted">
                {say.plural(one.sessions, 'session')}
                {one.projects !== undefined && ` · ${say.plural(one.projects, 'project')}`} · {say.bytes(one.bytes)}
              </span>
              <span className="muted mono ellipsis">{one.root}</span>
              {one.problem && <span className="problem">{one.problem}</span>}
            </button>
            <Button
              look="primary"
              icon={Import}
              disabled={one.sessions === 0}
              onClick={() => void importPaths(one.folders, true)}
              title={`Import everything in ${one.root}`}
            >
              Import all
            </Button>
          </div>
        ))}
        {held.length > 0 && <HeldPlace held={held} chosen={root === null} onChoose={() => setChosen(null)} />}
      </header>
      {root === null ? <HeldSessions held={held} /> : <FoundSessions key={`${root} ${revision}`} root={root} />}
    </>
  );
}

function HeldPlace({ held, chosen, onChoose }: { held: readonly Source[]; chosen: boolean; onChoose: () => void }) {
  const name = useProject(({ state }) => (state.phase === 'open' ? state.info.name : ''));
  return (
    <div className={`library-source${chosen ? ' chosen' : ''}`}>
      <button type="button" className="library-source-name" aria-pressed={chosen} onClick={onChoose}>
        <b>{name}</b>
        <span className="muted">
          {say.plural(held.length, 'file')} imported · {say.bytes(held.reduce((sum, source) => sum + source.bytes, 0))}
        </span>
      </button>
      <Button icon={GitGraph} onClick={() => showSession(undefined)}>
        Open the chain
      </Button>
    </div>
  );
}

function HeldSessions({ held }: { held: readonly Source[] }) {
  const sessions = useMemo(() => sessionsOf(held), [held]);
  return (
    <Sessions label="Sessions of the open project" sessions={sessions} onOpen={(path) => showSession(held.find((source) => source.path === path))} />
  );
}

function FoundSessions({ root }: { root: string }) {
  const sessions = useQuery(`sessions ${root}`, () => api.library.sessions({ root }));
  return (
    <Answer query={sessions} what={`The sessions in ${root} cannot be listed`} loading="Reading the list of sessions" lines={12}>
      {(list) => (
        <Sessions
          label="Sessions found on this machine"
          sessions={list}
          onOpen={(path) => void importPaths([path], true)}
          onImport={(paths) => void importPaths(paths, true)}
        />
      )}
    </Answer>
  );
}

const folderHeight = 32;
const rowHeight = 28;

interface SessionsProps {
  readonly label: string;
  readonly sessions: readonly ListedSession[];
  readonly onOpen: (path: string) => void;
  /** Where several can be taken in at once; without it the list has nothing to choose. */
  readonly onImport?: (paths: readonly string[]) => void;
}

function Sessions({ label, sessions, onOpen, onImport }: SessionsProps) {
  const [words, setWords] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(-1);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => groupSessions(sessions, words, closed), [sessions, words, closed]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => (rows[n]?.kind === 'folder' ? folderHeight : rowHeight),
    getItemKey: (n) => rows[n]?.key ?? n,
    overscan: 12,
  });
  const toggleFolder = (cwd: string) => setClosed(toggled(closed, cwd));
  const toggleChosen = (path: string) => setChosen(toggled(chosen, path));
  const open = (n: number) => {
    const row = rows[n];
    if (row?.kind === 'folder') toggleFolder(row.cwd);
    if (row?.kind === 'session') onOpen(row.session.path);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = placeByKey(event, at, rows.length);
    const row = rows[at];
    if (next !== undefined) {
      setAt(next);
      virtual.scrollToIndex(next, { align: 'auto' });
    } else if (event.key === 'Enter') open(at);
    else if (event.key === ' ' && row?.kind === 'session' && onImport) toggleChosen(row.session.path);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="library-tools">
        <input
          type="search"
          data-filter
          className="field grow"
          placeholder="Filter sessions  /"
          aria-label="Filter sessions"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(-1);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setWords('');
            if (event.key === 'Enter' || event.key === 'ArrowDown') scroller.current?.focus();
          }}
        />
        {onImport && chosen.size > 0 && (
          <>
            <Button small look="plain" onClick={() => setChosen(new Set())}>
              Clear
            </Button>
            <Button
              small
              look="primary"
              icon={Import}
              onClick={() => {
                onImport([...chosen]);
                setChosen(new Set());
              }}
            >
              Import {say.exact(chosen.size)} chosen
            </Button>
          </>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty title="No session holds these words" actions={<Button onClick={() => setWords('')}>Clear the filter</Button>} />
      ) : (
        <div
          ref={scroller}
          data-list
          className="library-list"
          role="tree"
          aria-label={label}
          aria-multiselectable={onImport !== undefined}
          tabIndex={0}
          onKeyDown={onKeyDown}
          aria-activedescendant={at >= 0 ? `found-${at}` : undefined}
        >
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
            {/* biome-ignore lint/suspicious/useIterableCallbackReturn: the union is closed, and the compiler holds it */}
            {virtual.getVirtualItems().map((item) => {
              const row = rows[item.index];
              if (!row) return null;
              const place = { top: item.start, height: item.size };
              const active = item.index === at ? ' active' : '';
              switch (row.kind) {
                case 'folder':
                  return (
                    <div
                      key={row.key}
                      id={`found-${item.index}`}
                      role="treeitem"
                      aria-level={1}
                      aria-expanded={row.open}
                      aria-selected={false}
                      tabIndex={-1}
                      className={`library-folder${active}`}
                      style={place}
                      onClick={() => toggleFolder(row.cwd)}
                      onKeyDown={() => {}}
                    >
                      <ChevronRight size={14} aria-hidden className={row.open ? 'turned' : undefined} />
                      <b className="ellipsis mono" title={row.cwd}>
                        {row.cwd}
                      </b>
                      <span className="muted">
                        {say.plural(row.sessions, 'session')} · {say.bytes(row.bytes)}
                      </span>
                    </div>
                  );
                case 'day':
                  return (
                    <div key={row.key} id={`found-${item.index}`} role="presentation" className="library-day" style={place}>
                      {row.day}
                    </div>
                  );
                case 'session':
                  return (
                    <SessionRow
                      key={row.key}
                      id={`found-${item.index}`}
                      session={row.session}
                      place={place}
                      active={item.index === at}
                      chosen={chosen.has(row.session.path)}
                      onChoose={onImport && (() => toggleChosen(row.session.path))}
                      onOpen={() => open(item.index)}
                    />
                  );
              }
            })}
          </div>
        </div>
      )}
    </>
  );
}

interface SessionRowProps {
  readonly id: string;
  readonly session: ListedSession;
  readonly place: React.CSSProperties;
  readonly active: boolean;
  readonly chosen: boolean;
  readonly onChoose?: (() => void) | undefined;
  readonly onOpen: () => void;
}

function SessionRow({ id, session, place, active, chosen, onChoose, onOpen }: SessionRowProps) {
  const title = session.title ? say.firstLine(session.title) : session.sessionId;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={2}
      aria-selected={chosen}
      tabIndex={-1}
      className={`library-session${active ? ' active' : ''}${chosen ? ' chosen' : ''}`}
      style={place}
      title={session.path}
      onClick={onChoose ?? onOpen}
      onDoubleClick={onChoose && onOpen}
      onKeyDown={() => {}}
    >
      {onChoose && <input type="checkbox" tabIndex={-1} checked={chosen} readOnly aria-hidden />}
      <i className={`mark${session.imported ? ' imported' : ''}`} title={session.imported ? 'In the open project' : 'Not imported'}>
        <span className="unseen">{session.imported ? 'In the open project: ' : ''}</span>
      </i>
      <span className={`ellipsis grow${session.title ? '' : ' mono muted'}`}>{title}</span>
      {session.subagents > 0 && (
        <span className="muted library-agents" title={say.plural(session.subagents, 'subagent')}>
          <Bot size={12} aria-hidden /> {session.subagents}
        </span>
      )}
      {session.holds && <HeldMarks branches={session.branches ?? 1} holds={session.holds} />}
      <span className="muted library-size">{say.bytes(session.bytes)}</span>
      <time className="muted library-time" dateTime={session.modifiedAt} title={say.instant(session.modifiedAt)}>
        {say.when(session.modifiedAt)}
      </time>
      <Button
        small
        tabIndex={-1}
        className="library-import"
        onClick={(event) => {
          event.stopPropagation();
          onOpen();
        }}
      >
        {session.imported ? 'Open' : 'Import'}
      </Button>
    </div>
  );
}

/** What a session went through, as small marks: only what happened shows. */
function HeldMarks({ branches, holds }: { branches: number; holds: NonNullable<ListedSession['holds']> }) {
  return (
    <span className="muted library-marks">
      <span title={`${say.plural(holds.commits, 'commit')}, ${say.plural(holds.messages, 'message')}`}>{say.plural(holds.commits, 'commit')}</span>
      {branches > 1 && (
        <span title={say.plural(branches, 'branch', 'branches')}>
          <GitBranch size={12} aria-hidden /> {branches}
        </span>
      )}
      {holds.compactions > 0 && (
        <span title={say.plural(holds.compactions, 'compaction')}>
          <Scissors size={12} aria-hidden /> {holds.compactions}
        </span>
      )}
      {holds.errors > 0 && (
        <span className="problem" title={say.plural(holds.errors, 'error')}>
          <TriangleAlert size={12} aria-hidden /> {holds.errors}
        </span>
      )}
    </span>
  );
}

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

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
function OpenPath() {
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
