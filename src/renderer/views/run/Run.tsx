import { Repeat } from 'lucide-react';
import { useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Switch, say } from '../../parts';
import { move, outlineOf, startRun, useNavigation, useQuery, useRuns } from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { Ask } from './Ask';
import { Recorded } from './Recorded';
import { Replies } from './Replies';
import { WhatIf } from './WhatIf';
import { useProviders } from './Who';

/** The chosen turn, to be run again. */
export function RunView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="Choose a turn to run it again" icon={Repeat}>
        What the model was asked becomes a form: change it, ask again, and see what else could have happened.
      </NoCommit>
    );
  }
  return <OfTurn key={`${project} ${commit}`} project={project} turnId={commit} />;
}

function OfTurn({ project, turnId }: { project: string; turnId: ContextId }) {
  const query = useQuery(`${project} ${turnId} run`, async (signal) => {
    const [turn, request, outline] = await Promise.all([
      api.turn.get({ turnId }, { signal }),
      api.turn.request({ turnId }, { signal }),
      outlineOf(project, turnId, 'compaction'),
    ]);
    return { turn, request, outline };
  });
  const asked = useProviders();
  // A provider's list of models may take its time: until it is there, the recording can be asked.
  const providers = asked.status === 'done' ? asked.data : undefined;
  const jobs = useRuns(({ jobs: all }) => all);
  const own = jobs.filter((job) => job.project === project && job.input.turnId === turnId);
  const [isAsking, setIsAsking] = useState(true);
  const what = useNavigation(({ route }) => route.runs) ?? 'turn';
  return (
    <Answer
      query={query}
      what="This turn cannot be run again"
      loading="Reading what was asked"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit>Choose another turn</ToCommit>}
      lines={14}
    >
      {({ turn, request, outline }) => (
        <section className="run" aria-label="Run again">
          <header className="run-head">
            <h2 className="ellipsis">
              <span className="muted">Turn {turn.number}</span> {say.firstLine(turn.trigger.text ?? 'goes on')}
            </h2>
            <Switch
              label="What is run"
              value={what}
              onChange={(value) => move({ runs: value === 'after' ? 'after' : undefined })}
              options={[
                { value: 'turn', name: 'This turn' },
                { value: 'after', name: 'The turns after it', hint: 'What if: what was said next, on top of this branch' },
              ]}
            />
            {what === 'turn' && (
              <Button small aria-pressed={isAsking} onClick={() => setIsAsking(!isAsking)}>
                {isAsking ? 'Hide the request' : 'Show the request'}
              </Button>
            )}
          </header>
          {what === 'after' ? (
            <WhatIf project={project} id={turnId} model={request.model} providers={providers ?? []} />
          ) : (
            <div className={`run-body${isAsking ? '' : ' wide'}`}>
              {isAsking && !providers && (
                <Answer query={asked} what="Nobody can be asked" loading="Looking who can be asked" lines={6}>
                  {() => null}
                </Answer>
              )}
              {isAsking && providers && (
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
          )}
        </section>
      )}
    </Answer>
  );
}
