import { CircleCheck, CircleSlash, CircleX, Loader } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ImportResult, Skip } from '../../../core/contract/index.js';
import { Button, Empty, Failure, LinkButton, Sheet, say } from '../../parts';
import { copy, dismiss, go, type ImportJob, useImports } from '../../state';
import { groupSkips, lineNumbers } from './skips';

const phaseNames = { finding: 'Looking for sessions', reading: 'Reading', storing: 'Storing', done: 'Done' } as const;

const outcomes = {
  running: [Loader, 'var(--accent)'],
  done: [CircleCheck, 'var(--good)'],
  empty: [CircleSlash, 'var(--muted)'],
  canceled: [CircleSlash, 'var(--muted)'],
  failed: [CircleX, 'var(--danger)'],
} as const;

/** The progress of an import, from 0 to 1. */
export const shareOf = (job: ImportJob): number => (job.progress && job.progress.total > 0 ? job.progress.done / job.progress.total : 0);

/** The imports since this window opened: progress, result, and skipped lines with the reason. */
export function ImportsSheet() {
  const jobs = useImports((state) => state.jobs);
  return (
    <Sheet title="Imports" kind="side" onClose={dismiss}>
      {jobs.length === 0 ? (
        <Empty title="No imports yet">Imports of this window appear here with their progress and result.</Empty>
      ) : (
        jobs.map((job) => <Job key={job.id} job={job} />)
      )}
    </Sheet>
  );
}

function Job({ job }: { job: ImportJob }) {
  const { progress, result, state, paths } = job;
  const isEmpty = result?.sessions === 0 && !result.requests;
  const [Glyph, color] = outcomes[isEmpty ? 'empty' : state];
  return (
    <article className="import-job gap-8 line-below stack">
      <header className="row">
        <Glyph size={16} aria-hidden color={color} />
        <b className="grow ellipsis mono" title={paths.join('\n')}>
          {paths.length === 1 ? paths[0] : say.plural(paths.length, 'path')}
        </b>
        {state === 'running' && <Button small label="Cancel" onClick={job.stop} />}
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
          <p className="muted">You can close this sheet. The import continues in the background.</p>
        </>
      )}
      {state === 'canceled' && <p className="muted">Canceled. Sessions that were already stored stay in the project.</p>}
      {state === 'failed' && (
        <Failure what="The import failed" error={job.error} stillWorks="Sessions that were already stored stay in the project." />
      )}
      {result && (
        <>
          <p>
            {isEmpty ? 'Nothing was imported: Stemma found no history.' : importedText(result)}{' '}
            {result.tips.length > 0 && (
              <LinkButton
                label="Show in Chain"
                onClick={() => {
                  dismiss();
                  go({ view: 'chain', commit: result.tips.at(-1), session: undefined, entry: undefined });
                }}
              />
            )}
          </p>
          <Skips
            title="Skipped"
            explain={
              result.skipped.some(({ line }) => line === 0)
                ? 'Stemma could not read these files or lines. Lines are kept with their source.'
                : 'Stemma could not read these lines. They are kept with their source.'
            }
            skips={result.skipped}
          />
          <Skips title="Notes" explain="Stemma read these lines in a way that you should know about." skips={result.notes} />
        </>
      )}
    </article>
  );
}

function importedText({ sessions, commits, entries, requests, bytes, ms }: ImportResult): string {
  const counts = [
    say.plural(sessions, 'session'),
    say.plural(commits, 'new commit'),
    say.plural(entries, 'entry', 'entries'),
    ...(requests === undefined ? [] : [say.plural(requests, 'model call')]),
  ];
  const known = sessions > 0 && commits === 0 ? ' Everything was already imported.' : '';
  return `${counts.join(', ')} from ${say.bytes(bytes)} in ${say.duration(ms)}.${known}`;
}

/** Groups beyond this limit are counted instead of listed. The copied list is complete. */
const listedGroups = 20;

function Skips({ title, explain, skips }: { title: string; explain: string; skips: readonly Skip[] }) {
  const groups = useMemo(() => groupSkips(skips), [skips]);
  const [open, setOpen] = useState(false);
  if (skips.length === 0) return null;
  const copyAll = () =>
    copy(skips.map(({ path, line, reason }) => `${line > 0 ? `${path}:${line}` : path}  ${reason}`).join('\n'), 'Copied the list');
  return (
    <section className="skips">
      <h3 className="row">
        {title} <span className="muted">{say.exact(skips.length)}</span>
        <span className="grow" />
        <Button small look="plain" label="Copy" onClick={() => void copyAll()} />
      </h3>
      <p className="muted">{explain}</p>
      <ul className="small">
        {groups.slice(0, open ? groups.length : listedGroups).map(({ path, reason, lines }) => (
          <li key={`${path}\n${reason}`}>
            <span className="mono ellipsis" title={path}>
              {path.split(/[\\/]/).at(-1)}
              {lines.length === 1 && lines[0] !== 0 && `:${lines[0]}`}
            </span>
            {lines.length > 1 && <span className="muted">{lineNumbers(lines)}</span>}
            <span className="skip-reason breaks">{reason}</span>
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
