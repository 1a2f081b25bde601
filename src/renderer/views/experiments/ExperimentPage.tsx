import { ArrowLeft, ClipboardCopy, FileDown, Play, Repeat, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Experiment, ReplyCheck } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  Answer,
  attempt,
  Button,
  describeProblem,
  IconButton,
  Id,
  Input,
  MenuButton,
  type MenuEntry,
  notifyProblem,
  ProblemLine,
  RemoveButton,
  say,
  TextArea,
} from '../../parts';
import {
  copy,
  download,
  type ExperimentJob,
  experimentsChanged,
  go,
  startExperiment,
  useExperimentJob,
  useExperiments,
  useKeptQuery,
} from '../../state';
import { Checks } from './Checks';
import { Results } from './Results';

/** One experiment: its checks, cases and results. */
export function ExperimentPage({ project, experimentId }: { project: string; experimentId: string }) {
  const revision = useExperiments((state) => state.revision);
  const query = useKeptQuery(experimentId, `${project} ${experimentId} ${revision}`, (signal) => api.experiment.get({ experimentId }, { signal }));
  return (
    <Answer
      query={query}
      what="Cannot load this experiment"
      loading="Loading the experiment"
      stillWorks="Other experiments still work."
      actions={<Button label="All experiments" onClick={() => go({ experiment: undefined })} />}
      lines={10}
    >
      {(experiment) => <Page project={project} experiment={experiment} />}
    </Answer>
  );
}

type Change = Partial<Pick<Experiment, 'title' | 'note' | 'cases'>> & { readonly checks?: readonly ReplyCheck[] };

/** Saves an experiment as a new version. The engine expects it as a whole. */
const save = ({ experimentId, title, note, checks, cases }: Experiment, change: Change): Promise<void> =>
  api.experiment
    .save({ experimentId, title, note, cases, ...change, checks: [...(change.checks ?? checks)] })
    .then(experimentsChanged, notifyProblem);

function Page({ project, experiment }: { project: string; experiment: Experiment }) {
  const { experimentId, cases, checks, results, removed } = experiment;
  const job = useExperimentJob(project, experimentId);
  const [note, setNote] = useState(experiment.note);
  const running = cases.find((each) => each.caseId === job?.caseId);
  return (
    <section className="experiment whole stack" aria-label={`Experiment ${experiment.title}`}>
      <PageHead project={project} experiment={experiment} job={job} />
      <div className="experiment-body rest">
        {removed && (
          <p className="notice-line experiment-removed" role="status">
            <span className="grow">This experiment is removed from the list. The branches of its replies stay.</span>
            <Button small label="Restore" onClick={() => void save(experiment, {})} />
          </p>
        )}
        {job?.state === 'running' && (
          <p className="notice-line" role="status">
            Running{running ? `: ${running.title}` : ''}…
          </p>
        )}
        {job?.state === 'failed' && <ProblemLine>{describeProblem(job.error).message}</ProblemLine>}
        <TextArea
          className="wide"
          label="Note"
          placeholder="What you want to find out, and what you found"
          rows={Math.min(8, Math.max(1, note.split('\n').length))}
          value={note}
          onChange={setNote}
          onBlur={() => note !== experiment.note && void save(experiment, { note })}
        />
        <Checks checks={checks} onChange={(next) => void save(experiment, { checks: next })} />
        <section className="experiment-part" aria-label="Cases">
          <h3>Cases</h3>
          <ul className="experiment-cases">
            {cases.map((each) => (
              <CaseRow
                key={each.caseId}
                value={each}
                disabled={job?.state === 'running'}
                onRun={() => void startExperiment(project, experimentId, [each.caseId])}
                onRemove={() => void save(experiment, { cases: cases.filter((other) => other.caseId !== each.caseId) })}
              />
            ))}
            {cases.length === 0 && (
              <li className="muted row wrap">No cases yet. Open a turn in Run again, change it, and add it to this experiment.</li>
            )}
          </ul>
        </section>
        <Results results={results} />
      </div>
    </section>
  );
}

function PageHead({ project, experiment, job }: { project: string; experiment: Experiment; job: ExperimentJob | undefined }) {
  const { experimentId, cases, results } = experiment;
  const [title, setTitle] = useState(experiment.title);
  return (
    <header className="bar rigid">
      <IconButton icon={ArrowLeft} label="All experiments" onClick={() => go({ view: 'experiments', experiment: undefined })} />
      <Input
        className="experiment-title grow"
        label="Name of the experiment"
        value={title}
        onChange={setTitle}
        onBlur={() => (title.trim() && title !== experiment.title ? void save(experiment, { title: title.trim() }) : setTitle(experiment.title))}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
      />
      <MenuButton
        label="Table as a file"
        button={<Button small look="plain" icon={FileDown} label="Export" />}
        items={exports(experimentId, experiment.title)}
      />
      <IconButton
        icon={Trash2}
        label="Remove this experiment"
        disabled={experiment.removed}
        onClick={attempt(() => api.experiment.remove({ experimentId }).then(experimentsChanged))}
      />
      {job?.state === 'running' ? (
        <Button icon={Square} label="Stop" onClick={job.stop} />
      ) : (
        <Button look="primary" icon={Play} disabled={cases.length === 0} onClick={() => void startExperiment(project, experimentId)}>
          {results.length ? 'Run all again' : 'Run all'}
        </Button>
      )}
    </header>
  );
}

type Case = Experiment['cases'][number];

function CaseRow({ value, disabled, onRun, onRemove }: { value: Case; disabled: boolean; onRun: () => void; onRemove: () => void }) {
  const { title, provider, model, samples = 1, turnId } = value;
  return (
    <li className="row wrap">
      <b className="ellipsis">{title || 'Case'}</b>
      <span className="mono muted">{provider === 'recorded' ? 'recording' : (model ?? provider)}</span>
      {samples > 1 && <span className="muted">{say.plural(samples, 'sample')}</span>}
      <span className="muted">{changesText(value)}</span>
      <span className="grow" />
      <Id id={turnId} what="turn id" />
      <IconButton small icon={Play} label={`Run only ${title}`} disabled={disabled} onClick={onRun} />
      <IconButton small icon={Repeat} label="Open the turn in Run again" onClick={() => go({ view: 'run', commit: turnId })} />
      <RemoveButton small label={`Remove the case ${title}`} question={`Remove the case ${title}?`} onRemove={onRemove}>
        Its changes to the request are deleted. Its results stay in the table.
      </RemoveButton>
    </li>
  );
}

function changesText({ edits, request }: Case): string {
  const count = (edits?.length ?? 0) + Object.keys(request ?? {}).length;
  return count === 0 ? 'request unchanged' : say.plural(count, 'change');
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
