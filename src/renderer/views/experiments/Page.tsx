import { ArrowLeft, ClipboardCopy, FileDown, Play, Repeat, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Experiment, ReplyCheck } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, IconButton, Id, MenuButton, type MenuEntry, notifyProblem, ProblemLine, problemOf, RemoveButton, say } from '../../parts';
import { copy, download, experimentsChanged, go, startExperiment, useExperiments, useKept, useQuery } from '../../state';
import { Checks } from './Checks';
import { Results } from './Results';

/** One experiment: what a good reply is, the cases, and what came of them. */
export function ExperimentPage({ project, experimentId }: { project: string; experimentId: string }) {
  const revision = useExperiments((state) => state.revision);
  const query = useKept(
    useQuery(`${project} ${experimentId} ${revision}`, (signal) => api.experiment.get({ experimentId }, { signal })),
    experimentId,
  );
  return (
    <Answer
      query={query}
      what="This experiment cannot be shown"
      loading="Reading the experiment"
      stillWorks="The others can still be opened."
      actions={<Button onClick={() => go({ experiment: undefined })}>All experiments</Button>}
      lines={10}
    >
      {(experiment) => <Page project={project} experiment={experiment} />}
    </Answer>
  );
}

type Change = Partial<Pick<Experiment, 'title' | 'note' | 'cases'>> & { readonly checks?: readonly ReplyCheck[] };

/** An experiment is saved whole, each time as a version of its own. */
const save = ({ experimentId, title, note, checks, cases }: Experiment, change: Change): Promise<void> =>
  api.experiment
    .save({ experimentId, title, note, cases, ...change, checks: [...(change.checks ?? checks)] })
    .then(experimentsChanged, notifyProblem);

function Page({ project, experiment }: { project: string; experiment: Experiment }) {
  const { experimentId, cases, checks, results } = experiment;
  const job = useExperiments(({ jobs }) => jobs.find((each) => each.project === project && each.experimentId === experimentId));
  const [title, setTitle] = useState(experiment.title);
  const [note, setNote] = useState(experiment.note);
  const running = cases.find((each) => each.caseId === job?.caseId);
  return (
    <section className="experiment" aria-label={`Experiment ${experiment.title}`}>
      <header className="experiment-head">
        <IconButton icon={ArrowLeft} label="All experiments" onClick={() => go({ view: 'experiments', experiment: undefined })} />
        <input
          className="field experiment-title grow"
          aria-label="Name of the experiment"
          value={title}
          onChange={(event) => setTitle(event.target.value)}
          onBlur={() => (title.trim() && title !== experiment.title ? void save(experiment, { title: title.trim() }) : setTitle(experiment.title))}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
        <MenuButton
          label="The table as a file"
          button={
            <Button small look="plain" icon={FileDown}>
              Export
            </Button>
          }
          items={exports(experimentId, experiment.title)}
        />
        <IconButton icon={Trash2} label="Remove this experiment" disabled={experiment.removed} onClick={() => void remove(experiment)} />
        {job?.isRunning ? (
          <Button icon={Square} onClick={job.stop}>
            Stop
          </Button>
        ) : (
          <Button look="primary" icon={Play} disabled={cases.length === 0} onClick={() => void startExperiment(project, experimentId)}>
            {results.length ? 'Run all again' : 'Run all'}
          </Button>
        )}
      </header>
      <div className="experiment-body">
        {experiment.removed && (
          <p className="notice-line experiment-removed" role="status">
            <span className="grow">Removed from the list. The branches of its replies stay.</span>
            <Button small onClick={() => void save(experiment, {})}>
              Put it back
            </Button>
          </p>
        )}
        {job?.isRunning && (
          <p className="notice-line" role="status">
            Running{running ? `: ${running.title}` : ''}…
          </p>
        )}
        {job?.error !== undefined && !job.isRunning && <ProblemLine>{problemOf(job.error).message}</ProblemLine>}
        <textarea
          className="field experiment-note"
          aria-label="What is to be found out"
          placeholder="What is to be found out, and what was"
          rows={Math.min(8, Math.max(1, note.split('\n').length))}
          value={note}
          onChange={(event) => setNote(event.target.value)}
          onBlur={() => note !== experiment.note && void save(experiment, { note })}
        />
        <Checks checks={checks} onChange={(next) => void save(experiment, { checks: next })} />
        <section className="experiment-part" aria-label="Cases">
          <h3>Cases</h3>
          <ul className="experiment-cases">
            {cases.map((each) => (
              <li key={each.caseId}>
                <b className="ellipsis">{each.title || 'Case'}</b>
                <span className="mono muted">{each.provider === 'recorded' ? 'the recording' : (each.model ?? each.provider)}</span>
                {(each.samples ?? 1) > 1 && <span className="muted">{say.plural(each.samples ?? 1, 'sample')}</span>}
                <span className="muted">{changesOf(each)}</span>
                <span className="grow" />
                <Id id={each.turnId} what="turn id" />
                <IconButton
                  small
                  icon={Play}
                  label={`Run ${each.title} alone`}
                  disabled={job?.isRunning}
                  onClick={() => void startExperiment(project, experimentId, [each.caseId])}
                />
                <IconButton small icon={Repeat} label="Open the turn in Run again" onClick={() => go({ view: 'run', commit: each.turnId })} />
                <RemoveButton
                  small
                  label={`Remove the case ${each.title}`}
                  question={`Remove the case ${each.title}?`}
                  onRemove={() => void save(experiment, { cases: cases.filter((other) => other.caseId !== each.caseId) })}
                >
                  What it changes in the request is forgotten. Its results stay in the table.
                </RemoveButton>
              </li>
            ))}
            {cases.length === 0 && <li className="muted">None yet: open a turn in Run again, change it, and keep it as a case.</li>}
          </ul>
        </section>
        <Results results={results} />
      </div>
    </section>
  );
}

function changesOf({ edits, request }: Experiment['cases'][number]): string {
  const count = (edits?.length ?? 0) + Object.keys(request ?? {}).length;
  return count === 0 ? 'asked as it was' : say.plural(count, 'change');
}

/** Removing can be taken back: saved, it is in the list again. */
async function remove(experiment: Experiment): Promise<void> {
  try {
    await api.experiment.remove({ experimentId: experiment.experimentId });
    experimentsChanged();
  } catch (error) {
    notifyProblem(error);
  }
}

const exports = (experimentId: string, title: string): readonly MenuEntry[] =>
  (
    [
      ['csv', 'CSV', 'text/csv', 'csv'],
      ['markdown', 'Markdown', 'text/markdown', 'md'],
    ] as const
  ).flatMap(([format, name, type, extension]): MenuEntry[] => {
    const take = (use: (text: string) => void | Promise<void>) =>
      void api.experiment.export({ experimentId, format }).then(({ text = '' }) => use(text), notifyProblem);
    const file = `${title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'experiment'}.${extension}`;
    return [
      { name: `Save as ${name}`, icon: FileDown, act: () => take((text) => download(text, file, type)) },
      { name: `Copy as ${name}`, icon: ClipboardCopy, act: () => take((text) => copy(text, 'Copied the table')) },
    ];
  });
