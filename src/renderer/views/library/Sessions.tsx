import { useVirtualizer } from '@tanstack/react-virtual';
import { Bot, ChevronRight, GitBranch, Import, Scissors, TriangleAlert } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { Button, Empty, placeByKey, say } from '../../parts';
import { groupSessions, type ListedSession } from './groups';

const folderHeight = 32;
const rowHeight = 28;

interface SessionsProps {
  readonly label: string;
  readonly sessions: readonly ListedSession[];
  readonly onOpen: (path: string) => void;
  /** Where several can be taken in at once; without it the list has nothing to choose. */
  readonly onImport?: (paths: readonly string[]) => void;
}

/** Sessions by folder and day, as a tree that the keys walk; several can be chosen where they can be taken in at once. */
export function Sessions({ label, sessions, onOpen, onImport }: SessionsProps) {
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
