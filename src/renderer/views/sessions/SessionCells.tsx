/** biome-ignore-all lint/a11y/useSemanticElements: the rows of a virtual list are placed freely, which table rows cannot be */
/** biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row */
/** biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: a time is a cell like the others */
import { ChevronRight, Ellipsis, Import, Pin, TriangleAlert } from 'lucide-react';
import type { CSSProperties } from 'react';
import { AgentMark, agentName, Button, basis, DamagedMark, ExperimentalMark, Gauge, IconButton, MenuButton, say } from '../../parts';
import { openSession, sessionActions } from './actions';
import type { Listed, SessionListRow } from './rows';

interface SessionCellsProps {
  readonly id: string;
  readonly row: SessionListRow & { kind: 'session' };
  readonly place: CSSProperties;
  readonly selected: boolean;
  readonly names: ReadonlyMap<string, string>;
  /** The passage of the session's content that contains the filter's text. */
  readonly snippet: string | undefined;
  /** The words to which the session scrolls when it opens. */
  readonly sought: string | undefined;
  readonly onToggle: () => void;
  readonly onMenu: () => void;
}

/** One session of the list. A click opens it. */
export function SessionCells({ id, row, place, selected, names, snippet, sought, onToggle, onMenu }: SessionCellsProps) {
  const { listed, level, open } = row;
  const { session, agent, repository, lastAt } = listed;
  return (
    <div
      id={id}
      role="row"
      aria-level={level}
      aria-expanded={open}
      aria-selected={selected}
      tabIndex={-1}
      className={`selectable session-row nowrap${level === 2 ? ' sub' : ''}${session ? '' : ' outside'}${row.isLast ? ' last' : ''}`}
      style={place}
      onClick={() => openSession(listed, 'chain', sought)}
      onContextMenu={onMenu}
      onKeyDown={() => {}}
    >
      <TitleCell listed={listed} open={open} level={level} snippet={snippet} onToggle={onToggle} />
      <span role="gridcell" className="c-agent">
        {level === 1 && (
          <span className="agent gap-6 row muted" title={agentName(agent)}>
            <AgentMark agent={agent} /> <span className="agent-name ellipsis">{agentName(agent)}</span>{' '}
            <ExperimentalMark agent={agent} hasOwnMapping={session?.hasOwnMapping} />
          </span>
        )}
      </span>
      <span role="gridcell" className="c-repository muted ellipsis" title={repository ?? undefined}>
        {level === 1 && repository && names.get(repository)}
      </span>
      <time role="gridcell" className="num muted" dateTime={lastAt} title={say.instant(lastAt)}>
        {say.when(lastAt)}
      </time>
      {session ? (
        <Numbers listed={listed} />
      ) : (
        <span role="gridcell" className="c-import row small muted">
          {listed.found && say.bytes(listed.found.bytes)} · not imported
          <Button
            small
            icon={Import}
            label="Import"
            tabIndex={-1}
            onClick={(event) => {
              event.stopPropagation();
              openSession(listed);
            }}
          />
        </span>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the menu button inside takes keys */}
      <span role="gridcell" className="c-more" onClick={(event) => event.stopPropagation()}>
        <MenuButton
          label="Session"
          button={<IconButton small icon={Ellipsis} label={`Actions for ${listed.title}`} tabIndex={-1} />}
          items={sessionActions(listed)}
        />
      </span>
    </div>
  );
}

function TitleCell(props: Pick<SessionCellsProps, 'snippet' | 'onToggle'> & { listed: Listed; open: boolean | undefined; level: 1 | 2 }) {
  const { listed, open, level, snippet, onToggle } = props;
  const { session, found, title, subagents } = listed;
  return (
    <span role="gridcell" className="c-title row">
      {level === 2 ? (
        <span className="tree-line rigid" aria-hidden />
      ) : open === undefined ? (
        <span className="twist" aria-hidden />
      ) : (
        <button
          type="button"
          className={`twist${open ? ' turned' : ''}`}
          tabIndex={-1}
          aria-label={open ? 'Hide subagents' : 'Show subagents'}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <ChevronRight size={14} aria-hidden />
        </button>
      )}
      {session?.pinned && <Pin size={12} aria-label="Pinned" />}
      {level === 2 && <span className="tag inline-row muted">{session?.subagent}</span>}
      <span className="ellipsis session-title" title={found?.path ?? title}>
        {say.firstLine(title)}
      </span>
      {session?.damaged && <DamagedMark />}
      {session?.continues && (
        <span
          className="tag inline-row muted"
          title={`Goes on from the session ${session.continues.sessionId}${session.continues.how === 'cleared' ? ', the last one in this folder before /clear' : ''}`}
        >
          goes on
        </span>
      )}
      {session && found && (
        <span className="tag inline-row muted" title="The agent's file has grown since the import. Import updates the session.">
          grew
        </span>
      )}
      {open === false && <span className="tag inline-row muted">{say.plural(subagents.length, 'subagent')}</span>}
      {session?.tags.map((tag) => (
        <span key={tag} className="tag inline-row muted">
          {tag}
        </span>
      ))}
      {snippet !== undefined && (
        <span className="muted ellipsis session-snippet small" title={snippet}>
          {snippet}
        </span>
      )}
    </span>
  );
}

function Numbers({ listed: { session, subagents } }: { listed: Listed }) {
  if (!session) return null;
  const { turns, branches, peakTokens, limit, cost, errors, parentSessionId, isOnHub } = session;
  const unknown = isOnHub
    ? { words: 'on the hub', title: 'The hub still holds contents of this session, so its calls are not counted yet. Usage fetches and counts them.' }
    : { words: 'not recorded', title: basis.notRecorded };
  return (
    <>
      <span role="gridcell" className="num">
        {turns}
      </span>
      <span role="gridcell" className="c-branches num">
        {parentSessionId === undefined && branches}
      </span>
      <span role="gridcell">
        {peakTokens === null ? (
          <span className="muted" title={unknown.title}>
            {unknown.words}
          </span>
        ) : limit === null ? (
          <span title={`${basis.counted}: ${say.exact(peakTokens)} tokens, the largest input of a call. The window of the model is not known.`}>
            {say.compact(peakTokens)}
          </span>
        ) : (
          <span className="peak row" title={`${basis.counted}: ${say.exact(peakTokens)} of ${say.exact(limit)} tokens, the largest input of a call`}>
            <Gauge tokens={peakTokens} limit={limit} label="Peak context" />
            <span className="num">{say.percent(peakTokens / limit)}</span>
          </span>
        )}
      </span>
      <span
        role="gridcell"
        className="num"
        title={
          cost
            ? `All calls of the session${subagents.length > 0 ? ' and its subagents' : ''}, at API prices in ${cost.currency} of ${cost.priceDate}. A subscription does not pay them.${cost.atLeast ? ' A lower bound: some output was not recorded.' : ''}`
            : peakTokens === null
              ? isOnHub
                ? unknown.title
                : `${basis.notRecorded}, so the cost is unknown`
              : 'No price: the list has none for the model. The file usage.json can set one.'
        }
      >
        {cost ? say.money(cost) : <span className="muted">{peakTokens === null ? unknown.words : 'no price'}</span>}
      </span>
      <span role="gridcell" className="c-errors num">
        {errors > 0 && (
          <span className="problem" title={say.plural(errors, 'error')}>
            <TriangleAlert size={13} aria-hidden /> {errors}
          </span>
        )}
      </span>
    </>
  );
}
