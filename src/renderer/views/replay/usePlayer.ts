import { useCallback, useEffect, useRef, useState } from 'react';
import { type Axis, placeAt } from './axis';

/** The state of playback and its controls. */
export interface Player {
  /** The place of the current step. */
  readonly place: number;
  readonly playing: boolean;
  readonly speed: number;
  readonly go: (place: number) => void;
  readonly toggle: () => void;
  readonly setSpeed: (speed: number) => void;
}

/** Plays the steps of an axis from the place `from`. */
export function usePlayer(axis: Axis, from: number): Player {
  const [place, setPlace] = useState(from);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(5);
  const last = axis.times.length - 1;
  const now = useRef({ place, speed });
  now.current = { place, speed };

  const go = useCallback(
    (next: number) => {
      setPlaying(false);
      setPlace(Math.max(0, Math.min(last, next)));
    },
    [last],
  );
  const toggle = useCallback(() => {
    setPlaying((was) => {
      // At the end, play restarts from the beginning.
      if (!was && now.current.place >= last) setPlace(0);
      return !was;
    });
  }, [last]);

  useEffect(() => {
    if (!playing) return;
    let time = axis.times[now.current.place] ?? 0;
    let before = performance.now();
    let frame = requestAnimationFrame(function draw(at) {
      time += (at - before) * now.current.speed;
      before = at;
      const next = placeAt(axis, time);
      if (next !== now.current.place) setPlace(next);
      if (next >= last) return setPlaying(false);
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, axis, last]);

  return { place, playing, speed, go, toggle, setSpeed };
}
