import { Play, ShieldCheck } from 'lucide-react';
import { askToLaunch, ruleForm } from '../../forms';
import { Answer, Empty, Switch } from '../../parts';
import { ask, go, useNavigation } from '../../state';
import { JobFacts } from './JobFacts';
import { JobStream } from './JobStream';
import { Policies } from './Policies';
import { useJobs } from './useJobs';
import { groupJobs } from './words';

/** The jobs of the project as a live list, or the rules for work that may start by itself. */
export function JobsView({ project }: { project: string }) {
  const shown = useNavigation(({ route }) => route.kinds) === 'rules' ? 'rules' : 'jobs';
  return (
    <section className="jobs whole stack" aria-label="Jobs">
      <div className="bar">
        <Switch
          label="Jobs or rules"
          value={shown}
          onChange={(value) => go({ kinds: value === 'rules' ? 'rules' : undefined })}
          options={{
            jobs: ['Jobs', 'What models and agents carry out'],
            rules: ['May start by itself', 'What starts without a click, and its limits'],
          }}
        />
      </div>
      {shown === 'rules' ? <Policies project={project} /> : <LiveJobs project={project} />}
    </section>
  );
}

function LiveJobs({ project }: { project: string }) {
  const { query, now, reload } = useJobs(project);
  const chosen = useNavigation(({ route }) => route.job);
  return (
    <Answer query={query} what="Cannot list the jobs" loading="Loading the jobs" stillWorks="Running jobs continue.">
      {(jobs) => {
        const groups = groupJobs(jobs);
        const job = jobs.find(({ jobId }) => jobId === chosen) ?? groups[0]?.jobs[0];
        if (!job) return <NoJobs />;
        return (
          <div className="jobs-body rest">
            <JobStream key={job.jobId} job={job} onChange={reload} />
            <JobFacts job={job} now={now} onChange={reload} />
          </div>
        );
      }}
    </Answer>
  );
}

function NoJobs() {
  return (
    <Empty
      title="No jobs yet"
      picture={Play}
      acts={[
        { name: 'Launch an agent', look: 'primary', act: () => void askToLaunch() },
        { name: 'Allow something to start', icon: ShieldCheck, act: () => ask(ruleForm({ kind: 'agent', name: '' }, () => go({ kinds: 'rules' }))) },
      ]}
    >
      Jobs appear here: turns, runs, tickets and contexts that a model or an agent carries out.
    </Empty>
  );
}
