import { CircleCheck, CircleDashed, CircleStop, CircleX, ShieldQuestion, Square } from 'lucide-react';
import type { Job } from '../../../core/contract/index.js';
import { DamagedMark, Gauge, type Icon, IconButton, jobStatusWords, say, selectByKey } from '../../parts';
import { go } from '../../state';
import { stopJob } from './actions';
import { jobTitle, limitRows, performerName, runTime, usedText } from './words';

interface JobListProps {
  /** `count` is the number of all jobs of a group, of which `jobs` may be the first ones. */
  readonly groups: readonly { readonly name: string; readonly jobs: readonly Job[]; readonly count: number }[];
  readonly chosen: string | undefined;
  readonly now: number;
  readonly onStop: () => void;
}

/** The jobs in groups: those that need an answer, those that run, and those that ended. */
export function JobList({ groups, chosen, now, onStop }: JobListProps) {
  const all = groups.flatMap(({ jobs }) => jobs);
  const at = all.findIndex(({ jobId }) => jobId === chosen);
  return (
    <nav
      className="job-list"
      aria-label="Jobs by state"
      onKeyDown={(event) => {
        selectByKey(event, all, at, 8, (job) => {
          showJob(job);
          event.currentTarget.querySelector<HTMLElement>(`[data-job="${job.jobId}"]`)?.focus();
        });
      }}
    >
      {groups.map(({ name, jobs, count }) => (
        <section key={name} aria-label={`${name}, ${say.plural(count, 'job')}`}>
          <h3>
            {name} <span className="muted">{count}</span>
          </h3>
          <ul>
            {jobs.map((job) => (
              <JobRow key={job.jobId} job={job} isChosen={job.jobId === chosen} now={now} onStop={onStop} />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

const showJob = ({ jobId }: Job): void => go({ view: 'jobs', kinds: undefined, job: jobId });

const icons: Readonly<Record<Job['status'], Icon>> = {
  running: CircleDashed,
  success: CircleCheck,
  failed: CircleX,
  stopped: CircleStop,
  limit: CircleStop,
  interrupted: CircleX,
};

function JobRow({ job, isChosen, now, onStop }: { job: Job; isChosen: boolean; now: number; onStop: () => void }) {
  const isRunning = job.status === 'running';
  const asks = isRunning && job.questions.length > 0;
  const Glyph = asks ? ShieldQuestion : icons[job.status];
  const full = limitRows(job, now)
    .filter(({ share }) => share !== undefined)
    .sort((a, b) => (b.share ?? 0) - (a.share ?? 0))[0];
  return (
    <li className="job-row selectable" data-chosen={isChosen} data-status={asks ? 'asks' : job.status}>
      <button type="button" data-job={job.jobId} aria-current={isChosen ? 'true' : undefined} onClick={() => showJob(job)}>
        <span className="job-top row gap-6">
          <Glyph size={14} aria-hidden />
          <span className="ellipsis grow" title={jobTitle(job)}>
            {jobTitle(job)}
          </span>
          {job.damaged && <DamagedMark />}
          <time className="muted small" dateTime={job.startedAt} title={`Since ${say.instant(job.startedAt)}`}>
            {isRunning ? say.duration(runTime(job, now)) : say.when(job.startedAt)}
          </time>
        </span>
        <span className="job-bottom small muted ellipsis">
          {performerName(job.performer)} · {asks ? 'needs an answer' : jobStatusWords[job.status]}
        </span>
        <span className="job-bottom small muted ellipsis">{usedText(job)}</span>
        {isRunning && full?.share !== undefined && (
          <Gauge tokens={Math.round(full.share * 100)} limit={100} live label={`${full.name}: ${full.value} of ${full.limit}`} />
        )}
      </button>
      {isRunning && <IconButton small icon={Square} label={`Stop ${jobTitle(job)}`} className="job-stop" onClick={() => void stopJob(job, onStop)} />}
    </li>
  );
}
