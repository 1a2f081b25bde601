import { Button, SearchField, say } from '../../parts';
import { SessionChoice } from './SessionChoice';
import type { List } from './useList';

interface ChainToolsProps {
  readonly list: List;
  readonly total: number;
  readonly session: string | undefined;
  readonly typed: string;
  readonly onType: (text: string) => void;
  readonly fold: boolean;
  readonly canFold: boolean;
  readonly onFold: () => void;
  /** Moves the focus from the filter to the list. */
  readonly onLeave: () => void;
}

/** The tools above the chain: session, filter, count and folding. */
export function ChainTools({ list, total, session, typed, onType, fold, canFold, onFold, onLeave }: ChainToolsProps) {
  const isFiltered = typed.trim() !== '';
  return (
    <div className="bar">
      <SessionChoice chosen={session} />
      <SearchField
        className="grow"
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
      <span className="muted chain-count">{isFiltered ? `${say.exact(list.count)} of ${say.exact(total)}` : say.plural(total, 'commit')}</span>
      {canFold && (
        <Button small look="plain" aria-pressed={fold} title="Show long runs without branches as one row" onClick={onFold}>
          {fold ? 'Unfold all' : 'Fold runs'}
        </Button>
      )}
    </div>
  );
}
