import { useEffect, useRef, useState } from 'react';
import type { ContextId, MomentState } from '../../../core/contract/index.js';
import { api } from '../../client';

/** Loads the state at a step; nothing for null. One request runs at a time; during fast movement only the last wanted step is loaded next. */
export function useMoment(id: ContextId, step: number | null): { state: MomentState | undefined; error: unknown } {
  const [answer, setAnswer] = useState<{ state: MomentState | undefined; error: unknown }>({ state: undefined, error: undefined });
  const wanted = useRef(step);
  const asking = useRef(false);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  useEffect(() => {
    wanted.current = step;
    if (asking.current || step === null) return;
    asking.current = true;
    void (async () => {
      for (let asked = -1; wanted.current !== null && asked !== wanted.current && alive.current; ) {
        asked = wanted.current;
        const next = await api.turn.state({ id, step: asked }).then(
          (state) => ({ state, error: undefined }),
          (error: unknown) => ({ state: undefined, error }),
        );
        if (alive.current) setAnswer(next);
      }
      asking.current = false;
    })();
  }, [id, step]);
  return answer;
}
