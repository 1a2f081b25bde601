import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Answer, Button, ProblemLine, problemOf, Sheet } from '../../parts';
import { asked, dismiss, experimentsChanged, go, notify, type RunInput, useQuery } from '../../state';

const fresh = 'new';

/** Keeps a turn as it would be run now as a case of an experiment. */
export function CaseSheet({ input }: { input: RunInput }) {
  const query = useQuery('experiments to choose', (signal) => api.experiment.list({}, { signal }));
  return (
    <Sheet title="Keep as a case" onClose={dismiss}>
      <Answer query={query} what="The experiments cannot be listed" loading="Reading the experiments" lines={3}>
        {(experiments) => <Form input={input} experiments={experiments} />}
      </Answer>
    </Sheet>
  );
}

function Form({ input, experiments }: { input: RunInput; experiments: readonly { experimentId: string; title: string }[] }) {
  const [chosen, setChosen] = useState(experiments[0]?.experimentId ?? fresh);
  const [title, setTitle] = useState('');
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isSaving, setIsSaving] = useState(false);
  const usual = input.provider === 'recorded' ? 'As it was recorded' : (input.model ?? input.provider);
  const keep = async () => {
    setIsSaving(true);
    try {
      // An experiment is saved whole: what it has, and the new case.
      const before = chosen === fresh ? undefined : await api.experiment.get({ experimentId: chosen });
      const { unanswered: _, ...run } = asked(input);
      const { experimentId } = await api.experiment.save({
        ...(before && { experimentId: before.experimentId, note: before.note, checks: before.checks }),
        title: before?.title ?? (title.trim() || 'Experiment'),
        cases: [...(before?.cases ?? []), { ...run, title: name.trim() || usual }],
      });
      experimentsChanged();
      dismiss();
      notify('Kept as a case');
      go({ view: 'experiments', experiment: experimentId });
    } catch (error) {
      setIsSaving(false);
      setProblem(problemOf(error).message);
    }
  };
  return (
    <form
      className="case-form"
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      {experiments.length > 0 && (
        <label>
          <span className="muted">Experiment</span>
          <select className="field" aria-label="Experiment" value={chosen} onChange={(event) => setChosen(event.target.value)}>
            {experiments.map((each) => (
              <option key={each.experimentId} value={each.experimentId}>
                {each.title}
              </option>
            ))}
            <option value={fresh}>A new one</option>
          </select>
        </label>
      )}
      {chosen === fresh && (
        <label>
          <span className="muted">Its name</span>
          <input
            className="field"
            aria-label="Name of the experiment"
            placeholder="What is to be found out"
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
      )}
      <label>
        <span className="muted">The case</span>
        <input className="field" aria-label="Name of the case" placeholder={usual} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      {problem && <ProblemLine>{problem}</ProblemLine>}
      <Button type="submit" look="primary" icon={FlaskConical} disabled={isSaving}>
        Keep it
      </Button>
    </form>
  );
}
