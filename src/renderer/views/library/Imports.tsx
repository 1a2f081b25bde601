import { CircleCheck, CircleSlash, CircleX, Loader } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Skip } from '../../../core/contract/index.js';
import { Button, Empty, Failure, Sheet, say } from '../../parts';
import { copy, dismiss, go, type ImportJob, useImports } from '../../state';
import { groupSkips } from './groups';

const phaseNames = { finding: 'Looking for sessions', reading: 'Reading', storing: 'Storing', done: 'Done' } as const;

export const shareOf = (job: ImportJob): number => (job.progress && job.progress.total > 0 ? job.progress.done / job.progress.total : 0);

/** What was imported since the window opened: how far it is, what came of it, what was skipped and why. */
export function ImportsSheet() {
  const jobs = useImports((state) => state.jobs);
  return (
    <Sheet title="Imports" kind="side" onClose={dismiss}>
      {jobs.length === 0 ? <Empty title="Nothing was imported since this window opened" /> : jobs.map((job) => <Job key={job.id} job={job} />)}
    </Sheet>
  );
}

function Job({ job }: { job: ImportJob }) {
  const { progress, result, state, paths } = job;
  const Glyph = { running: Loader, done: CircleCheck, canceled: CircleSlash, failed: CircleX }[state];
  return (
    <article className="import-job">
      <header>
        <Glyph size={16} aria-hidden className={`import-${state}`} />
        <b className="grow ellipsis mono" title={paths.join('\n')}>
          {paths.length === 1 ? paths[0] : say.plural(paths.length, 'path')}
        </b>
        {state === 'running' && (
          <Button small onClick={job.cancel}>
            Cancel
          </Button>
        )}
      </header>
      {state === 'running' && (
        <>
          <div
            className="progress"
            role="progressbar"
            aria-label="Import"
            aria-valuemin={0}
            aria-valuemax={progress?.total ?? 0}
            aria-valuenow={progress?.done ?? 0}
          >
            <i style={{ width: `${shareOf(job) * 100}%` }} />
          </div>
          <p className="muted">
            {progress
              ? `${phaseNames[progress.phase]}: ${say.exact(progress.done)} of ${say.exact(progress.total)}, ${say.bytes(progress.bytes)} read`
              : 'Starting'}
            {progress?.path && <span className="mono import-path ellipsis">{progress.path}</span>}
          </p>
          <p className="muted">You can close this and go on: the import runs in the background.</p>
        </>
      )}
      {state === 'canceled' && <p className="muted">Canceled. What was stored before is whole and stays.</p>}
      {state === 'failed' && <Failure what="The import stopped" error={job.error} stillWorks="What was stored before is whole and stays." />}
      {result && (
        <>
          <p>
            {say.plural(result.sessions, 'session')}, {say.plural(result.commits, 'new commit')}, {say.plural(result.entries, 'entry', 'entries')}{' '}
            from {say.bytes(result.bytes)} in {say.duration(result.ms)}.
            {result.sessions === 0 ? ' There is no history in it.' : result.commits === 0 && ' Everything was here already.'}{' '}
            {result.tips.length > 0 && (
              <button
                type="button"
                className="link-button"
                onClick={() => {
                  dismiss();
                  go({ view: 'chain', commit: result.tips.at(-1), session: undefined, entry: undefined });
                }}
              >
                Show in the chain
              </button>
            )}
          </p>
          <Skips
            title="Not understood"
            explain={result.sessions === 0 ? 'Nothing of this was taken in.' : 'Nothing of this is lost: these lines are kept with their source.'}
            skips={result.skipped}
          />
          <Skips title="Worth knowing" explain="Read in a way that you should know of." skips={result.notes} />
        </>
      )}
    </article>
  );
}

/** More lines of one reason than these are counted, not listed; the copied list has them all. */
const listedLines = 12;
const listedGroups = 20;

function Skips({ title, explain, skips }: { title: string; explain: string; skips: readonly Skip[] }) {
  const groups = useMemo(() => groupSkips(skips), [skips]);
  const [open, setOpen] = useState(false);
  if (skips.length === 0) return null;
  const copyAll = () => copy(skips.map((skip) => `${skip.path}:${skip.line}  ${skip.reason}`).join('\n'), 'Copied the list');
  return (
    <section className="skips">
      <h3>
        {title} <span className="muted">{say.exact(skips.length)}</span>
        <span className="grow" />
        <Button small look="plain" onClick={() => void copyAll()}>
          Copy
        </Button>
      </h3>
      <p className="muted">{explain}</p>
      <ul>
        {groups.slice(0, open ? groups.length : listedGroups).map(({ path, reason, lines }) => (
          <li key={`${path}\n${reason}`}>
            <span className="mono ellipsis" title={path}>
              {path.split(/[\\/]/).at(-1)}
              {lines.length === 1 && lines[0] !== 0 && `:${lines[0]}`}
            </span>
            {lines.length > 1 && <span className="muted">{linesInWords(lines)}</span>}
            <span className="skip-reason">{reason}</span>
          </li>
        ))}
      </ul>
      {groups.length > listedGroups && (
        <Button small look="plain" onClick={() => setOpen(!open)} aria-expanded={open}>
          {open ? 'Show fewer' : `Show ${say.exact(groups.length - listedGroups)} more`}
        </Button>
      )}
    </section>
  );
}

function linesInWords(lines: readonly number[]): string {
  const more = lines.length - listedLines;
  return `lines ${lines.slice(0, listedLines).join(', ')}${more > 0 ? ` and ${say.exact(more)} more` : ''}`;
}
