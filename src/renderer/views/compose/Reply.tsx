import { BookOpen, Square } from 'lucide-react';
import { Button, describeProblem, Markdown, ProblemLine } from '../../parts';
import { openContext } from '../../state';
import type { Sending } from './useSending';

/** The reply of a model to the composition, as it arrives. */
export function ComposedReply({ sending, onStop }: { sending: Sending; onStop: () => void }) {
  const { state, text, commit, error } = sending;
  return (
    <section className="compose-reply" aria-label="Reply of the model" aria-busy={state === 'running'}>
      <header className="thing-head bar wrap">
        <h3 className="grow">{state === 'running' ? 'The model replies…' : state === 'stopped' ? 'Stopped' : 'Reply'}</h3>
        {state === 'running' && (
          <Button small icon={Square} onClick={onStop}>
            Stop
          </Button>
        )}
        {commit && (
          <Button small icon={BookOpen} onClick={() => openContext(commit)}>
            Open in Context
          </Button>
        )}
      </header>
      {error !== undefined && <ProblemLine>{describeProblem(error).message}</ProblemLine>}
      <div className="compose-reply-text">
        <Markdown text={text} />
      </div>
    </section>
  );
}
