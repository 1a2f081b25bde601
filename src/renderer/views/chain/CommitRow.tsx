import { Bot, ChevronRight, GitBranch, GitFork, ListChecks, TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import type { ContextId, GraphRow, RowFacts } from '../../../core/contract/index.js';
import { AgentMark, agentName, basis, commitName, DamagedMark, LinkButton, say, When } from '../../parts';
import { type CompactionLosses, move, openComparison, openContext, type TicketAtCommit } from '../../state';
import { notMentioned, sizeBasis, sizeText } from '../CompactionLoss';
import { Lanes, laneColor } from './Lanes';

/** The size of the context after the commit, and how it is known: the provider's count of its last call, else the estimate. */
function sizeOf({ countedTokens, estimatedTokens, contextTokens }: GraphRow): readonly [text: string, how: string] {
  if (countedTokens !== undefined) return [say.exact(countedTokens), `${basis.counted}: ${say.exact(countedTokens)}`];
  if (estimatedTokens === undefined) return [`≈ ${say.compact(contextTokens)}`, `${basis.estimated}: about ${say.exact(contextTokens)}`];
  const exact = say.exact(estimatedTokens);
  return [`≈ ${exact}`, `Counted by the provider before the edit, and the edit estimated: about ${exact}`];
}

/** Who made the commit, what it did, and the size and price of its context. */
function Columns({ row, facts, most }: Pick<CommitRowProps, 'row' | 'facts' | 'most'>) {
  const [size, how] = sizeOf(row);
  const own = row.commit.tokenCount;
  const cost = facts?.cost;
  const unknown = facts && (facts.counted ? 'No price is known' : 'The cost is not recorded');
  return (
    <>
      <Agent row={row} facts={facts} />
      <RowNumbers facts={facts} />
      <Spark all={row.contextTokens} own={own} most={most} />
      <span className="chain-tokens" title={`${how} tokens in the whole context, about ${say.exact(own)} of them in this commit`}>
        {size}
      </span>
      <span className="chain-cost" title={cost ? `The calls of this commit at API prices of ${cost.priceDate}` : unknown}>
        {cost && say.money(cost)}
      </span>
    </>
  );
}

/** The tokens before and after a compaction: the provider's counts, else the estimates. */
const compactedText = ({ compacted, replacedTokens = 0, contextTokens }: GraphRow): string =>
  `${sizeText(compacted?.before, replacedTokens)} → ${sizeText(compacted?.after, contextTokens)}`;

/** How the two numbers of a compaction were determined. */
const compactedHow = ({ compacted }: GraphRow): string => `Tokens before: ${sizeBasis(compacted?.before)}. After: ${sizeBasis(compacted?.after)}.`;

interface CommitRowProps {
  readonly id: string;
  readonly top: number;
  readonly row: GraphRow;
  readonly width: number;
  /** Tokens of the largest context in the list: the full width of the spark line. */
  readonly most: number;
  readonly alone: boolean;
  readonly chosen: boolean;
  readonly second: boolean;
  /** Tickets written at or discussed from this commit. */
  readonly tickets: readonly TicketAtCommit[] | undefined;
  /** Undefined until it is loaded. */
  readonly facts: RowFacts | undefined;
  /** The losses of a compaction's summary; undefined until they are loaded. */
  readonly losses: CompactionLosses | undefined;
  readonly onMenu: (row: GraphRow) => void;
}

/** A commit of the list. Its properties stay the same while the list scrolls. */
export const CommitRow = memo(function CommitRow(props: CommitRowProps) {
  const { id, top, row, width, most, alone, chosen, second, tickets, facts, losses, onMenu } = props;
  const { commit } = row;
  const words = commitName(row);
  const lost = notMentioned(losses ?? []);
  const choose = (event: React.MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) move({ against: second ? undefined : commit.id });
    else move({ commit: commit.id, entry: undefined });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options
    // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus and names its active option
    <div
      id={id}
      role="option"
      aria-selected={chosen || second}
      data-commit={commit.id}
      className={`row selectable chain-row${commit.type === 'compaction' ? ' chain-seam' : ''}${chosen ? ' chosen' : ''}${second ? ' second' : ''}`}
      style={{ top }}
      title={row.fork?.title ?? commit.summary}
      onClick={choose}
      onDoubleClick={() => openContext(commit.id)}
      {...comparing(commit.id)}
      onContextMenu={() => onMenu(row)}
    >
      <Lanes row={row} width={width} alone={alone} />
      <span className="chain-words row gap-6 grow ellipsis">
        {/* First for assistive technology, because the title names the commit; drawn after the marks. */}
        <span className="chain-summary">{words}</span>
        <TurnNumber turn={row.turn} />
        {row.tipOf !== undefined && !row.forked && !words.startsWith(row.tipOf.slice(0, 24)) && (
          <span
            className="tip inline-row"
            style={{ '--tip': laneColor(row.lane) } as React.CSSProperties}
            title={`Newest of the branch “${row.tipOf}”`}
          >
            <GitBranch size={11} aria-hidden />
            <span className="ellipsis">{say.firstLine(row.tipOf, 60)}</span>
          </span>
        )}
        {commit.type === 'compaction' && (
          <span className="badge seam-badge" title={compactedHow(row)}>
            {row.replacedTokens !== undefined && <span className="unseen">compaction </span>}
            {row.replacedTokens === undefined ? 'compaction' : compactedText(row)}
          </span>
        )}
        {commit.type === 'snapshot' && <span className="badge">snapshot</span>}
        {row.forked && (
          <span className="badge fork-badge">
            <GitFork size={11} aria-hidden />
            fork<span className="unseen"> made here</span>
          </span>
        )}
        {isSubagent(row) && (row.tipOf !== undefined || row.startedBy !== undefined) && (
          <span className="badge agent-badge">
            <Bot size={11} aria-hidden />
            <span className="unseen">subagent </span>
            <span className="ellipsis">{row.commit.template.split('/', 2)[1] ?? 'subagent'}</span>
          </span>
        )}
        {commit.damaged && <DamagedMark />}
        {tickets && <TicketsHere tickets={tickets} />}
      </span>
      {row.errors > 0 && <Errors count={row.errors} />}
      {commit.type === 'compaction' ? (
        // In columns that are empty for compactions.
        <span className="chain-lost ellipsis muted small">{lost !== '' && `Not mentioned: ${lost}`}</span>
      ) : (
        <Columns row={row} facts={facts} most={most} />
      )}
      <When at={commit.createdAt} className="chain-time muted" />
    </div>
  );
});

const Errors = ({ count }: { count: number }) => (
  <span className="chain-errors inline-row rigid" title={say.plural(count, 'error')}>
    <TriangleAlert size={12} aria-hidden />
    {count}
    <span className="unseen"> {count === 1 ? 'error' : 'errors'}</span>
  </span>
);

/** The number of the commit's turn, as the breadcrumb shows it. A compaction and a snapshot have none. */
const TurnNumber = ({ turn }: { turn: number | undefined }) => (
  <span className="chain-turn muted small" title={turn === undefined ? undefined : `Turn ${turn}`}>
    {turn !== undefined && <span className="unseen">turn </span>}
    {turn}
  </span>
);

/** The mark of a commit's agent. The name, the model and the principal are in the tooltip, because the title needs the space. */
function Agent({ row, facts }: { row: GraphRow; facts: RowFacts | undefined }) {
  const { template, principal } = row.commit;
  const [agent = template, subagent] = template.split('/', 2);
  const name = subagent ?? agentName(agent);
  return (
    <span className="chain-template muted" title={[name, facts?.model, principal].filter(Boolean).join(' · ')}>
      <AgentMark agent={agent} />
      <span className="unseen">{name}</span>
    </span>
  );
}

/** Duration, tools and files of a commit. Empty where nothing is recorded or nothing happened. */
function RowNumbers({ facts }: { facts: RowFacts | undefined }) {
  const { ms = null, tools = 0, files = 0 } = facts ?? {};
  return (
    <>
      <span
        className="chain-number chain-duration"
        title={ms === null ? 'The duration is not recorded' : 'What the agent wrote as the duration, else from the prompt to the last record'}
      >
        {ms === null ? '' : clock(ms)}
      </span>
      <span className="chain-number" title={say.plural(tools, 'tool call')}>
        {tools || ''}
      </span>
      <span className="chain-number" title={`${say.plural(files, 'file')} read or changed`}>
        {files || ''}
      </span>
    </>
  );
}

/** Minutes and seconds, such as 7:14, with hours if necessary. A time below the shortest value is not shown as 0:00. */
function clock(ms: number): string {
  if (ms < 1_000) return '< 1 s';
  const seconds = Math.round(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** The tickets of this commit. The inspector links to them. */
function TicketsHere({ tickets }: { tickets: readonly TicketAtCommit[] }) {
  const ids = [...new Set(tickets.map(({ ticketId }) => ticketId))];
  return (
    <span className="badge" title={tickets.map(({ ticketId, title, how }) => `${ticketId} ${how} here: ${title}`).join('\n')}>
      <ListChecks size={11} aria-hidden />
      {ids.length === 1 && ids[0] ? say.shortId(ids[0]) : say.plural(ids.length, 'ticket')}
    </span>
  );
}

/** The tokens of the context, with the tokens of this commit highlighted. */
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

/** A subagent's commits have a starting call, or a template with the agent's name before a slash. */
const isSubagent = (row: GraphRow): boolean => row.startedBy !== undefined || row.commit.template.includes('/');

/** A folded run of commits without branches. */
export function FoldRow({ top, width, row, commits, onOpen }: { top: number; width: number; row: GraphRow; commits: number; onOpen: () => void }) {
  return (
    <div className="chain-row selectable row fold-row muted" style={{ top }} role="presentation">
      <Lanes row={row} width={width} folded />
      <LinkButton className="inline-row gap-4 small" tabIndex={-1} onClick={onOpen}>
        <ChevronRight size={13} aria-hidden />
        {say.plural(commits, 'commit')} without branches
      </LinkButton>
    </div>
  );
}

/** The names of the columns. Assistive technology reads the values with their names in each row instead. */
export const ChainHead = ({ width, hasMinimap }: { width: number; hasMinimap: boolean }) => (
  <div className={`row chain-head${hasMinimap ? ' beside-minimap' : ''}`} aria-hidden>
    <span style={{ width }} />
    <span className="chain-words row gap-6 grow">
      <span className="chain-turn muted small">Turn</span> What
    </span>
    <span className="chain-template">Agent</span>
    <span className="chain-number chain-duration">Duration</span>
    <span className="chain-number">Tools</span>
    <span className="chain-number">Files</span>
    <span className="chain-spark" />
    <span className="chain-tokens">Tokens</span>
    <span className="chain-cost">Cost</span>
    <span className="chain-time">Time</span>
  </div>
);

const draggedCommit = 'text/x-stemma-commit';

/** Drag and drop for a row: dropping a commit on another commit compares them, the dragged commit first. By keyboard: Space, then d. */
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
      if (dragged !== id) openComparison(id, dragged as ContextId);
    },
  };
};
