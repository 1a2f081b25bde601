import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { ContextId, GraphRow } from '../../../core/contract/index.js';
import { Button, Failure, Loading, type MenuEntry, placeByKey, rowsOnPage, SomeUnread, say, WithContextMenu } from '../../parts';
import { go, move, route, useNavigation, useTicketsAtCommits, useUi } from '../../state';
import { commitActions, runByKey } from '../actions';
import { CommitRow, FoldRow } from './CommitRow';
import { graphWidth, LinkLine, rowHeight } from './Lanes';
import { Minimap } from './Minimap';
import { NoCommits } from './NoCommits';
import { SessionChoice } from './SessionChoice';
import { useHeldEdge } from './useHeldEdge';
import { useList } from './useList';

const none: ReadonlySet<ContextId> = new Set();
/** Tickets are asked for of so many rows at once. */
const askedRows = 100;

/** The project's commits in lanes, newest first. */
export function ChainView({ project }: { project: string }) {
  const { session, commit: chosen, against } = useNavigation(({ route }) => route);
  const scroller = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const words = typed.trim();
  const [fold, setFold] = useState(true);
  const [opened, setOpened] = useState<ReadonlySet<ContextId>>(none);
  const [menu, setMenu] = useState<readonly MenuEntry[]>([]);
  const listId = useId();

  const list = useList({ project, session, words, fold, opened });
  const { rows, total, whole, shown, links, count, itemAt, commitAt, placeOf } = list;
  const virtual = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12 });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (!whole && first !== undefined && last !== undefined) rows.need(first - 200, last + 200);
  }, [rows, first, last, whole]);
  useHeldEdge(scroller, list);

  /** The commits of the rows that are shown, in whole blocks, so that each step of scrolling does not ask anew. */
  const idsAround = (from: number, to: number): ContextId[] => {
    const ids: ContextId[] = [];
    for (let n = Math.floor(from / askedRows) * askedRows; n < Math.min(count, (Math.floor(to / askedRows) + 1) * askedRows); n++) {
      const id = commitAt(n);
      if (id !== undefined) ids.push(id);
    }
    return ids;
  };
  const tickets = useTicketsAtCommits(project, idsAround(first ?? 0, last ?? 0));
  const place = useMemo(() => placeOf(chosen), [placeOf, chosen]);

  // A chain that was just opened has the keys.
  const isThere = total !== undefined;
  useEffect(() => {
    if (isThere && !useUi.getState().sheet) scroller.current?.focus({ preventScroll: true });
  }, [isThere]);

  // The commit of the address is brought into view once the list is there.
  const broughtIn = useRef<string>(undefined);
  useEffect(() => {
    if (place < 0 || broughtIn.current === chosen) return;
    broughtIn.current = chosen;
    virtual.scrollToIndex(place, { align: 'auto' });
  }, [place, chosen, virtual]);

  /** A place that was chosen before its commit was there. */
  const awaited = useRef<number>(undefined);
  const chooseAt = (n: number) => {
    const id = commitAt(n);
    awaited.current = id === undefined && itemAt(n).kind === 'commit' ? n : undefined;
    if (id !== undefined) move({ commit: id, entry: undefined });
    virtual.scrollToIndex(n, { align: 'auto' });
  };
  useEffect(() => {
    const id = awaited.current === undefined ? undefined : commitAt(awaited.current);
    if (id === undefined) return;
    awaited.current = undefined;
    move({ commit: id, entry: undefined });
  });
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
      if (itemAt(next).kind === 'fold') next = Math.max(0, Math.min(count - 1, next + (next < place ? -1 : 1)));
      return chooseAt(next);
    }
    const row = place >= 0 ? rows.at(itemAt(place).at) : undefined;
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

  const width = graphWidth(list.lanes);
  const height = virtual.getTotalSize() || 1;
  const offset = virtual.scrollOffset ?? 0;
  const filtered = words !== '';
  return (
    <section className="chain" aria-label="Chain">
      <div className="chain-tools">
        <SessionChoice chosen={session} />
        <input
          type="search"
          className="field grow"
          data-filter
          placeholder={whole ? 'Filter commits  /' : 'Filtering needs 20,000 commits or fewer'}
          aria-label="Filter commits"
          value={typed}
          disabled={!whole}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setTyped('');
            if (event.key === 'Enter' || event.key === 'ArrowDown') {
              scroller.current?.focus();
              chooseAt(Math.max(0, place));
            }
          }}
        />
        <span className="muted chain-count">{filtered ? `${say.exact(count)} of ${say.exact(total)}` : say.plural(total, 'commit')}</span>
        {whole && (!fold || opened.size > 0 || shown?.some((row) => row.kind === 'fold')) && (
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
      {problem !== undefined && <SomeUnread what="commits" error={problem} onRetry={rows.retry} />}
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
              const row = place >= 0 ? rows.at(itemAt(place).at) : undefined;
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
                const listed = itemAt(item.index);
                const row = rows.at(listed.at);
                const top = item.start;
                if (!row) return <div key={item.key} className="chain-row unread" style={{ top }} aria-hidden />;
                if (listed.kind === 'fold') {
                  return <FoldRow key={item.key} top={top} width={width} row={row} commits={listed.end - listed.at} onOpen={() => openFold(row)} />;
                }
                return (
                  <CommitRow
                    key={item.key}
                    id={`${listId}-${item.index}`}
                    top={top}
                    row={row}
                    width={width}
                    most={list.most}
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
        {shown && shown.length > 30 && (
          <Minimap
            list={shown}
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
