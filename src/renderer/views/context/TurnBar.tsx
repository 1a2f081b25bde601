import { ChevronDown, ChevronUp } from 'lucide-react';
import { IconButton, say } from '../../parts';
import type { ContextReader } from './useReader';

/** The turn at the top of the list, with buttons to the previous and the next turn. */
export function TurnBar({ reader }: { reader: ContextReader }) {
  const { turns, turnCount, turnIndex, entries, goToBlock, stepTurn } = reader;
  const turn = turns[turnIndex];
  if (!turn) return null;
  const at = entries.at(turn.promptEntry)?.at;
  return (
    <div className="turn-sticky row gap-4 small">
      <button type="button" className="ellipsis grow" title="Go to the start of this turn" onClick={() => goToBlock(turn.promptBlock, 'start')}>
        {turn.number !== undefined && (
          <span className="muted">
            Turn {turn.number} of {turnCount}{' '}
          </span>
        )}
        {say.firstLine(turn.head)}
      </button>
      <span className="muted">{at ? say.when(at) : ''}</span>
      <IconButton small icon={ChevronUp} label="Previous turn" keys="[" onClick={() => stepTurn(-1)} disabled={turnIndex === 0} />
      <IconButton small icon={ChevronDown} label="Next turn" keys="]" onClick={() => stepTurn(1)} disabled={turnIndex >= turns.length - 1} />
    </div>
  );
}
