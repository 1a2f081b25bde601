import { BookOpen, ChevronLeft, ChevronRight, Pause, Play, Repeat, SkipBack, SkipForward } from 'lucide-react';
import type { TurnRow } from '../../../core/contract/index.js';
import { Button, IconButton, Select, say, When } from '../../parts';
import { go, useTurnNumbers } from '../../state';
import { type Axis, speeds } from './axis';
import type { ShownSteps } from './turns';
import type { Player } from './usePlayer';

interface ControlsProps extends ShownSteps {
  /** The turn of the current step. */
  readonly turn: TurnRow | undefined;
  readonly player: Player;
  readonly axis: Axis;
  readonly onTurn: (by: 1 | -1) => void;
}

/** The player's buttons, the current step and the actions on it. */
export function Controls({ project, commit, before, steps, turn, player, axis, onTurn }: ControlsProps) {
  const { place, playing, speed, go: goTo, toggle, setSpeed } = player;
  const step = steps[place];
  const { of, numbers } = useTurnNumbers(project, commit);
  const number = turn && numbers.get(turn.turnId);
  const waited = axis.gaps.find((gap) => gap.step === place);
  return (
    <div className="replay-controls bar wrap rigid small">
      <span className="replay-buttons inline-row">
        <IconButton icon={SkipBack} label="Previous turn" keys="Shift ←" onClick={() => onTurn(-1)} disabled={place === 0} />
        <IconButton icon={ChevronLeft} label="Previous step" keys="←" onClick={() => goTo(place - 1)} disabled={place === 0} />
        <Button look="primary" icon={playing ? Pause : Play} onClick={toggle} title={playing ? 'Pause (Space)' : 'Play (Space)'}>
          {playing ? 'Pause' : 'Play'}
        </Button>
        <IconButton icon={ChevronRight} label="Next step" keys="→" onClick={() => goTo(place + 1)} disabled={place >= steps.length - 1} />
        <IconButton icon={SkipForward} label="Next turn" keys="Shift →" onClick={() => onTurn(1)} disabled={place >= steps.length - 1} />
      </span>
      <label title="Speed (< >)">
        <span className="unseen">Speed</span>
        <Select value={String(speed)} options={speeds.map((each) => [String(each), `${each}×`])} onChange={(value) => setSpeed(Number(value))} />
      </label>
      <span className="replay-where row">
        <span className="muted rigid">
          Step {say.exact(before + place + 1)} of {say.exact(before + steps.length)}
          {before > 0 && ' · the earlier ones are loading'}
          {number !== undefined && ` · turn ${number} of ${of}`}
        </span>
        <span className="ellipsis" title={turn?.trigger.text ?? undefined}>
          {turn?.trigger.kind === 'compaction' ? 'Compaction' : say.firstLine(turn?.trigger.text ?? 'Previous turn, continued')}
        </span>
      </span>
      <span className="replay-end inline-row gap-8 rigid">
        {waited && <span className="badge">after a pause of {say.duration(waited.ms)}</span>}
        {step?.at && <When at={step.at} className="muted replay-time" />}
        {turn && (
          <>
            <Button small icon={Repeat} label="Run again" onClick={() => go({ view: 'run', commit: turn.turnId, entry: undefined })} />
            <IconButton
              icon={BookOpen}
              label="Open in Context"
              onClick={() => go({ view: 'context', commit: turn.turnId, entry: step?.key, stop: undefined })}
            />
          </>
        )}
      </span>
    </div>
  );
}
