import { Circle, CircleCheck, Loader, Unplug, Users } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api, useConnection } from '../client';
import { attempt, say } from '../parts';
import { go, refreshProject, show, useImports, useProject, useRounds, useUi } from '../state';
import { shareOf } from '../views/sessions';

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
    <footer className="status-bar nowrap line-above on-pane row muted">
      {info && (
        <>
          <span>{say.plural(info.counts.commits, 'commit')}</span>
          <span className="status-wide">{say.plural(info.counts.entries, 'entry', 'entries')}</span>
          <button
            type="button"
            className="inline-row"
            onClick={() => go({ view: 'settings', settings: 'storage' })}
            title={`${say.exact(info.bytes.stored)} bytes on disk for ${say.exact(info.bytes.logical)} bytes of content. Click to see what takes the space.`}
          >
            stored {say.bytes(info.bytes.stored)}
            {/* Tickets, cards and indexes are not part of the logical size, so a small project can store more than it. */}
            {info.bytes.stored < info.bytes.logical && ` of ${say.bytes(info.bytes.logical)}`}
          </button>
        </>
      )}
      <output className="grow ellipsis status-notice" aria-live="polite">
        {notice}
      </output>
      {running.map((job) => (
        <button key={job.id} type="button" className="status-import inline-row" onClick={() => show({ kind: 'imports' })} title="Show the import">
          <Loader size={12} aria-hidden />
          Importing {job.progress && job.progress.total > 0 ? `${Math.round(shareOf(job) * 100)}%` : '…'}
        </button>
      ))}
      {running.length === 0 && jobs.length > 0 && (
        <button type="button" onClick={() => show({ kind: 'imports' })} className={problems > 0 ? 'tone-warn inline-row' : 'inline-row'}>
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

type News = Awaited<ReturnType<typeof api.team.news>>;

const everySeconds = 15;

/** The number of new items on the project's hub, and the other people who use it now. Hidden for a project without a hub. A click pulls the items. */
function TeamNews({ dir }: { dir: string }) {
  const [news, setNews] = useState<News>();
  const [round, askAgain] = useRounds();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another project or a new round asks again
  useEffect(() => {
    let timer = 0;
    let isOver = false;
    const ask = async (): Promise<void> => {
      const answer = document.hidden ? undefined : await api.team.news({}).catch(() => undefined);
      if (isOver) return;
      // A project that is open without a clone pulls new items without being asked.
      if (answer?.onDemand && answer.toPull) {
        await api.team
          .pull({})
          .then(refreshProject)
          .catch(() => undefined);
        answer.toPull = 0;
      }
      if (isOver) return;
      if (answer) setNews(answer);
      // A project without a hub is checked again when it is opened or connected.
      if (answer?.hub !== null) timer = window.setTimeout(() => void ask(), everySeconds * 1_000);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [dir, round]);
  if (!news || news.hub === null) return null;
  const { toPull, people, problem, refused } = news;
  const words = [refused ? 'no access to hub' : problem ? 'hub away' : toPull ? `${say.plural(toPull, 'record')} to pull` : '', people.join(', ')]
    .filter(Boolean)
    .join(' · ');
  const pull = attempt(() => api.team.pull({}).then(refreshProject).then(askAgain));
  return (
    <button
      type="button"
      className="inline-row"
      onClick={() => (toPull ? pull() : go({ view: 'settings', settings: 'team' }))}
      title={problem ?? (people.length > 0 ? `Also here: ${people.join(', ')}` : `Connected to ${news.hub}`)}
    >
      <Users size={12} aria-hidden />
      {words || 'team'}
    </button>
  );
}
