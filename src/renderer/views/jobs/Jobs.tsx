import { BookOpen, GitFork, Hand, Pencil, Play, Plus, ShieldCheck, Square, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Job, PolicyRule } from '../../../core/contract/index.js';
import { api } from '../../client';
import { askToLaunch, permissionOptions, policyLimitsForm, readTarget, ruleForm, ruleKinds, runForm } from '../../forms';
import { Answer, attempt, Button, Empty, Facts, Gauge, IconButton, Id, jobStatusWords, LinkButton, notifyProblem, Switch, say } from '../../parts';
import { ask, go, notify, openContext, useNavigation, useProjectQuery, useRounds } from '../../state';
import { goToWork, stopJob, takeOver } from './actions';
import { JobStream } from './JobStream';
import { useJobs } from './useJobs';
import { groupJobs, limitRows, performerName } from './words';

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

const link = (name: string, act: () => void): ReactNode => <LinkButton label={name} onClick={act} />;

/** The performer of a job, its usage of the limits, and the links to its work. */
export function JobFacts({ job, now, onChange }: { job: Job; now: number; onChange: () => void }) {
  const isRunning = job.status === 'running';
  return (
    <aside className="job-facts stack" aria-label="Facts of the job">
      <div className="row wrap">
        {isRunning ? (
          <Button look="danger" icon={Square} label="Stop" onClick={() => void stopJob(job, onChange)} />
        ) : (
          <Button icon={Play} label="Run again…" onClick={() => ask(runForm(job.what, 'Run again'))} />
        )}
        <Button icon={Hand} title="Stops the job, and lets you continue where it stopped" onClick={attempt(() => takeOver(job, onChange))}>
          Take over
        </Button>
      </div>
      {job.error !== null && <p className="notice-line error">{job.error}</p>}
      <Facts
        rows={{
          State: jobStatusWords[job.status],
          Performer: performerName(job.performer),
          Folder: 'agent' in job.performer && job.performer.folder,
          Permissions: 'agent' in job.performer && permissionOptions[job.performer.permissions ?? 'default'],
          For: job.whoName !== null && <span title={job.who ?? undefined}>{job.whoName}</span>,
          Since: say.instant(job.startedAt),
          Ended: job.endedAt !== null && say.instant(job.endedAt),
          'Started by': job.byPolicy && link('a rule', () => go({ kinds: 'rules' })),
          Job: <Id id={job.jobId} what="job id" />,
        }}
      />
      <Limits job={job} now={now} />
      <BelongsTo job={job} />
    </aside>
  );
}

function Limits({ job, now }: { job: Job; now: number }) {
  return (
    <section aria-label="Limits">
      <h3>Limits</h3>
      <ul className="limit-rows">
        {limitRows(job, now).map(({ name, value, limit, share }) => (
          <li key={name}>
            <span>{name}</span>
            {share === undefined ? <span /> : <Gauge tokens={Math.round(share * 100)} limit={100} label={`${name}: ${value} of ${limit}`} />}
            <span>
              {value}
              {limit !== undefined && <span className="muted"> of {limit}</span>}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted">The job stops before the call that would exceed a limit.</p>
    </section>
  );
}

function BelongsTo({ job }: { job: Job }) {
  const tip = job.commits.at(-1);
  return (
    <section aria-label="Belongs to">
      <h3>Belongs to</h3>
      <ul>
        {'turnId' in job.what && <li>{link('The turn', () => goToWork(job))}</li>}
        {'caseId' in job.what && <li>{link('The experiment', () => goToWork(job))}</li>}
        {job.space !== null && <li>{link('The space', () => go({ view: 'timeline', space: job.space ?? undefined }))}</li>}
        {job.ticketId !== null && <li>{link(`The ticket ${job.ticketId}`, () => go({ view: 'reviews', ticket: job.ticketId ?? undefined }))}</li>}
        {'commit' in job.what && (
          <li>
            {link('The context that it answers', () => 'commit' in job.what && go({ view: 'context', commit: job.what.commit, entry: undefined }))}
          </li>
        )}
      </ul>
      {tip && (
        <div className="row wrap">
          <Button small icon={BookOpen} label="Result in Context" onClick={() => openContext(tip)} />
          <Button small icon={GitFork} label="In Chain" onClick={() => go({ view: 'chain', session: undefined, commit: tip })} />
        </div>
      )}
    </section>
  );
}

/** The rules for work that may start by itself on this machine. */
export function Policies({ project }: { project: string }) {
  const [round, reload] = useRounds();
  const query = useProjectQuery(project, `${project} policy ${round}`, () => api.runner.getPolicy({}));
  const remove = async (rules: readonly PolicyRule[], place: number): Promise<void> => {
    const { rules: _, ...rest } = await api.runner.getPolicy({});
    await api.runner.setPolicy({ ...rest, rules: rules.filter((__, at) => at !== place) });
    reload();
    notify('Removed. It no longer starts by itself.', {
      name: 'Undo',
      act: () => void api.runner.setPolicy({ ...rest, rules: [...rules] }).then(reload),
    });
  };
  const allow = (
    <Button look="primary" icon={Plus} label="Allow something to start" onClick={() => ask(ruleForm({ kind: 'agent', name: '' }, reload))} />
  );
  return (
    <Answer query={query} what="Cannot load the rules" loading="Loading the rules">
      {({ rules }) =>
        rules.length === 0 ? (
          <Empty title="Nothing starts by itself" picture={ShieldCheck} actions={allow}>
            Rules appear here. Without a rule, a job starts only when you press “Run here”.
          </Empty>
        ) : (
          <div className="policies stack">
            <p className="muted">The first rule that fits decides. Rules belong to this machine and are not shared with the project.</p>
            <ol aria-label="Rules">
              {rules.map((rule, place) => {
                const { kind, name } = readTarget(rule);
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity but their place
                  <li key={place} className="row gap-4">
                    <span className="grow">
                      <b>{name}</b> <span className="muted">{ruleKinds[kind]}</span>
                      <br />
                      <span className="muted">
                        {performerName(rule.performer)}
                        {rule.who && ` · only for ${rule.who}`}
                        {rule.from && ` · also from ${rule.from.map(senderName).join(', ')}`} · {limitsText(rule)}
                      </span>
                    </span>
                    <IconButton small icon={Pencil} label={`Edit the rule for ${name}`} onClick={() => ask(ruleForm({ rule, place }, reload))} />
                    <IconButton small icon={Trash2} label={`Remove the rule for ${name}`} onClick={attempt(() => remove(rules, place))} />
                  </li>
                );
              })}
            </ol>
            <div className="row wrap">
              {allow}
              <Button label="Usual limits…" onClick={() => void policyLimitsForm(reload).then(ask, notifyProblem)} />
            </div>
          </div>
        )
      }
    </Answer>
  );
}

const senderName = ({ name, isLink }: NonNullable<PolicyRule['from']>[number]): string => (isLink ? `${name} (share link)` : name);

function limitsText({ limits = {}, parallel }: PolicyRule): string {
  const parts = [
    limits.calls !== undefined && say.plural(limits.calls, 'call'),
    limits.minutes !== undefined && say.plural(limits.minutes, 'minute'),
    limits.tokens !== undefined && say.plural(limits.tokens, 'token'),
    limits.cost !== undefined && say.money({ amount: limits.cost, currency: 'USD' }),
    parallel !== undefined && `${parallel} at a time`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'usual limits';
}
