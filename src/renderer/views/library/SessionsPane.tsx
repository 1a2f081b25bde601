import { FolderInput, GitBranch, Library, MessagesSquare } from 'lucide-react';
import { useState } from 'react';
import type { Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Loading, problemOf, say } from '../../parts';
import { go, useNavigation, useProject, useQuery } from '../../state';
import { sessionOfSubagent } from './groups';
import { Projects } from './Library';

/** The left pane: the sessions of the open project, and the other projects. */
export function SessionsPane() {
  const revision = useProject((state) => state.revision);
  const chosen = useNavigation(({ route }) => route.session);
  const [words, setWords] = useState('');
  const query = useQuery(`sources ${revision}`, () => api.source.list({}));
  const needle = words.trim().toLowerCase();
  const all = query.status === 'done' ? query.data : [];
  const paths = new Set(all.map((source) => source.path));
  const sources = all.filter(({ path }) => !paths.has(sessionOfSubagent(path) ?? ''));
  const shown = needle ? sources.filter((source) => `${source.title ?? ''}\n${source.path}`.toLowerCase().includes(needle)) : sources;
  return (
    <div className="sessions-pane">
      <section aria-label="Sessions of this project" className="sessions">
        <header>
          <h2 className="grow">Sessions</h2>
          <Button small look="plain" icon={FolderInput} onClick={() => go({ view: 'library' })}>
            Import
          </Button>
        </header>
        {sources.length > 6 && (
          <input
            type="search"
            className="field"
            placeholder="Filter…"
            aria-label="Filter sessions of this project"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        )}
        {query.status === 'loading' && <Loading what="Reading the sessions" lines={4} />}
        {query.status === 'failed' && <p className="muted">The sessions cannot be listed: {problemOf(query.error).message}</p>}
        {query.status === 'done' && (
          <ul>
            <li>
              <button
                type="button"
                className="session"
                aria-current={!chosen || undefined}
                onClick={() => go({ view: 'chain', session: undefined, commit: undefined, against: undefined, entry: undefined })}
              >
                <Library size={14} aria-hidden />
                <span className="ellipsis grow">All sessions</span>
                <span className="muted">{sources.length}</span>
              </button>
            </li>
            {shown.map((source) => (
              <li key={source.sourceId}>
                <SessionButton source={source} chosen={source.sessionId !== undefined && source.sessionId === chosen} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <Projects compact />
    </div>
  );
}

function SessionButton({ source, chosen }: { source: Source; chosen: boolean }) {
  const tip = source.tips.at(-1);
  return (
    <button
      type="button"
      className="session two-lines"
      aria-current={chosen || undefined}
      title={source.path}
      onClick={() => go({ view: 'chain', session: source.sessionId, commit: tip, against: undefined, entry: undefined, stop: undefined })}
    >
      <MessagesSquare size={14} aria-hidden />
      <span className="grow">
        <span className="ellipsis">{source.title ? say.firstLine(source.title, 120) : (source.path.split(/[\\/]/).at(-1) ?? source.path)}</span>
        <span className="muted session-facts">
          {say.bytes(source.bytes)}
          {source.tips.length > 1 && (
            <>
              {' · '}
              <GitBranch size={11} aria-hidden /> {source.tips.length}
            </>
          )}
        </span>
      </span>
    </button>
  );
}
