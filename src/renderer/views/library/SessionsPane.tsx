import { useVirtualizer } from '@tanstack/react-virtual';
import { FolderInput, GitBranch, Library, MessagesSquare } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Loading, problemOf, say } from '../../parts';
import { go, useKept, useNavigation, useProject, useQuery } from '../../state';
import { showSession } from './act';
import { sessionOfSubagent } from './groups';
import { Projects } from './Projects';

/** The left pane: the sessions of the open project, and the other projects. */
export function SessionsPane() {
  const revision = useProject((state) => state.revision);
  const [words, setWords] = useState('');
  const query = useKept(useQuery(`sources ${revision}`, () => api.source.list({})));
  const needle = words.trim().toLowerCase();
  const all = query.status === 'done' ? query.data : none;
  const sources = useMemo(() => newestFirst(all), [all]);
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
        {query.status === 'done' && <SessionList sources={shown} total={sources.length} />}
      </section>
      <Projects compact />
    </div>
  );
}

const none: readonly Source[] = [];

/** Those of subagents are left out: their chains show beside the session that started them. */
function newestFirst(all: readonly Source[]): readonly Source[] {
  const paths = new Set(all.map(({ path }) => path));
  const lastWord = ({ holds, importedAt }: Source): string => holds?.endedAt ?? importedAt;
  return all
    .filter(({ path }) => !paths.has(sessionOfSubagent(path) ?? ''))
    .sort((a, b) => (lastWord(a) < lastWord(b) ? 1 : lastWord(a) > lastWord(b) ? -1 : 0));
}

const rowHeight = 46;

/** All sessions in one row, then each: only those in sight are drawn, for a project may hold thousands. */
function SessionList({ sources, total }: { sources: readonly Source[]; total: number }) {
  const chosen = useNavigation(({ route }) => route.session);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: sources.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (n) => sources[n]?.sourceId ?? n,
    overscan: 8,
  });
  return (
    <>
      <button
        type="button"
        className="session"
        aria-current={!chosen || undefined}
        onClick={() => go({ view: 'chain', session: undefined, commit: undefined, against: undefined, entry: undefined })}
      >
        <Library size={14} aria-hidden />
        <span className="ellipsis grow">All sessions</span>
        <span className="muted">{total}</span>
      </button>
      <div ref={scroller} className="session-scroller">
        <ul style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const source = sources[item.index];
            return (
              source && (
                <li key={item.key} style={{ top: item.start, height: item.size }}>
                  <SessionButton source={source} chosen={source.sessionId !== undefined && source.sessionId === chosen} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </>
  );
}

function SessionButton({ source, chosen }: { source: Source; chosen: boolean }) {
  return (
    <button type="button" className="session two-lines" aria-current={chosen || undefined} title={source.path} onClick={() => showSession(source)}>
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
