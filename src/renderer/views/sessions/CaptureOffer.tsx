import { useState } from 'react';
import { Button, notifyProblem } from '../../parts';
import { switchCapture, useLive } from '../../state';

const asked = 'stemma.captureAsked';

/** After the first import, offers once to record agents while they work. */
export function CaptureOffer({ hasSessions }: { hasSessions: boolean }) {
  const capture = useLive((live) => live.capture);
  const [answered, setAnswered] = useState(() => localStorage.getItem(asked) !== null);
  if (answered || !hasSessions || !capture || capture.watching || capture.wanted) return null;
  const answer = (): void => {
    localStorage.setItem(asked, 'yes');
    setAnswered(true);
  };
  return (
    <div className="notice-line capture-offer">
      <span className="grow">
        <b>Live capture</b> shows new turns here while agents work, and how full their windows are. It only reads the agents' files.
      </span>
      <Button
        small
        look="primary"
        onClick={() => {
          answer();
          switchCapture(true).catch(notifyProblem);
        }}
      >
        Turn on
      </Button>
      <Button small onClick={answer}>
        Not now
      </Button>
    </div>
  );
}
