import { ArrowDown, ArrowUp, ChevronDown, ChevronUp } from 'lucide-react';
import type { ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { EntryView, Estimate, kindNames, say, speaker } from '../../parts';
import type { Ranges } from '../../state';
import { Changed, Fields } from './Changed';
import { type DiffLayout, type DiffRow, placeElsewhere } from './parts';

function MovedLine({ row, onGo }: { row: DiffRow; onGo: () => void }) {
  const other = placeElsewhere(row);
  if (other === undefined) return null;
  const Arrow = other > (row.kind === 'removed' ? row.a : row.kind === 'added' ? row.b : 0) ? ArrowDown : ArrowUp;
  return (
    <button type="button" className="diff-moved row gap-6 wide small" onClick={onGo}>
      <Arrow size={13} aria-hidden />
      {row.kind === 'removed' ? `Moved to entry ${say.exact(other + 1)}` : `Moved from entry ${say.exact(other + 1)}`}
    </button>
  );
}

/** A run of unchanged entries, folded to one line. */
export function SameRow(props: {
  row: Extract<DiffRow, { kind: 'same' }>;
  tokens: number | undefined;
  heads: readonly { key: string; head?: string | undefined; role: Entry['role']; kind: Entry['kind']; tokens: number }[] | undefined;
  onToggle: () => void;
}) {
  const { row, tokens, heads, onToggle } = props;
  return (
    <>
      <button type="button" className="diff-same row gap-6 wide muted" aria-expanded={heads !== undefined} onClick={onToggle}>
        {heads ? <ChevronUp size={13} aria-hidden /> : <ChevronDown size={13} aria-hidden />}
        {say.plural(row.count, 'unchanged entry', 'unchanged entries')}
        {tokens !== undefined && (
          <>
            , <Estimate of={tokens} />
          </>
        )}
      </button>
      {heads && (
        <ol className="diff-heads">
          {heads.map((head) => (
            <li key={head.key} className="ellipsis">
              <b>{speaker(head)}</b> <span className="muted">{kindNames[head.kind]}</span> {head.head}
            </li>
          ))}
          {row.count > heads.length && <li className="muted">and {say.exact(row.count - heads.length)} more</li>}
        </ol>
      )}
    </>
  );
}

interface DifferingRowProps {
  readonly row: Exclude<DiffRow, { kind: 'same' }>;
  readonly left: Ranges<Entry>;
  readonly right: Ranges<Entry>;
  readonly layout: DiffLayout;
  readonly sides: { readonly a: ContextId; readonly b: ContextId; readonly stop: Stop };
  readonly onCounterpart: () => void;
}

/** An added, removed, changed or moved entry. */
export const DifferingRow = ({ onCounterpart, ...props }: DifferingRowProps) => (
  <>
    <MovedLine row={props.row} onGo={onCounterpart} />
    <Differing {...props} />
  </>
);

function Differing({ row, left, right, layout, sides }: Omit<DifferingRowProps, 'onCounterpart'>) {
  const a = row.kind === 'added' ? undefined : left.at(row.a);
  const b = row.kind === 'removed' ? undefined : right.at(row.b);
  const missing = (row.kind !== 'added' && !a) || (row.kind !== 'removed' && !b);
  if (missing) return <div className="block-frame" style={{ height: 120 }} />;
  if (a && b && row.kind === 'changed' && a.kind === 'tool_call' && b.kind === 'tool_call')
    return <Fields {...sides} pair={row} before={a} after={b} layout={layout} />;
  if (a && b) return <Changed a={a} b={b} layout={layout} />;
  const entry = a ?? b;
  if (!entry) return null;
  const shown = <EntryView entry={entry} />;
  if (layout === 'unified') return shown;
  return (
    <div className="diff-columns">
      <div>{a && shown}</div>
      <div>{b && shown}</div>
    </div>
  );
}
