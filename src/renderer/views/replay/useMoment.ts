import { useEffect, useRef, useState } from 'react';
import type { ContextId, MomentState } from '../../../core/contract/index.js';
import { api } from '../../client';

/** Loads the state at a step: with `last`, from the last steps alone. During fast movement, only the last wanted step is loaded next. */
export function useMoment(id: ContextId, step: number, last: number | undefined): { state: MomentState | undefined; error: unknown } {
  const [answer, setAnswer] = useState<{ state: MomentState | undefined; error: unknown }>({ state: undefined, error: undefined });
  const wanted = useRef({ step, last });
  const asking = useRef(false);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  useEffect(() => {
    const next = { step, last };
    wanted.current = next;
    if (asking.current) return;
    asking.current = true;
    void (async () => {
      for (let asked: typeof next | undefined; asked !== wanted.current && alive.current; ) {
        asked = wanted.current;
        const answered = await api.turn.state({ id, ...asked }).then(
          (state) => ({ state, error: undefined }),
          (error: unknown) => ({ state: undefined, error }),
        );
        if (alive.current) setAnswer(answered);
      }
      asking.current = false;
    })();
  }, [id, step, last]);
  return answer;
}
