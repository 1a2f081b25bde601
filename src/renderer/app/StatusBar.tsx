import { Circle, CircleCheck, Loader, Unplug } from 'lucide-react';
import { useConnection } from '../client';
import { say } from '../parts';
import { go, show, useImports, useProject, useUi } from '../state';
import { shareOf } from '../views/sessions';
import { TeamNews } from './TeamNews';

/** The counts of the open project, running imports, and whether the engine answers. */
export function StatusBar() {
  const project = useProject(({ state }) => state);
  const connection = useConnection(({ state }) => state);
  const jobs = useImports((state) => state.jobs);
  const notice = useUi((ui) => (ui.noticeAct ? undefined : ui.notice));
  const running = jobs.filter((job) => job.state === 'running');
  const problems = jobs.reduce((sum, job) => sum + (job.state === 'failed' ? 1 : 0) + (job.result?.skipped.length ?? 0), 0);
  const info = project.phase === 'open' ? project.info : undefined;
  return (
    <footer className="status-bar row muted">
      {info && (
        <>
          <span>{say.plural(info.counts.commits, 'commit')}</span>
          <span className="status-wide">{say.plural(info.counts.entries, 'entry', 'entries')}</span>
          <button
            type="button"
            className="status-wide"
            onClick={() => go({ view: 'settings', settings: 'storage' })}
            title={`${say.exact(info.bytes.stored)} bytes on disk for ${say.exact(info.bytes.logical)} bytes of content. Click to see what takes the space.`}
          >
            stored {say.bytes(info.bytes.stored)}
            {/* Tickets, cards and indexes are not part of the logical size, so a small project can store more than it. */}
            {info.bytes.stored < info.bytes.logical && ` of ${say.bytes(info.bytes.logical)}`}
          </button>
        </>
      )}
      <output className="grow status-notice" aria-live="polite">
        {notice}
      </output>
      {running.map((job) => (
        <button key={job.id} type="button" className="status-import" onClick={() => show({ kind: 'imports' })} title="Show the import">
          <Loader size={12} aria-hidden />
          Importing {job.progress && job.progress.total > 0 ? `${Math.round(shareOf(job) * 100)}%` : '…'}
        </button>
      ))}
      {running.length === 0 && jobs.length > 0 && (
        <button type="button" onClick={() => show({ kind: 'imports' })} className={problems > 0 ? 'tone-warn' : undefined}>
          <CircleCheck size={12} aria-hidden />
          {problems > 0 ? `Imports: ${say.plural(problems, 'problem')}` : 'Imports: no problems'}
        </button>
      )}
      {info && <TeamNews dir={info.dir} />}
      <span className="inline-row" title={connection.phase === 'lost' ? connection.reason : undefined}>
        {connection.phase === 'open' ? <Circle size={8} fill="var(--good)" stroke="none" aria-hidden /> : <Unplug size={12} aria-hidden />}
        {connection.phase === 'open' ? 'Engine ready' : connection.phase === 'lost' ? 'Engine lost' : 'Connecting'}
      </span>
    </footer>
  );
}
