import { Repeat } from 'lucide-react';
import { useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, say } from '../../parts';
import { go, outlineOf, startRun, useNavigation, useQuery, useRuns } from '../../state';
import { Ask } from './Ask';
import { Recorded } from './Recorded';
import { Replies } from './Replies';

/** The chosen turn, to be run again. */
export function RunView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <Empty
        title="Choose a turn to run it again"
        picture={<Repeat size={48} strokeWidth={1} />}
        actions={
          <Button look="primary" onClick={() => go({ view: 'chain' })}>
            Choose one in the chain
          </Button>
        }
      >
        What the model was asked becomes a form: change it, ask again, and see what else could have happened.
      </Empty>
    );
  }
  return <OfTurn key={`${project} ${commit}`} project={project} turnId={commit} />;
}

function OfTurn({ project, turnId }: { project: string; turnId: ContextId }) {
  const query = useQuery(`${project} ${turnId} run`, async (signal) => {
    const [turn, request, providers, outline] = await Promise.all([
      api.turn.get({ turnId }, { signal }),
      api.turn.request({ turnId }, { signal }),
      api.turn.providers({}, { signal }),
      outlineOf(project, turnId, 'compaction'),
    ]);
    return { turn, request, providers, outline };
  });
  const jobs = useRuns(({ jobs: all }) => all);
  const own = jobs.filter((job) => job.project === project && job.input.turnId === turnId);
  const [isAsking, setIsAsking] = useState(true);
  return (
    <Answer
      query={query}
      what="This turn cannot be run again"
      loading="Reading what was asked"
      stillWorks="Its context can still be opened, forked and compared."
      lines={14}
    >
      {({ turn, request, providers, outline }) => (
        <section className="run" aria-label="Run again">
          <header className="run-head">
            <h2 className="ellipsis">
              <span className="muted">Turn {turn.number}</span> {say.firstLine(turn.trigger.text ?? 'goes on')}
            </h2>
            <Button small aria-pressed={isAsking} onClick={() => setIsAsking(!isAsking)}>
              {isAsking ? 'Hide the request' : 'Show the request'}
            </Button>
          </header>
          <div className={`run-body${isAsking ? '' : ' wide'}`}>
            {isAsking && (
              <Ask
                turn={turn}
                request={request}
                providers={providers}
                outline={outline}
                onRun={(input) => void startRun(project, { ...input, turnId })}
              />
            )}
            <div className="run-replies">
              {own.map((job) => (
                <Replies key={job.id} job={job} turn={turn} />
              ))}
              <Recorded turn={turn} isAlone={own.length === 0} />
            </div>
          </div>
        </section>
      )}
    </Answer>
  );
}
