import { Users } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api } from '../client';
import { attempt, say } from '../parts';
import { go, refreshProject } from '../state';

type News = Awaited<ReturnType<typeof api.team.news>>;

const everySeconds = 15;

/** The number of new items on the project's hub, and the other people who use it now. Hidden for a project without a hub. A click pulls the items. */
export function TeamNews({ dir }: { dir: string }) {
  const [news, setNews] = useState<News>();
  const [round, setRound] = useState(0);
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
  const pull = attempt(() =>
    api.team
      .pull({})
      .then(refreshProject)
      .then(() => setRound((n) => n + 1)),
  );
  return (
    <button
      type="button"
      onClick={() => (toPull ? pull() : go({ view: 'settings', settings: 'team' }))}
      title={problem ?? (people.length > 0 ? `Also here: ${people.join(', ')}` : `Connected to ${news.hub}`)}
    >
      <Users size={12} aria-hidden />
      {words || 'team'}
    </button>
  );
}
