import { api } from '../../client';
import { Answer, LinkButton, Select, Setting, say, TaskProblem } from '../../parts';
import { go, useEvery, useProjectQuery, useQuery, useTask } from '../../state';

type Status = Awaited<ReturnType<typeof api.context.summarizer>>;
type Plan = Parameters<typeof api.context.setSummarizer>[0];

const shownCommits = 50;
/** Milliseconds between two loads of the progress while work is running. */
const lookMs = 1_500;

/** The service that fills missing summaries while the project is idle: its permission, provider, budget and progress, and the missing summaries. */
export function Summaries({ project }: { project: string }) {
  const status = useProjectQuery(project, `summarizer ${project}`, (signal) => api.context.summarizer({}, { signal }));
  const missing = useProjectQuery(project, `summaries ${project}`, (signal) =>
    api.context.summaries({ missing: true, limit: shownCommits }, { signal }),
  );
  return (
    <section aria-label="Summaries">
      <h2>Summaries</h2>
      <p className="muted">
        A summary is the name of a commit in lists. Stemma fills missing summaries while the project is idle if you turn that on, on this machine
        only.
      </p>
      <Answer query={status} what="Cannot load the settings of summaries" loading="Loading the settings of summaries" lines={5}>
        {(loaded) => <Service first={loaded} />}
      </Answer>
      <h3>Commits without a summary</h3>
      <Answer query={missing} what="Cannot list the commits without a summary" loading="Loading the commits" lines={5}>
        {({ commits, missing: total }) =>
          total === 0 ? (
            <p className="muted">Every commit has a summary.</p>
          ) : (
            <>
              <p>{say.plural(total, 'commit')}. The oldest come first.</p>
              <ul className="storage-problems" aria-label="Commits without a summary">
                {commits.map(({ id, createdAt, messageCount, template }) => (
                  <li key={id}>
                    <LinkButton label={say.shortId(id)} className="mono" onClick={() => go({ view: 'chain', commit: id })} />{' '}
                    <span className="muted">
                      {say.when(createdAt)} · {template} · {say.plural(messageCount, 'message')}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Service({ first }: { first: Status }) {
  const [task, start] = useTask<Status>();
  const status = task.state === 'done' ? task.result : first;
  const { enabled, provider, model, callsPerDay, perMinute, callsToday, running, summarized, missing, problem } = status;
  const providers = useQuery('providers', (signal) => api.turn.providers({}, { signal }));
  const others = providers.status === 'done' ? providers.data.filter(({ id }) => id !== 'recorded') : [];
  const set = (change: Partial<Plan>): void => {
    void start(() => api.context.setSummarizer({ enabled, provider, model, callsPerDay, perMinute, ...change }));
  };
  useEvery(lookMs, running, () => start((signal) => api.context.summarizer({}, { signal })));
  return (
    <>
      <Setting name="Fill missing summaries while idle" hint="Off until you turn it on.">
        <input
          type="checkbox"
          aria-label="Fill missing summaries while idle"
          checked={enabled}
          onChange={({ target }) => set({ enabled: target.checked })}
        />
      </Setting>
      <Setting name="Written by" hint="A model sees the commits that it summarizes.">
        <Select
          label="Written by"
          value={provider ?? ''}
          options={[
            ['', 'Extracts, without a model'],
            ...others.map(
              ({ id, title, problem: reason }) => [id, reason === undefined ? title : `${title} (unavailable)`, reason !== undefined] as const,
            ),
          ]}
          onChange={(chosen) => set({ provider: chosen || null, model: null })}
        />
      </Setting>
      {provider !== null && (
        <Setting name="Budget" hint="The most model calls in a day (UTC).">
          <input
            className="field"
            type="number"
            aria-label="Model calls a day"
            min={1}
            max={1_000_000}
            defaultValue={callsPerDay}
            key={callsPerDay}
            onBlur={({ target }) => {
              const calls = Math.trunc(target.valueAsNumber);
              if (calls >= 1 && calls !== callsPerDay) set({ callsPerDay: calls });
            }}
          />
        </Setting>
      )}
      <p aria-live="polite">
        {running ? 'Writing summaries… ' : ''}
        {say.plural(missing, 'commit')} without a summary, {say.exact(summarized)} written since the project was opened
        {provider !== null && `, ${say.exact(callsToday)} of ${say.plural(callsPerDay, 'model call')} used today`}.
      </p>
      {problem !== null && <p className="tone-bad">{problem}</p>}
      <TaskProblem task={task} />
    </>
  );
}
