import { CircleAlert, ShieldQuestion, Wrench } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Job } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, describeProblem, FoldedText, jobStatusWords, Loading, Markdown, ProblemLine, say, TaskProblem, TextArea } from '../../parts';
import { type JobLine, linesOfJob, useTask } from '../../state';
import { useJobLog } from './useJobs';
import { argumentsLine, argumentsText, jobTitle, performerName } from './words';

/** The last lines are drawn first; earlier ones on request. */
const drawn = 300;

/** Within this many pixels of the end, the list follows new lines. */
const nearEnd = 40;

/** The events of a job as they happen, and its questions. */
export function JobStream({ job, onChange }: { job: Job; onChange: () => void }) {
  const { events, loaded, error } = useJobLog(job.jobId);
  const all = useMemo(() => linesOfJob(events), [events]);
  // A question that waits for its answer is drawn below, with its buttons.
  const lines = all.filter(({ requestId }) => job.status !== 'running' || !job.questions.some((question) => question.requestId === requestId));
  const [isAll, setIsAll] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const size = lines.length + job.questions.length + (lines.at(-1)?.text.length ?? 0);
  // The newest line comes into view, unless the person has scrolled away from the end.
  useEffect(() => {
    if (size > 0 && isAtEnd.current) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [size]);
  const shown = isAll ? lines : lines.slice(-drawn);
  return (
    <section className="stack shrinks" aria-label="What the job does">
      <header className="thing-head bar wrap">
        <h2 className="ellipsis">{jobTitle(job)}</h2>
        <span className="muted">{performerName(job.performer)}</span>
      </header>
      <div
        ref={scroller}
        className="job-scroll overflows"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label="Stream"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
        }}
      >
        {!loaded && <Loading what="Loading what happened" lines={6} />}
        {error !== undefined && <ProblemLine>The stream cannot be loaded: {describeProblem(error).message}</ProblemLine>}
        {shown.length < lines.length && (
          <Button small label={`Show ${say.plural(lines.length - shown.length, 'earlier line')}`} onClick={() => setIsAll(true)} />
        )}
        <ol>
          {shown.map((line, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are only added at the end
            <li key={place} className={`job-line line-${line.kind}`}>
              <LineView line={line} job={job} />
            </li>
          ))}
        </ol>
        {loaded && lines.length === 0 && error === undefined && <p className="muted">Nothing has happened yet.</p>}
        {job.status === 'running' &&
          job.questions.map((question) => <Question key={question.requestId} job={job} question={question} onAnswered={onChange} />)}
      </div>
    </section>
  );
}

function LineView({ line, job }: { line: JobLine; job: Job }) {
  switch (line.kind) {
    case 'text':
      return <Markdown text={line.text} />;
    case 'thinking':
      return (
        <details>
          <summary className="muted">Thinking</summary>
          <pre className="verbatim">{line.text}</pre>
        </details>
      );
    case 'call':
      return (
        <details>
          <summary>
            <Wrench size={12} aria-hidden /> {line.toolName ?? 'tool'} <span className="muted">{say.firstLine(argumentsLine(line.text), 90)}</span>
          </summary>
          <pre className="verbatim">{argumentsText(line.text)}</pre>
          {line.result !== undefined && <FoldedText text={line.result} lines={12} />}
        </details>
      );
    case 'question':
      return (
        <p className="muted">
          <ShieldQuestion size={12} aria-hidden /> Asked about {line.toolName ?? 'a tool'}: {say.firstLine(argumentsLine(line.text), 90)}
        </p>
      );
    case 'ended':
      return (
        <p className="muted">
          {jobStatusWords[job.status]}
          {line.text && `: ${line.text}`}
        </p>
      );
    default:
      return (
        <p className="muted">
          <CircleAlert size={12} aria-hidden /> {line.text}
        </p>
      );
  }
}

/** A question that only a person can answer. Nothing runs before the answer. */
function Question({ job, question, onAnswered }: { job: Job; question: Job['questions'][number]; onAnswered: () => void }) {
  const { requestId, toolName, arguments: given, askedAt } = question;
  const [note, setNote] = useState('');
  const [answering, start] = useTask<void>();
  const busy = answering.state === 'running';
  const allowButton = useRef<HTMLButtonElement>(null);
  const isAgent = 'agent' in job.performer;
  // Does not take the focus from a person who is typing.
  useEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body) allowButton.current?.focus();
  }, []);
  const answer = (allow: boolean): void =>
    void start(() => api.runner.answer({ jobId: job.jobId, requestId, allow, ...(note.trim() !== '' && { note }) }).then(onAnswered));
  return (
    <section className="job-question stack" aria-label={`${performerName(job.performer)} asks`}>
      <h3>
        <ShieldQuestion size={14} aria-hidden />{' '}
        {isAgent ? `${performerName(job.performer)} asks to use ${toolName}` : `The model calls ${toolName}, which Stemma does not have`}
      </h3>
      <p className="muted">Asked at {say.instant(askedAt)}. Nothing runs before you answer.</p>
      <pre className="verbatim">{argumentsText(given)}</pre>
      <label className="form-field stack">
        <span>{isAgent ? 'Reason, if you deny (not every agent passes it on)' : 'Result of the tool, or the reason if you refuse'}</span>
        <TextArea rows={2} value={note} onChange={setNote} />
      </label>
      <TaskProblem task={answering} />
      <div className="row wrap">
        <button ref={allowButton} type="button" className="button primary" disabled={busy} onClick={() => answer(true)}>
          {isAgent ? 'Allow once' : 'Send the result'}
        </button>
        <span className="grow" />
        <Button look="danger" label={isAgent ? 'Deny' : 'Refuse'} disabled={busy} onClick={() => answer(false)} />
      </div>
    </section>
  );
}
