import { FolderInput } from 'lucide-react';
import { useCallback, useEffect, useId, useLayoutEffect, useState } from 'react';
import type { ContextId, GraphRow } from '../../../core/contract/index.js';
import {
  Button,
  Empty,
  Failure,
  Loading,
  type MenuEntry,
  placeByKey,
  rowsOnPage,
  runByKey,
  Unread,
  useVirtualRows,
  WithContextMenu,
} from '../../parts';
import { go, move, route, useLosses, useNavigation, useRowFacts, useTicketsAtCommits, useUi } from '../../state';
import { commitActions } from '../actions';
import { ChainRows } from './ChainRows';
import { ChainTools, TwoSelected } from './ChainTools';
import { ChainHead } from './CommitRow';
import { graphWidth, rowHeight } from './Lanes';
import { Minimap } from './Minimap';
import { type List, useList } from './useList';
import { useHeldEdge, useSelection } from './useSelection';

const noBranches: readonly ContextId[] = [];
const noneOpened: ReadonlySet<number> = new Set();
const minRowsForMinimap = 30;
/** The number of rows per request for tickets, so that not every scroll step sends a request. */
const ticketBlock = 100;
/** The number of rows to load before and after the visible rows, if a chain is too long to be loaded completely. */
const loadedAround = 200;

/** The chain of a project, newest commit first. Each session has its own list with selection, filter and scroll position. */
export function ChainView({ project }: { project: string }) {
  const session = useNavigation(({ route }) => route.session);
  return <Chain key={session ?? ''} project={project} session={session} />;
}

function Chain({ project, session }: { project: string; session: string | undefined }) {
  const [typed, setTyped] = useState('');
  const [fold, setFold] = useState(true);
  const [branches, setBranches] = useState<readonly ContextId[]>(noBranches);
  const [opened, setOpened] = useState(noneOpened);
  const list = useList({ project, session, words: typed.trim(), branches, fold, opened });
  const { rows, total } = list;
  const problem = rows.problem();
  if (problem !== undefined && total === undefined) {
    return (
      <Failure
        what="Cannot show the chain"
        error={problem}
        stillWorks="Nothing in the project was changed. Other projects still work."
        onRetry={rows.retry}
      />
    );
  }
  if (total === undefined) return <Loading what="Loading the chain" lines={16} onCancel={() => go({ view: 'sessions' })} />;
  if (total === 0) return <NoCommits filtered={session !== undefined} />;
  const toggleFold = () => {
    setFold(!fold);
    setOpened(noneOpened);
  };
  return (
    <Loaded
      project={project}
      list={list}
      isFiltered={typed.trim() !== '' || branches.length > 0}
      onOpen={(at) => setOpened(new Set([...opened, at]))}
      onClear={() => {
        setTyped('');
        setBranches(noBranches);
      }}
    >
      {(focusList) => (
        <ChainTools
          list={list}
          total={total}
          session={session}
          typed={typed}
          onType={setTyped}
          branches={branches}
          onBranches={setBranches}
          fold={fold}
          canFold={!fold || opened.size > 0 || (list.shown?.some((row) => row.kind === 'fold') ?? false)}
          onFold={toggleFold}
          onLeave={focusList}
        />
      )}
    </Loaded>
  );
}

interface LoadedProps {
  readonly project: string;
  readonly list: List;
  readonly isFiltered: boolean;
  /** Unfolds the run of commits that contains the row. */
  readonly onOpen: (at: number) => void;
  readonly onClear: () => void;
  /** Draws the tools above the list. Receives a function that moves the focus to the list. */
  readonly children: (focusList: () => void) => React.ReactNode;
}

function Loaded({ project, list, isFiltered, onOpen, onClear, children }: LoadedProps) {
  const { commit: selected, against } = useNavigation(({ route }) => route);
  const { rows, count, itemAt } = list;
  const [menu, setMenu] = useState<readonly MenuEntry[]>([]);
  const listId = useId();
  const { scroller, virtual } = useVirtualRows(count, rowHeight, { overscan: 12 });
  const items = virtual.getVirtualItems();
  const [first = 0, last = 0] = [items[0]?.index, items.at(-1)?.index];
  useNeededRows(list, first, last);
  useHeldEdge(scroller, list);
  const near = idsAround(list, first, last);
  const tickets = useTicketsAtCommits(project, near);
  const facts = useRowFacts(project, near);
  const losses = useLosses(project, compactionsAmong(list, items));
  const { place, selectAt } = useSelection(list, selected, virtual);
  useFocusAtStart(scroller);
  const openMenu = useCallback((row: GraphRow) => {
    const before = route();
    const { id } = row.commit;
    move({ commit: id });
    setMenu(commitActions(row.commit, before.commit !== id ? before.commit : before.against, row));
  }, []);
  const selectedRow = place >= 0 ? rows.at(itemAt(place).at) : undefined;

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const next = placeByKey(event, place, count, rowsOnPage(scroller.current, rowHeight));
    if (next !== undefined) {
      event.preventDefault();
      // A folded run cannot be selected: the selection steps over it.
      const isFold = itemAt(next).kind === 'fold';
      return selectAt(isFold ? Math.max(0, Math.min(count - 1, next + (next < place ? -1 : 1))) : next);
    }
    if (event.key === ' ' && selectedRow) {
      event.preventDefault();
      return move({ against: against === selectedRow.commit.id ? undefined : selectedRow.commit.id });
    }
    // The selected commit may be on a page that is not loaded yet.
    if (!selectedRow && selected && event.key === 'Enter') return go({ view: 'context' });
    if (selectedRow && runByKey(commitActions(selectedRow.commit, against, selectedRow), event.key)) event.preventDefault();
  };
  const focusList = () => {
    scroller.current?.focus();
    selectAt(Math.max(0, place));
  };
  const height = virtual.getTotalSize() || 1;
  const hasMinimap = (list.shown?.length ?? 0) > minRowsForMinimap;
  const problem = rows.problem();
  return (
    <section className="chain whole stack" aria-label="Chain" style={{ '--turn-digits': String(list.total ?? 0).length } as React.CSSProperties}>
      {children(focusList)}
      {against && selected && against !== selected && <TwoSelected commit={selected} against={against} />}
      {problem !== undefined && <Unread what="Some commits" error={problem} onRetry={rows.retry} />}
      <ChainHead width={graphWidth(list.lanes)} hasMinimap={hasMinimap} />
      {isFiltered && list.shown?.length === 0 && <NoMatches onClear={onClear} />}
      <div className="chain-body rest">
        <WithContextMenu items={menu} label="Commit">
          <div
            ref={scroller}
            data-list
            className="chain-scroll quiet-focus grow"
            role="listbox"
            aria-label="Commits, newest first"
            aria-activedescendant={place >= 0 ? `${listId}-${place}` : undefined}
            tabIndex={0}
            onKeyDown={onKeyDown}
            // The menu key targets the list itself: it opens the menu of the selected row.
            onContextMenu={(event) => {
              if (event.target === event.currentTarget && selectedRow) setMenu(commitActions(selectedRow.commit, against, selectedRow));
            }}
          >
            <ChainRows {...{ list, listId, items, height, isFiltered, selected, against, tickets, facts, losses, onOpen }} onMenu={openMenu} />
          </div>
        </WithContextMenu>
        {list.shown && list.shapes && hasMinimap && <Minimap list={list.shown} rows={list.shapes} virtual={virtual} />}
      </div>
    </section>
  );
}

const compactionsAmong = ({ rows, itemAt }: List, items: readonly { readonly index: number }[]): ContextId[] =>
  items.flatMap(({ index }) => {
    const { kind, at } = itemAt(index);
    const commit = rows.at(at)?.commit;
    return kind !== 'fold' && commit?.type === 'compaction' ? [commit.id] : [];
  });

/** Focuses the list in the same step in which its rows appear, so that a key pressed then reaches the list. */
function useFocusAtStart(scroller: React.RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    if (!useUi.getState().sheet) scroller.current?.focus({ preventScroll: true });
  }, [scroller]);
}

/** Loads the rows around the visible rows. Neighboring rows of a folded or filtered list may be far apart in the chain. */
function useNeededRows(list: List, first: number, last: number): void {
  useEffect(() => {
    if (list.whole) return;
    for (const [from, to] of spansOf(list, first - loadedAround, last + loadedAround)) list.rows.need(from, to);
  }, [list, first, last]);
}

function spansOf({ count, itemAt }: List, from: number, to: number): [number, number][] {
  const spans: [number, number][] = [];
  for (let place = Math.max(0, from); place < Math.min(count || 1, to); place++) {
    const { at } = itemAt(place);
    const last = spans.at(-1);
    if (last && at >= last[1] && at - last[1] < loadedAround) last[1] = at + 1;
    else spans.push([at, at + 1]);
  }
  return spans;
}

/** The commits between two positions of the list, extended to whole blocks of rows. */
function idsAround({ count, commitAt }: List, from: number, to: number): ContextId[] {
  const ids: ContextId[] = [];
  for (let n = Math.floor(from / ticketBlock) * ticketBlock; n < Math.min(count, (Math.floor(to / ticketBlock) + 1) * ticketBlock); n++) {
    const id = commitAt(n);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

function NoCommits({ filtered }: { filtered: boolean }) {
  return (
    <Empty
      title={filtered ? 'This session has no commits' : 'This project has no commits yet'}
      picture={<EmptyChain />}
      actions={
        filtered ? (
          <Button label="Show all sessions" onClick={() => go({ session: undefined })} />
        ) : (
          <Button look="primary" icon={FolderInput} label="Import a history" onClick={() => go({ view: 'sessions' })} />
        )
      }
    >
      {filtered
        ? 'The turns of the chosen session appear here.'
        : 'Import an agent’s history. Each of its turns becomes a commit that you can read, compare and fork.'}
    </Empty>
  );
}

const NoMatches = ({ onClear }: { onClear: () => void }) => (
  <Empty title="No matching commits" acts={[{ name: 'Clear the filter', act: onClear }]}>
    Commits whose title, branch, id, agent, author, type or tags contain the words appear here. To search the contents, press Ctrl K.
  </Empty>
);

const EmptyChain = () => (
  <svg width="220" height="84" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden focusable="false">
    <path d="M24 10V74M24 42C24 30 48 36 48 22V10" />
    {[10, 42, 74].map((y) => (
      <g key={y}>
        <circle cx="24" cy={y} r="4" fill="currentColor" />
        <path d={`M66 ${y}H${y === 42 ? 160 : 204}`} strokeWidth="6" strokeLinecap="round" opacity="0.5" />
      </g>
    ))}
    <circle cx="48" cy="10" r="4" fill="currentColor" />
  </svg>
);
