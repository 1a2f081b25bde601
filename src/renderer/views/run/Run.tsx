import { Repeat } from 'lucide-react';
import { useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Switch, say } from '../../parts';
import { AnswerMemory, loadOutline, move, startRun, useNavigation, useQuery, useRuns } from '../../state';
import { CommitAnswer, NoCommit, ToCommit } from '../NoCommit';
import { useProviders } from './ProviderChoice';
import { RecordedReply, Replies } from './Replies';
import { RequestForm } from './RequestForm';
import { WhatIf } from './WhatIf';

/** The selected turn, with its request as a form and the replies of its runs. */
export function RunView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="No turn selected" icon={Repeat}>
        The request of a turn appears here as a form. Change it, run it again, and compare the replies.
      </NoCommit>
    );
  }
  return <TurnRun key={`${project} ${commit}`} project={project} turnId={commit} />;
}

type Loaded = Pick<Parameters<typeof RequestForm>[0], 'turn' | 'request' | 'outline'>;

const requests = new AnswerMemory<Loaded>(6);

function TurnRun({ project, turnId }: { project: string; turnId: ContextId }) {
  const query = useQuery(
    `${project} ${turnId} run`,
    async (signal) => {
      const [turn, request, outline] = await Promise.all([
        api.turn.get({ turnId }, { signal }),
        api.turn.request({ turnId }, { signal }),
        loadOutline(project, turnId, 'compaction'),
      ]);
      return { turn, request, outline };
    },
    requests,
  );
  const providerQuery = useProviders();
  const providers = providerQuery.status === 'done' ? providerQuery.data : undefined;
  const jobs = useRuns(({ jobs: all }) => all);
  const own = jobs.filter((job) => job.project === project && job.input.turnId === turnId);
  const [showsRequest, setShowsRequest] = useState(true);
  const what = useNavigation(({ route }) => route.runs) ?? 'turn';
  return (
    <CommitAnswer query={query} what="Cannot run this turn again" loading="Loading the request" actions={<ToCommit>Select another turn</ToCommit>}>
      {({ turn, request, outline }) => (
        <section className="run whole stack" aria-label="Run again">
          <header className="run-head gap-12 rigid bar">
            <h2 className="ellipsis">{say.firstLine(turn.trigger.text ?? 'continued')}</h2>
            <Switch
              label="Turns to run"
              value={what}
              onChange={(value) => move({ runs: value === 'after' ? 'after' : undefined })}
              options={{ turn: 'This turn', after: ['Later turns', 'What if: send the prompts of the original’s later turns on this branch'] }}
            />
            {what === 'turn' && (
              <Button small aria-pressed={showsRequest} onClick={() => setShowsRequest(!showsRequest)}>
                {showsRequest ? 'Hide the request' : 'Show the request'}
              </Button>
            )}
          </header>
          {what === 'after' ? (
            <WhatIf project={project} id={turnId} model={request.model} providers={providers ?? []} />
          ) : (
            <div className={`rest run-body${showsRequest ? '' : ' wide'}`}>
              {showsRequest && !providers && (
                <Answer query={providerQuery} what="Cannot list the providers" loading="Loading the providers" lines={6}>
                  {() => null}
                </Answer>
              )}
              {showsRequest && providers && (
                <RequestForm {...{ turn, request, providers, outline }} onRun={(input) => void startRun(project, { ...input, turnId })} />
              )}
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
              <div className="run-replies" tabIndex={0} role="log" aria-label="Replies">
                {own.map((job) => (
                  <Replies key={job.id} job={job} turn={turn} />
                ))}
                <RecordedReply turn={turn} isAlone={own.length === 0} />
              </div>
            </div>
          )}
        </section>
      )}
    </CommitAnswer>
  );
}
