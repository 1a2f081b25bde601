import { GitCompare } from 'lucide-react';
import type { ContextId } from '../../../core/contract/index.js';
import { Button, ChipMenu, commitName, SearchField, say } from '../../parts';
import { go, move, useCommit, useNavigation, useOpenDir } from '../../state';
import { SessionChoice } from './SessionChoice';
import type { List } from './useList';

interface ChainToolsProps {
  readonly list: List;
  readonly total: number;
  readonly session: string | undefined;
  readonly typed: string;
  readonly onType: (text: string) => void;
  /** The ends of the branches that are shown; empty for all. */
  readonly branches: readonly ContextId[];
  readonly onBranches: (branches: readonly ContextId[]) => void;
  readonly fold: boolean;
  readonly canFold: boolean;
  readonly onFold: () => void;
  readonly onLeave: () => void;
}

function countOf({ count, isFiltering, hasMore }: List, total: number, isFiltered: boolean): string {
  if (isFiltering) return 'Filtering…';
  if (!isFiltered) return say.plural(total, 'commit');
  return `${say.exact(count)} ${hasMore ? 'or more ' : ''}of ${say.exact(total)}`;
}

/** The tools above the chain: session, filter, count and folding. */
export function ChainTools({ list, total, session, typed, onType, branches, onBranches, fold, canFold, onFold, onLeave }: ChainToolsProps) {
  const isFiltered = typed.trim() !== '' || branches.length > 0;
  const { commit, against } = useNavigation(({ route }) => route);
  const canCompare = commit !== undefined && against !== undefined && commit !== against;
  return (
    <div className="bar">
      <h1 className="chain-title rigid">Chain</h1>
      <SessionChoice chosen={session} />
      <SearchField
        className="chain-filter grow"
        data-filter
        placeholder="Filter commits  /"
        label="Filter commits"
        value={typed}
        onChange={onType}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onType('');
          if (event.key === 'Enter' || event.key === 'ArrowDown') onLeave();
        }}
      />
      {list.branches.length > 1 && (
        <ChipMenu
          label="Branches"
          all={say.exact(list.branches.length)}
          options={list.branches.map(({ tip, name }) => ({ value: tip, name: say.firstLine(name, 60) }))}
          chosen={branches}
          onChange={onBranches}
        />
      )}
      <span className="muted small rigid chain-count">{countOf(list, total, isFiltered)}</span>
      <Button
        small
        icon={GitCompare}
        label="Compare"
        disabled={!canCompare}
        title={canCompare ? 'Compare the two selected commits (d)' : 'Select a second commit with Ctrl+click or Space'}
        onClick={() => go({ view: 'compare', entry: undefined })}
      />
      {canFold && (
        <Button small look="plain" aria-pressed={fold} title="Show long runs without branches as one row" onClick={onFold}>
          {fold ? 'Unfold all' : 'Fold runs'}
        </Button>
      )}
    </div>
  );
}

/** The bar above the list while two commits are selected. */
export function TwoSelected({ commit, against }: { commit: ContextId; against: ContextId }) {
  return (
    <div className="chain-two row">
      <span className="ellipsis">
        <b>Two selected</b> <Title commit={commit} /> and <Title commit={against} />
      </span>
      <span className="grow" />
      <Button small look="plain" label="Clear" onClick={() => move({ against: undefined })} />
    </div>
  );
}

function Title({ commit }: { commit: ContextId }) {
  const query = useCommit(useOpenDir(), commit);
  const name = query.data && commitName({ ...query.data, commit: query.data });
  return name ? <span title={commit}>“{say.firstLine(name, 50)}”</span> : <span className="mono">{say.shortId(commit)}</span>;
}
