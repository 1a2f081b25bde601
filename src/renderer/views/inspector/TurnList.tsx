import { useEffect, useMemo } from 'react';
import { Estimate, groupIntoBlocks, say, useVirtualRows } from '../../parts';
import { jumpTo, loadOutline, move, useChainFacts, useQuery, useReading, useTurnNumbers } from '../../state';
import { type ContextInView, type ShownTurn, turnsOf } from '../context';

const rowHeight = 24;

/** The turns of the open context. Choosing one scrolls to it. */
export function TurnList({ project, commit, stop, unsent }: ContextInView) {
  const query = useQuery(`${project} ${commit} ${stop} ${unsent}`, () => loadOutline(project, commit, stop, unsent));
  const rows = query.data?.rows;
  const { summaries } = useChainFacts(project);
  const { of, numbers } = useTurnNumbers(project, commit);
  const turns = useMemo(() => (rows ? turnsOf(rows, groupIntoBlocks(rows), summaries, numbers) : []), [rows, summaries, numbers]);
  const from = useReading((reading) => reading.from);
  const begun = turns.findLastIndex((turn) => turn.firstEntry <= from);
  const current = Math.max(0, begun);
  const { scroller, virtual } = useVirtualRows(turns.length, rowHeight, { overscan: 20 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list follows the reading position
  useEffect(() => virtual.scrollToIndex(current, { align: 'auto' }), [current, turns]);
  if (turns.length === 0) return null;
  const numbered = turns.filter(({ number }) => number !== undefined).length;
  return (
    <nav aria-label="Turns" className="turns">
      <h3>
        Turns <span className="muted">{numbered === of ? of : `${numbered} of ${of}`}</span>
      </h3>
      <div ref={scroller} className="turns-scroll">
        <ol style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const turn = turns[index] as ShownTurn;
            return (
              <li key={turn.commit} className="turn-row" style={{ top: start }} aria-setsize={turns.length} aria-posinset={index + 1}>
                <button
                  type="button"
                  className="turn selectable row wide small"
                  aria-current={index === current || undefined}
                  title={turn.head}
                  onClick={() => {
                    jumpTo(turn.promptEntry);
                    move({ entry: rows?.[turn.promptEntry]?.key });
                  }}
                >
                  <span className="turn-number muted rigid">{turn.number}</span>
                  <span className={`ellipsis grow${turn.summary ? ' turn-summary' : ''}`}>{say.firstLine(turn.head, 90)}</span>
                  {turn.errors > 0 && <span className="chain-errors inline-row rigid">{turn.errors}</span>}
                  <Estimate className="muted rigid" of={turn.tokens} bare />
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </nav>
  );
}
