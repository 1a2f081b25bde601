import { useCallback, useEffect, useRef, useState } from 'react';
import { type Axis, placeAt } from './axis';

export type Player = ReturnType<typeof usePlayer>;

/** Plays the steps of an axis from the place `from`. `before`: the number of earlier steps; it goes on with the same step when these are added. */
export function usePlayer(axis: Axis, before: number, from: number) {
  const [step, setStep] = useState(before + from);
  const place = Math.max(0, step - before);
  const setPlace = useCallback((next: number) => setStep(before + next), [before]);
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
    [last, setPlace],
  );
  const toggle = useCallback(() => {
    setPlaying((was) => {
      // At the end, play restarts from the beginning.
      if (!was && now.current.place >= last) setPlace(0);
      return !was;
    });
  }, [last, setPlace]);

  useEffect(() => {
    if (!playing) return;
    let time = axis.times[now.current.place] ?? 0;
    let drawn = performance.now();
    let frame = requestAnimationFrame(function draw(at) {
      time += (at - drawn) * now.current.speed;
      drawn = at;
      const next = placeAt(axis, time);
      if (next !== now.current.place) setPlace(next);
      if (next >= last) return setPlaying(false);
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, axis, last, setPlace]);

  return { place, playing, speed, go, toggle, setSpeed };
}
