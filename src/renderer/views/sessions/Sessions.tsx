import { FolderSearch, Sparkles } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { FoundSource } from '../../../core/contract/index.js';
import { Button, describeProblem, Empty, Failure, Loading, ProblemLine, repositoryNames, say, toggled, Unread } from '../../parts';
import { useOpenDir, useProject } from '../../state';
import { openSample } from './act';
import { LiveSessions } from './LiveSessions';
import { about, BudgetNotice, CaptureOffer, NotOpened, RefusedFiles, Retention, SearchedPlaces, SumFoot, Welcome } from './Notes';
import type { RefusedHistory } from './refused';
import { arrangeRows, type Listed, narrow, type Order, type SessionNarrowing } from './rows';
import { SessionsBar } from './SessionsBar';
import { SessionTable } from './SessionTable';
import { type ContentHits, useContentSearch } from './useContentSearch';
import { useSessions } from './useSessions';

const wholeList: SessionNarrowing = {
  text: '',
  chosen: { agent: new Set(), repository: new Set(), model: new Set() },
  days: undefined,
  archived: false,
};

/** All sessions of all agents: the sessions of the project, and sessions on this machine that can be imported. */
export function SessionsView() {
  const { found, own, listed, refused, loading, isWhole } = useSessions();
  const { state } = useProject();
  if (state.phase === 'failed' && listed.length === 0) {
    return <NotOpened {...state} actions={<Button label="Open the sample project" onClick={() => void openSample()} />} />;
  }
  if (own.status === 'failed') {
    return (
      <Failure
        what="Cannot list the sessions of this project"
        error={own.error}
        stillWorks="Nothing in the project was changed. Other projects still work."
        onRetry={own.retry}
      />
    );
  }
  if (loading && listed.length === 0) return <Loading what="Looking for sessions" lines={16} />;
  if (found.status === 'failed' && listed.length === 0) {
    return (
      <Failure
        what="Cannot list the histories on this machine"
        error={found.error}
        stillWorks="You can still open a project or a path, or drop files."
        onRetry={found.retry}
      />
    );
  }
  const places = found.status === 'done' ? found.data.places : [];
  if (listed.length === 0) return <NothingFound places={places} refused={refused} />;
  const isFirst = !loading && state.phase !== 'failed' && !listed.some(({ session }) => session);
  return <SessionList histories={found} listed={listed} places={places} refused={refused} isFirst={isFirst} isWhole={isWhole} />;
}

interface SessionListProps {
  /** The histories on this machine that were looked for. */
  readonly histories: ReturnType<typeof useSessions>['found'];
  readonly listed: readonly Listed[];
  readonly places: readonly FoundSource[];
  readonly refused: readonly RefusedHistory[];
  /** True while the project has no session. */
  readonly isFirst: boolean;
  /** False while older sessions are still loading. */
  readonly isWhole: boolean;
}

function SessionList({ histories, listed, places, refused, isFirst, isWhole }: SessionListProps) {
  const dir = useOpenDir();
  const { state: project } = useProject();
  const [narrowing, setNarrowing] = useState(wholeList);
  const [order, setOrder] = useState<Order>({ by: 'lastAt', ascending: false });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const found = useContentSearch(narrowing.text);
  const { hits, searching } = found;
  const shown = useMemo(() => narrow(listed, { ...narrowing, hits }), [listed, narrowing, hits]);
  // The costs are not loaded, because they would fetch all contents from the hub.
  const isAllHere = listed.some(({ session }) => session) && !listed.some(({ session }) => session?.isOnHub);
  const live = useMemo(() => listed.filter(({ session }) => session?.live), [listed]);
  const rows = useMemo(() => arrangeRows(shown, order, opened), [shown, order, opened]);
  const names = useMemo(() => repositoryNames(listed.flatMap(({ repository }) => repository ?? [])), [listed]);
  return (
    <section className="sessions whole stack" aria-label="Sessions">
      {project.phase === 'failed' && (
        <ProblemLine>
          The project {project.dir} cannot be opened: {describeProblem(project.error).message}
        </ProblemLine>
      )}
      <SessionsBar
        listed={listed}
        shown={shown}
        names={names}
        narrowing={narrowing}
        canImport={!isFirst && histories.status !== 'failed'}
        isLooking={histories.status === 'loading'}
        onNarrow={(part) => setNarrowing((old) => ({ ...old, ...part }))}
      />
      {histories.status === 'failed' && <Unread what="The histories on this machine" error={histories.error} onRetry={histories.retry} />}
      {isFirst && <Welcome places={places} listed={listed} />}
      {dir && <CaptureOffer hasSessions={listed.some(({ session }) => session !== undefined)} />}
      {dir && isAllHere && <BudgetNotice dir={dir} listed={listed} />}
      {live.length > 0 && <LiveSessions live={live} names={names} />}
      {rows.length === 0 ? (
        searching || !isWhole ? (
          <Loading what={isWhole ? 'Searching the contents' : 'Loading older sessions'} />
        ) : (
          <Empty title="No matching sessions" acts={[{ name: 'Clear the filters', act: () => setNarrowing(wholeList) }]}>
            Sessions whose title, repository, file or content matches appear here.
          </Empty>
        )
      ) : (
        <SessionTable
          rows={rows}
          names={names}
          order={order}
          hits={hits}
          sought={narrowing.text.trim()}
          onOrder={setOrder}
          onToggle={(key) => setOpened(toggled(opened, key))}
        />
      )}
      <SearchFoot found={found} />
      <RefusedFiles refused={refused} />
      <Retention places={places} listed={listed} />
      {!isWhole && (
        <p className="sessions-foot small rigid line-above muted" role="status">
          Loading older sessions…
        </p>
      )}
      {dir && isAllHere && isWhole && <SumFoot dir={dir} shown={shown} />}
    </section>
  );
}

/** The histories and commits that the search of contents has not read. */
function SearchFoot({ found: { searching, unread, pending, isCut } }: { found: ContentHits }) {
  const words = searching
    ? ['Searching the contents…']
    : [
        ...(pending > 0 ? [`${say.plural(pending, 'commit')} left to search: Stemma is still indexing.`] : []),
        ...(isCut ? ['Many entries match, and further sessions may too. Add a word to narrow the search.'] : []),
        ...(unread > 0 ? [`${unread} ${unread === 1 ? 'history was' : 'histories were'} not searched: import them to search them.`] : []),
      ];
  return (
    words.length > 0 && (
      <p className="sessions-foot small rigid line-above muted" role="status">
        {words.join(' ')}
      </p>
    )
  );
}

function NothingFound({ places, refused }: { places: readonly FoundSource[]; refused: readonly RefusedHistory[] }) {
  const found = places.filter(({ problem }) => problem === undefined);
  const unreadable = places.flatMap(({ problem }) => problem ?? []);
  return (
    <section className="state stack muted first-start" aria-label="First start">
      <div className="picture" aria-hidden>
        <FolderSearch size={56} strokeWidth={1} />
      </div>
      <h2>Welcome to Stemma</h2>
      <p>{about}</p>
      <p>
        {found.length === 0
          ? 'It found no folder of an agent on this machine.'
          : `It looked in ${say.plural(found.length, 'folder')} and found no session:`}
      </p>
      {found.length > 0 && <SearchedPlaces places={found} />}
      {unreadable.length > 0 && <p>{unreadable.join(' ')}</p>}
      <div className="actions">
        <Button look="primary" icon={Sparkles} label="Open the sample project" onClick={() => void openSample()} />
      </div>
      <p className="muted">You can also drop a session file into this window.</p>
      <RefusedFiles refused={refused} />
    </section>
  );
}
