import { Bot, ChevronRight, GitBranch, GitFork, ListChecks, Scissors, TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import type { GraphRow } from '../../../core/contract/index.js';
import { say } from '../../parts';
import { go, move, type TicketAtCommit } from '../../state';
import { comparing } from './comparing';
import { Lanes, laneColor } from './Lanes';

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

/** One commit: its place in the lanes, its words, what it is, and what it costs. */
export const CommitRow = memo(
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
          {subagent ? commit.template.slice(commit.template.indexOf('/') + 1) : say.whose(commit.principal, commit.template)}
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

/** A subagent's chain says so by what started it, or by its template, which the agent's name precedes. */
const isSubagent = (row: GraphRow): boolean => row.startedBy !== undefined || row.commit.template.includes('/');

/** A run of commits without branches, as one row that opens. */
export function FoldRow({ top, width, row, commits, onOpen }: { top: number; width: number; row: GraphRow; commits: number; onOpen: () => void }) {
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
