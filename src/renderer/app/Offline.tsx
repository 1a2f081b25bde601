import { RotateCcw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useConnection } from '../client';
import { Button } from '../parts';

/** Milliseconds before a lost connection is reported. Most connections are restored sooner. */
const patienceMs = 300;

/** A notice while the engine does not answer. The content on the screen stays; new data waits. */
export function Offline() {
  const { state, retry } = useConnection();
  const [waited, setWaited] = useState(false);
  const away = state.phase === 'lost' || (state.phase === 'connecting' && state.attempt > 0);
  useEffect(() => {
    if (!away) return setWaited(false);
    const timer = setTimeout(() => setWaited(true), patienceMs);
    return () => clearTimeout(timer);
  }, [away]);
  if (!away || !waited) return null;
  return (
    <div className="notice-line offline" role="alert">
      <span className="grow">
        {state.phase === 'lost' ? `${state.reason} ` : ''}Everything on the screen stays, and nothing that was stored is lost. Stemma keeps trying to
        reach the engine.{!window.stemma && ' If you started Stemma again, open the new link that it printed.'}
      </span>
      <Button small icon={RotateCcw} onClick={retry} disabled={state.phase !== 'lost'}>
        Try now
      </Button>
    </div>
  );
}
