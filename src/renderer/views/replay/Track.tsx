import { useMemo, useState } from 'react';
import type { ReplayStep, TurnRow } from '../../../core/contract/index.js';
import { type Canvas, Estimate, say, speaker, useDrawing } from '../../parts';
import { type Axis, placeAt } from './axis';

interface TrackProps {
  readonly steps: readonly ReplayStep[];
  readonly turns: readonly TurnRow[];
  readonly axis: Axis;
  readonly place: number;
  readonly onGo: (place: number) => void;
}

/** The timeline of the replay: tokens in the window, starts of turns, compactions, errors and pauses. */
export function Track({ steps, turns, axis, place, onGo }: TrackProps) {
  const [pointed, setPointed] = useState<{ place: number; x: number }>();
  const most = useMemo(() => steps.reduce((max, step) => Math.max(max, step.window), 1), [steps]);
  const { ref, width } = useDrawing((canvas, width) => draw(canvas, width, { steps, turns, axis, most }), [steps, turns, axis, most]);
  const length = axis.length || 1;
  const at = ((axis.times[place] ?? 0) / length) * 100;
  const pointAt = (clientX: number): number => {
    const box = ref.current?.getBoundingClientRect();
    return box ? placeAt(axis, Math.max(0, Math.min(1, (clientX - box.left) / box.width)) * length) : 0;
  };
  const step = pointed && steps[pointed.place];
  const gap = pointed && axis.gaps.find((each) => each.step === pointed.place);
  return (
    <div className="track rigid">
      <canvas
        ref={ref}
        role="slider"
        tabIndex={0}
        data-list
        aria-label="Moment of the replay"
        aria-valuemin={1}
        aria-valuemax={steps.length}
        aria-valuenow={place + 1}
        aria-valuetext={`Step ${place + 1} of ${steps.length}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          onGo(pointAt(event.clientX));
        }}
        onPointerMove={(event) => {
          const to = pointAt(event.clientX);
          setPointed({ place: to, x: event.nativeEvent.offsetX });
          if (event.buttons & 1) onGo(to);
        }}
        onPointerLeave={() => setPointed(undefined)}
      />
      <Legend steps={steps} turns={turns} />
      <div className="track-past" style={{ width: `${at}%` }} />
      <div className="track-head" style={{ left: `${at}%` }} />
      {step && (
        <div className="token-tip wrap small track-tip" style={{ left: Math.min(Math.max(0, (pointed?.x ?? 0) - 120), Math.max(0, width - 260)) }}>
          <strong>{speaker(step)}</strong> step {say.exact((pointed?.place ?? 0) + 1)} · <Estimate of={step.window} /> in the window
          {step.at && <span>{say.instant(step.at)}</span>}
          {gap && <span>pause of {say.duration(gap.ms)}</span>}
          {step.dropped && (
            <span>
              compaction: <Estimate of={step.dropped.tokens} /> removed
            </span>
          )}
          {step.head && <span className="ellipsis">{step.head}</span>}
        </div>
      )}
    </div>
  );
}

function Legend({ steps, turns }: Pick<TrackProps, 'steps' | 'turns'>) {
  const marks = [
    ['prompt', 'var(--muted)', turns.filter(({ entries, trigger }) => entries > 0 && trigger.kind === 'prompt').length],
    ['error', 'var(--danger)', steps.filter(({ isError }) => isError).length],
    ['compaction', 'var(--text)', steps.filter(({ dropped }) => dropped).length],
  ] as const;
  return (
    <p className="track-legend row gap-12 muted small">
      {marks.map(
        ([name, color, count]) =>
          count > 0 && (
            <span key={name}>
              <i style={{ background: color }} />
              {say.plural(count, name)}
            </span>
          ),
      )}
    </p>
  );
}

type Drawn = Pick<TrackProps, 'steps' | 'turns' | 'axis'> & { readonly most: number };

const foot = 6;

function draw({ context, height, color }: Canvas, width: number, { steps, turns, axis, most }: Drawn): void {
  const length = axis.length || 1;
  const xOf = (place: number): number => ((axis.times[place] ?? 0) / length) * width;
  const ground = height - foot;
  const yOf = (tokens: number): number => ground - (tokens / most) * (ground - 4);

  // Shortened pauses are hatched.
  context.strokeStyle = color('line-strong');
  context.lineWidth = 1;
  for (const gap of axis.gaps) {
    const [from, to] = [xOf(Math.max(0, gap.step - 1)), xOf(gap.step)];
    for (let x = from + 2; x < to; x += 4) {
      context.beginPath();
      context.moveTo(x, ground);
      context.lineTo(x + 3, 3);
      context.stroke();
    }
  }

  // Tokens in the window. One point per column of pixels is enough.
  context.beginPath();
  context.moveTo(0, ground);
  let drawn = -1;
  let level = 0;
  steps.forEach((step, place) => {
    const x = xOf(place);
    if (step.dropped || x - drawn >= 0.5) {
      context.lineTo(x, yOf(level));
      context.lineTo(x, yOf(step.window));
      drawn = x;
    }
    level = step.window;
  });
  context.lineTo(width, yOf(level));
  context.lineTo(width, ground);
  context.closePath();
  context.globalAlpha = 0.22;
  context.fillStyle = color('accent');
  context.fill();
  context.globalAlpha = 1;

  context.fillStyle = color('line-strong');
  context.fillRect(0, ground, width, 1);
  context.fillStyle = color('muted');
  for (const turn of turns) if (turn.entries) context.fillRect(Math.round(xOf(turn.first)), ground, 2, foot);
  context.fillStyle = color('danger');
  steps.forEach((step, place) => {
    if (step.isError) context.fillRect(Math.round(xOf(place)) - 1, ground + 2, 3, foot - 2);
  });
  context.fillStyle = color('text');
  steps.forEach((step, place) => {
    if (!step.dropped) return;
    for (let y = 0; y < ground; y += 4) context.fillRect(Math.round(xOf(place)), y, 2, 2);
  });
}
