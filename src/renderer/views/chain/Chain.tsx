import { useVirtualizer } from '@tanstack/react-virtual';
import { Bot, ChevronRight, FolderInput, GitBranch, GitFork, ListChecks, Scissors, TriangleAlert } from 'lucide-react';
import { memo, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, GraphRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Empty, Failure, Loading, type MenuEntry, placeByKey, rowsOnPage, say, WithContextMenu } from '../../parts';
import {
  chainOf,
  go,
  move,
  readOn,
  route,
  type TicketAtCommit,
  useKept,
  useNavigation,
  useProject,
  useQuery,
  useRanges,
  useTicketsAtCommits,
  useUi,
  wholeChainLimit,
} from '../../state';
import { commitActions, runByKey } from '../actions';
import { graphWidth, Lanes, LinkLine, laneColor, rowHeight } from './Lanes';
import { Minimap } from './Minimap';
import { type ChainRow, filterRows, foldRows, linksOf } from './rows';

const none: ReadonlySet<ContextId> = new Set();
/** Tickets are asked for of so many rows at once. */
const askedRows = 100;

/** The project's commits in lanes, newest first. */
export function ChainView({ project }: { project: string }) {
  const { session, commit: chosen, against } = useNavigation(({ route }) => route);
  const revision = useProject((state) => state.revision);
  const rows = useRanges(chainOf(project, session, revision));
  const version = rows.version();
  const total = rows.total();
  const whole = total !== undefined && total <= wholeChainLimit;
  const scroller = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState('');
  const [fold, setFold] = useState(true);
  const [opened, setOpened] = useState<ReadonlySet<ContextId>>(none);
  const [menu, setMenu] = useState<readonly MenuEntry[]>([]);
  const listId = useId();

  // Short chains are read in full, page after page; long ones as they are scrolled to.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives asks for the next
  useEffect(() => readOn(rows), [rows, version]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what `rows` holds changes with its version
  const loaded = useMemo(() => {
    if (!whole || total === undefined) return undefined;
    const all: GraphRow[] = [];
    for (let n = 0; n < total; n++) {
      const row = rows.at(n);
      if (!row) return undefined;
      all.push(row);
    }
    return all;
  }, [rows, version, whole, total]);

  const list = useMemo<readonly ChainRow[] | undefined>(() => {
    if (!loaded) return undefined;
    if (words.trim()) return filterRows(loaded, words.trim());
    return fold ? foldRows(loaded, opened) : loaded.map((_, at) => ({ kind: 'commit', at }));
  }, [loaded, words, fold, opened]);

  const links = useMemo(() => (loaded && list && !words.trim() ? linksOf(loaded, list) : []), [loaded, list, words]);
  const count = list?.length ?? total ?? 0;
  const rowOfList = (n: number): ChainRow => list?.[n] ?? { kind: 'commit', at: n };
  const virtual = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12 });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  /** The commits of the rows that are shown, in whole blocks, so that each step of scrolling does not ask anew. */
  const idsAround = (from: number, to: number): ContextId[] => {
    const ids: ContextId[] = [];
    for (let n = Math.floor(from / askedRows) * askedRows; n < Math.min(count, (Math.floor(to / askedRows) + 1) * askedRows); n++) {
      const item = rowOfList(n);
      const id = item.kind === 'commit' ? rows.at(item.at)?.commit.id : undefined;
      if (id !== undefined) ids.push(id);
    }
    return ids;
  };
  useEffect(() => {
    if (!whole && first !== undefined && last !== undefined) rows.need(first - 200, last + 200);
  }, [rows, first, last, whole]);

  const tickets = useTicketsAtCommits(project, idsAround(first ?? 0, last ?? 0));

  // biome-ignore lint/correctness/useExhaustiveDependencies: what `rows` holds changes with its version
  const [lanes, most] = useMemo(() => {
    let widest = 1;
    let tokens = 1;
    for (let n = 0; n < (total ?? 0); n++) {
      const row = rows.at(n);
      if (!row) continue;
      widest = Math.max(widest, row.width);
      tokens = Math.max(tokens, row.contextTokens);
    }
    return [widest, tokens];
  }, [rows, version, total]);

  const placeOf = useCallback(
    (id: ContextId | undefined): number => {
      if (!id) return -1;
      for (let n = 0; n < count; n++) {
        const item = list?.[n] ?? { kind: 'commit', at: n };
        if (item.kind === 'commit' && rows.at(item.at)?.commit.id === id) return n;
      }
      return -1;
    },
    [list, count, rows],
  );
  const place = useMemo(() => placeOf(chosen), [placeOf, chosen]);

  // Commits that come while one reads move nothing: what stands at the upper edge stays there, but where that is the beginning.
  const edge = useRef<{ readonly id: ContextId | undefined; readonly offset: number }>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a list that changed moves what is read
  useLayoutEffect(() => {
    const element = scroller.current;
    const held = edge.current;
    if (!element || !held?.id || element.scrollTop === 0) return;
    const now = placeOf(held.id);
    if (now >= 0) element.scrollTop = now * rowHeight + held.offset;
  }, [list, version]);
  useLayoutEffect(() => {
    const scrolled = scroller.current?.scrollTop ?? 0;
    for (let n = Math.floor(scrolled / rowHeight); n < count; n++) {
      const id = rowOfList(n).kind === 'commit' ? rows.at(rowOfList(n).at)?.commit.id : undefined;
      if (id === undefined) continue;
      edge.current = { id, offset: scrolled - n * rowHeight };
      return;
    }
  });

  // A chain that was just opened has the keys.
  const isThere = total !== undefined;
  useEffect(() => {
    if (isThere && !useUi.getState().sheet) scroller.current?.focus({ preventScroll: true });
  }, [isThere]);

  // The commit of the address is brought into view once the list is there.
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (place < 0 || shown.current === chosen) return;
    shown.current = chosen;
    virtual.scrollToIndex(place, { align: 'auto' });
  }, [place, chosen, virtual]);

  const chooseAt = (n: number) => {
    const item = rowOfList(n);
    const row = rows.at(item.at);
    if (item.kind === 'commit' && row) move({ commit: row.commit.id, entry: undefined });
    virtual.scrollToIndex(n, { align: 'auto' });
  };
  const openMenu = useCallback((row: GraphRow) => {
    const before = route();
    const { id } = row.commit;
    move({ commit: id });
    setMenu(commitActions(row.commit, before.commit !== id ? before.commit : before.against));
  }, []);
  const openFold = (row: GraphRow) => setOpened(new Set([...opened, row.commit.id]));

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    let next = placeByKey(event, place, count, rowsOnPage(scroller.current, rowHeight));
    if (next !== undefined) {
      event.preventDefault();
      // A fold cannot be chosen: step over it, or open it when it is all there is.
      if (rowOfList(next).kind === 'fold') next = Math.max(0, Math.min(count - 1, next + (next < place ? -1 : 1)));
      return chooseAt(next);
    }
    const row = place >= 0 ? rows.at(rowOfList(place).at) : undefined;
    if (event.key === ' ' && row) {
      event.preventDefault();
      return move({ against: against === row.commit.id ? undefined : row.commit.id });
    }
    if (row && runByKey(commitActions(row.commit, against), event.key)) event.preventDefault();
  };

  const problem = rows.problem();
  if (problem !== undefined && total === undefined) {
    return (
      <Failure
        what="The chain cannot be shown"
        error={problem}
        stillWorks="Nothing in the project was changed. Other projects and the library still work."
        onRetry={rows.retry}
      />
    );
  }
  if (total === undefined) return <Loading what="Reading the chain" lines={16} onCancel={() => go({ view: 'library' })} />;
  if (total === 0) return <NoCommits filtered={session !== undefined} />;

  const width = graphWidth(lanes);
  const height = virtual.getTotalSize() || 1;
  const offset = virtual.scrollOffset ?? 0;
  const filtered = words.trim() !== '';
  return (
    <section className="chain" aria-label="Chain">
      <div className="chain-tools">
        <Sessions chosen={session} />
        <input
          type="search"
          className="field grow"
          data-filter
          placeholder={whole ? 'Filter commits  /' : 'Filtering needs 20,000 commits or fewer'}
          aria-label="Filter commits"
          value={words}
          disabled={!whole}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setWords('');
            if (event.key === 'Enter' || event.key === 'ArrowDown') {
              scroller.current?.focus();
              chooseAt(Math.max(0, place));
            }
          }}
        />
        <span className="muted chain-count">{filtered ? `${say.exact(count)} of ${say.exact(total)}` : say.plural(total, 'commit')}</span>
        {whole && (!fold || opened.size > 0 || list?.some((row) => row.kind === 'fold')) && (
          <Button
            small
            look="plain"
            aria-pressed={fold}
            title="Show long runs without branches as one row"
            onClick={() => {
              setFold(!fold);
              setOpened(none);
            }}
          >
            {fold ? 'Unfold all' : 'Fold runs'}
          </Button>
        )}
      </div>
      {against && chosen && against !== chosen && (
        <div className="chain-two">
          <span>
            Two selected: <b className="mono">{say.shortId(chosen)}</b> and <b className="mono">{say.shortId(against)}</b>
          </span>
          <Button small look="primary" onClick={() => go({ view: 'diff', entry: undefined })}>
            Diff
          </Button>
          <Button small look="plain" onClick={() => move({ against: undefined })}>
            Clear
          </Button>
        </div>
      )}
      <div className="chain-body">
        <WithContextMenu items={menu} label="Commit">
          <div
            ref={scroller}
            data-list
            className="chain-scroll"
            role="listbox"
            aria-label="Commits, newest first"
            aria-activedescendant={place >= 0 ? `${listId}-${place}` : undefined}
            tabIndex={0}
            onKeyDown={onKeyDown}
            // The menu key has no row under it: it means the one that is chosen.
            onContextMenu={(event) => {
              const row = place >= 0 ? rows.at(rowOfList(place).at) : undefined;
              if (event.target === event.currentTarget && row) setMenu(commitActions(row.commit, against));
            }}
          >
            <div style={{ height, position: 'relative' }} role="presentation">
              <svg className="lane-links" width={width} height={1} aria-hidden focusable="false">
                {links
                  .filter(({ from, to }) => Math.min(from.row, to.row) <= (last ?? 0) && Math.max(from.row, to.row) >= (first ?? 0))
                  .map((link) => (
                    <LinkLine key={`${link.from.row} ${link.to.row}`} link={link} />
                  ))}
              </svg>
              {items.map((item) => {
                const shownRow = rowOfList(item.index);
                const row = rows.at(shownRow.at);
                const top = item.start;
                if (!row) return <div key={item.key} className="chain-row" style={{ top }} aria-hidden />;
                if (shownRow.kind === 'fold') {
                  return (
                    <FoldRow key={item.key} top={top} width={width} row={row} commits={shownRow.end - shownRow.at} onOpen={() => openFold(row)} />
                  );
                }
                return (
                  <CommitRow
                    key={item.key}
                    id={`${listId}-${item.index}`}
                    top={top}
                    row={row}
                    width={width}
                    most={most}
                    alone={filtered}
                    chosen={row.commit.id === chosen}
                    second={row.commit.id === against}
                    tickets={tickets.get(row.commit.id)}
                    onMenu={openMenu}
                  />
                );
              })}
            </div>
          </div>
        </WithContextMenu>
        {list && loaded && list.length > 30 && (
          <Minimap
            list={list}
            rowAt={rows.at}
            from={offset / height}
            to={Math.min(1, (offset + (virtual.scrollRect?.height ?? 0)) / height)}
            onScroll={(point) => virtual.scrollToOffset(point * height - (virtual.scrollRect?.height ?? 0) / 2)}
          />
        )}
      </div>
    </section>
  );
}

interface CommitRowProps {
  readonly id: string;
  readonly top: number;
  readonly row: GraphRow;
  readonly width: number;
  /** Tokens of the fullest context in view: what a whole spark stands for. */
  readonly most: number;
  readonly alone: boolean;
  readonly chosen: boolean;
  readonly second: boolean;
  /** Those that were written or discussed with this commit. */
  readonly tickets: readonly TicketAtCommit[] | undefined;
  readonly onMenu: (row: GraphRow) => void;
}

const CommitRow = memo(
  function CommitRow({ id, top, row, width, most, alone, chosen, second, tickets, onMenu }: CommitRowProps) {
    const { commit } = row;
    const words = say.firstLine(commit.summary ?? '') || (commit.type === 'compaction' ? 'Compaction' : 'No words');
    const subagent = isSubagent(row);
    const choose = (event: React.MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) move({ against: second ? undefined : commit.id });
      else move({ commit: commit.id, entry: undefined });
    };
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox answers the keys for its options
      // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus and names its active option
      <div
        id={id}
        role="option"
        aria-selected={chosen || second}
        data-commit={commit.id}
        className={`chain-row${chosen ? ' chosen' : ''}${second ? ' second' : ''}`}
        style={{ top }}
        title={commit.summary}
        onClick={choose}
        onDoubleClick={() => go({ view: 'context', commit: commit.id, entry: undefined, stop: undefined })}
        {...comparing(commit.id)}
        onContextMenu={() => onMenu(row)}
      >
        <Lanes row={row} width={width} alone={alone} />
        <span className="chain-words ellipsis">
          {/* Read first, shown after the badges: a commit is named by its words. */}
          <span className="chain-summary">{words}</span>
          {row.tipOf !== undefined && (
            <span className="tip" style={{ '--tip': laneColor(row.lane) } as React.CSSProperties} title={`Tip: ${row.tipOf}`}>
              <GitBranch size={11} aria-hidden />
              {!row.forked && !words.startsWith(row.tipOf.slice(0, 24)) && <span className="ellipsis">{say.firstLine(row.tipOf, 60)}</span>}
            </span>
          )}
          {commit.type === 'compaction' && (
            <span className="badge seam-badge">
              <Scissors size={11} aria-hidden />
              {row.replacedTokens !== undefined && <span className="unseen">compaction </span>}
              {row.replacedTokens === undefined ? 'compaction' : `≈ ${say.compact(row.replacedTokens)} → ${say.compact(row.contextTokens)}`}
            </span>
          )}
          {commit.type === 'snapshot' && <span className="badge">snapshot</span>}
          {row.forked && (
            <span className="badge fork-badge">
              <GitFork size={11} aria-hidden />
              fork<span className="unseen"> made here</span>
            </span>
          )}
          {subagent && (row.tipOf !== undefined || row.startedBy !== undefined) && (
            <span className="badge agent-badge">
              <Bot size={11} aria-hidden />
              subagent
            </span>
          )}
          {tickets && <TicketsHere tickets={tickets} />}
        </span>
        {row.errors > 0 && (
          <span className="chain-errors" title={say.plural(row.errors, 'error')}>
            <TriangleAlert size={12} aria-hidden />
            {row.errors}
            <span className="unseen"> {row.errors === 1 ? 'error' : 'errors'}</span>
          </span>
        )}
        <span className="chain-template ellipsis muted" title={commit.principal ? `${commit.template}, ${commit.principal}` : commit.template}>
          {subagent ? commit.template.slice(commit.template.indexOf('/') + 1) : say.whose(commit.principal ?? commit.template)}
        </span>
        <span
          className="chain-tokens"
          title={`about ${say.exact(commit.tokenCount)} tokens in this commit, ${say.exact(row.contextTokens)} in the whole context`}
        >
          +{say.compact(commit.tokenCount)}
        </span>
        <Spark all={row.contextTokens} own={commit.tokenCount} most={most} />
        <time className="chain-time muted" dateTime={commit.createdAt} title={say.instant(commit.createdAt)}>
          {say.when(commit.createdAt)}
        </time>
      </div>
    );
  },
  (a, b) =>
    a.top === b.top &&
    a.row === b.row &&
    a.width === b.width &&
    a.most === b.most &&
    a.alone === b.alone &&
    a.chosen === b.chosen &&
    a.second === b.second &&
    a.tickets === b.tickets &&
    a.id === b.id &&
    a.onMenu === b.onMenu,
);

/** Which tickets remember this commit; the inspector leads to them. */
function TicketsHere({ tickets }: { tickets: readonly TicketAtCommit[] }) {
  const ids = [...new Set(tickets.map(({ ticketId }) => ticketId))];
  return (
    <span className="badge" title={tickets.map(({ ticketId, title, how }) => `${ticketId} ${how} here: ${title}`).join('\n')}>
      <ListChecks size={11} aria-hidden />
      {ids.length === 1 ? ids[0] : say.plural(ids.length, 'ticket')}
    </span>
  );
}

/** The context so far, and what this commit brought. */
function Spark({ all, own, most }: { all: number; own: number; most: number }) {
  const wide = Math.max(1, (all / most) * 54);
  const part = Math.min(wide, Math.max(1, (own / most) * 54));
  return (
    <svg className="spark" width={54} height={10} aria-hidden focusable="false">
      <rect x={0} y={2} width={wide} height={6} rx={1.5} className="spark-all" />
      <rect x={Math.max(0, wide - part)} y={2} width={part} height={6} rx={1.5} className="spark-own" />
    </svg>
  );
}

const draggedCommit = 'text/x-stemma-commit';

/** One commit dropped on another is compared with it: what was dragged is what was before. Keys: Space, then d. */
const comparing = (id: ContextId): React.HTMLAttributes<HTMLElement> & { draggable: true } => {
  const isOver = (event: React.DragEvent): boolean => event.dataTransfer.types.includes(draggedCommit);
  const mark = (event: React.DragEvent, over: boolean): void => void event.currentTarget.classList.toggle('dropping', over);
  return {
    draggable: true,
    onDragStart: (event) => {
      event.dataTransfer.setData(draggedCommit, id);
      event.dataTransfer.effectAllowed = 'link';
    },
    onDragOver: (event) => {
      if (!isOver(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'link';
      mark(event, true);
    },
    onDragLeave: (event) => mark(event, false),
    onDrop: (event) => {
      mark(event, false);
      const dragged = event.dataTransfer.getData(draggedCommit);
      if (!isOver(event)) return;
      event.preventDefault();
      event.stopPropagation();
      if (dragged !== id) go({ view: 'diff', commit: id, against: dragged as ContextId, entry: undefined });
    },
  };
};

function FoldRow({ top, width, row, commits, onOpen }: { top: number; width: number; row: GraphRow; commits: number; onOpen: () => void }) {
  return (
    <div className="chain-row fold-row" style={{ top }} role="presentation">
      <Lanes row={row} width={width} folded />
      <button type="button" className="link-button" tabIndex={-1} onClick={onOpen}>
        <ChevronRight size={13} aria-hidden />
        {say.plural(commits, 'commit')} without branches
      </button>
    </div>
  );
}

/** A subagent's chain says so by what started it, or by its template, which the agent's name precedes. */
const isSubagent = (row: GraphRow): boolean => row.startedBy !== undefined || row.commit.template.includes('/');

/** Which session's commits are shown. */
function Sessions({ chosen }: { chosen: string | undefined }) {
  const revision = useProject((state) => state.revision);
  const query = useKept(useQuery(`sources ${revision}`, () => api.source.list({})));
  const sources = query.status === 'done' ? query.data.filter((source) => source.sessionId) : [];
  if (sources.length < 2 && !chosen) return null;
  return (
    <select
      className="field chain-sessions"
      aria-label="Session"
      value={chosen ?? ''}
      onChange={(event) => go({ session: event.target.value || undefined, commit: undefined, against: undefined })}
    >
      <option value="">All sessions</option>
      {sources.map((source) => (
        <option key={source.sourceId} value={source.sessionId}>
          {source.title ?? source.sessionId}
        </option>
      ))}
      {chosen && !sources.some((source) => source.sessionId === chosen) && <option value={chosen}>{chosen}</option>}
    </select>
  );
}

function NoCommits({ filtered }: { filtered: boolean }) {
  return (
    <Empty
      title={filtered ? 'This session has no commits' : 'This project holds no commits yet'}
      picture={<EmptyChain />}
      actions={
        filtered ? (
          <Button onClick={() => go({ session: undefined })}>Show all sessions</Button>
        ) : (
          <Button look="primary" icon={FolderInput} onClick={() => go({ view: 'library' })}>
            Import a history
          </Button>
        )
      }
    >
      {filtered ? undefined : 'Import an agent’s history, and each of its turns becomes a commit that you can read, compare and fork.'}
    </Empty>
  );
}

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
