import { FolderSearch, GitGraph, Import, Sparkles } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { FoundSource, Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agents, Button, Empty, say } from '../../parts';
import { useKept, useOpenDir, useProject, useQuery } from '../../state';
import { importPaths, openSample, showSession } from './act';
import { sessionsOf } from './groups';
import { OpenPath, Projects } from './Projects';
import { Sessions } from './Sessions';

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
  const into = useProject(({ state }) => (state.phase === 'open' ? state.info.name : undefined));
  return (
    <>
      <header className="library-sources">
        <p className="muted library-promise">
          {held.length === 0 && 'Found on this machine. An import reads these files and changes none of them; nothing leaves the machine. '}
          {into && (
            <>
              Imports go into <b>{into}</b>.
            </>
          )}
        </p>
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
              {...(one.root === root && { look: 'primary' as const })}
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
