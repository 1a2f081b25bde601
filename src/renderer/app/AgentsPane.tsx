import { CircleDashed, Hourglass, Play } from 'lucide-react';
import { useState } from 'react';
import { api } from '../client';
import { askToLaunch } from '../forms';
import { Button, Loading, say, Unread } from '../parts';
import { go, refreshProject, useNavigation, useProjectQuery } from '../state';
import { endedGroup, groupJobs, JobList, useJobs } from '../views/jobs';
import { NewSpace, SpaceList, useSpaces } from '../views/timeline';
import { PageLinks } from './PageBar';

/** What agents do in the project: runs by state, turns that wait, spaces, and the pages with everything else. */
export function View({ project }: { project: string }) {
  const { query, now, reload } = useJobs(project);
  const route = useNavigation((state) => state.route);
  const [allEnded, setAllEnded] = useState(false);
  const groups = groupJobs(query.data ?? []).map((group) => {
    const shown = group.name === endedGroup && !allEnded ? group.jobs.slice(0, shownEnded) : group.jobs;
    return { ...group, jobs: shown, count: group.jobs.length };
  });
  const hidden = groups.reduce((sum, { jobs, count }) => sum + count - jobs.length, 0);
  return (
    <aside className="agents-pane rigid stack" aria-label="Agents">
      <header className="row">
        <h2 className="grow">Runs</h2>
        <Button small icon={Play} label="Launch an agent" onClick={() => void askToLaunch()} />
      </header>
      <div className="rest overflows">
        <JobList groups={groups} chosen={route.view === 'jobs' ? route.job : undefined} now={now} onStop={reload} />
        {hidden > 0 && <Button small look="plain" label={`Show ${hidden} more`} onClick={() => setAllEnded(true)} />}
        {query.status === 'loading' && <Loading what="Loading the runs" lines={4} />}
        {query.status === 'failed' && <Unread what="The runs" error={query.error} onRetry={query.retry} />}
        <WaitingTurns project={project} />
        <Spaces project={project} />
      </div>
      <PageLinks place="agents" className="agents-pages rigid nowrap line-above" />
    </aside>
  );
}

/** Ended jobs beyond this number are shown on request. */
const shownEnded = 6;

/** Turns that nobody works on: they are dispatched, wait behind an earlier turn, or wait for results. */
function WaitingTurns({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => (route.view === 'handover' ? route.turn : undefined));
  const query = useProjectQuery(project, `${project} waiting turns`, () => api.handover.map({}));
  if (query.status !== 'done') return null;
  const { agents, turns } = query.data;
  const waiting = turns.filter(({ endedAt, status }) => endedAt === undefined && status !== 'running').toReversed();
  if (waiting.length === 0) return null;
  const nameOf = (id: string): string => agents.find(({ agentId }) => agentId === id)?.displayName ?? 'An agent';
  return (
    <section className="agents-group" aria-label="Waiting turns">
      <h3>
        Waiting <span className="muted">{waiting.length}</span>
      </h3>
      <ul>
        {waiting.slice(0, shownWaiting).map((turn) => (
          <li key={turn.agentTurnId}>
            <button
              type="button"
              className="selectable"
              aria-current={turn.agentTurnId === chosen ? 'true' : undefined}
              onClick={() => go({ view: 'handover', handovers: undefined, turn: turn.agentTurnId })}
            >
              <span className="row gap-6">
                {turn.status === 'dispatched' ? <CircleDashed size={14} aria-hidden /> : <Hourglass size={14} aria-hidden />}
                <span className="ellipsis grow">{say.firstLine(turn.instruction ?? '', 80) || 'Turn without an instruction'}</span>
              </span>
              <span className="muted small ellipsis">
                {nameOf(turn.agentId)} · {waitWords[turn.status as keyof typeof waitWords] ?? turn.status}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const shownWaiting = 20;
const waitWords = { dispatched: 'nobody works on it yet', queued: 'behind an earlier turn', suspended: 'waits for a result' };

function Spaces({ project }: { project: string }) {
  const { route } = useNavigation();
  const { query } = useSpaces(project);
  const [isCreating, setIsCreating] = useState(false);
  if (query.status !== 'done') return null;
  const { spaces, entities } = query.data;
  const isShown = route.view === 'timeline';
  const chosen = route.space === undefined ? spaces[0]?.spaceId : route.space;
  return (
    <>
      <SpaceList
        spaces={spaces}
        chosen={isShown ? chosen : undefined}
        hasContext={isShown && route.commit !== undefined}
        onNew={() => setIsCreating(true)}
      />
      {isCreating && (
        <NewSpace
          known={entities}
          onClose={() => setIsCreating(false)}
          onCreated={({ spaceId }) => {
            setIsCreating(false);
            void refreshProject().then(() => go({ view: 'timeline', space: spaceId }));
          }}
        />
      )}
    </>
  );
}
