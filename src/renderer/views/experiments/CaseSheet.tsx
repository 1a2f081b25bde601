import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Answer, Button, describeProblem, Input, ProblemLine, Select, Sheet, sending } from '../../parts';
import { asked, dismiss, experimentsChanged, go, notify, type RunInput, useQuery } from '../../state';

const newExperiment = 'new';

/** Adds a run (a turn with its changes, provider and model) to an experiment as a case. */
export function CaseSheet({ input }: { input: RunInput }) {
  const query = useQuery('experiments to choose', (signal) => api.experiment.list({}, { signal }));
  return (
    <Sheet title="Add to experiment" onClose={dismiss}>
      <Answer query={query} what="Cannot list the experiments" loading="Loading the experiments" lines={3}>
        {(experiments) => <Form input={input} experiments={experiments} />}
      </Answer>
    </Sheet>
  );
}

function Form({ input, experiments }: { input: RunInput; experiments: readonly { experimentId: string; title: string }[] }) {
  const [chosen, setChosen] = useState(experiments[0]?.experimentId ?? newExperiment);
  const [title, setTitle] = useState('');
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isSaving, setIsSaving] = useState(false);
  const defaultName = input.provider === 'recorded' ? 'Recorded reply' : (input.model ?? input.provider);
  const save = async () => {
    setIsSaving(true);
    try {
      // An experiment is saved as a whole, so the existing cases are sent with the new case.
      const before = chosen === newExperiment ? undefined : await api.experiment.get({ experimentId: chosen });
      const { unanswered: _, ...run } = asked(input);
      const { experimentId } = await api.experiment.save({
        ...(before && { experimentId: before.experimentId, note: before.note, checks: before.checks }),
        title: before?.title ?? (title.trim() || 'Experiment'),
        cases: [...(before?.cases ?? []), { ...run, title: name.trim() || defaultName }],
      });
      experimentsChanged();
      dismiss();
      notify('Case added');
      go({ view: 'experiments', experiment: experimentId });
    } catch (error) {
      setIsSaving(false);
      setProblem(describeProblem(error).message);
    }
  };
  return (
    <form className="case-form labeled stack" onSubmit={sending(() => save())}>
      {experiments.length > 0 && (
        <Select
          before="Experiment"
          label="Experiment"
          value={chosen}
          options={[...experiments.map(({ experimentId, title }) => [experimentId, title] as const), [newExperiment, 'New experiment']]}
          onChange={setChosen}
        />
      )}
      {chosen === newExperiment && (
        <Input before="Name" label="Name of the experiment" placeholder="What you want to find out" value={title} onChange={setTitle} />
      )}
      <Input before="Case" label="Name of the case" placeholder={defaultName} value={name} onChange={setName} />
      {problem && <ProblemLine>{problem}</ProblemLine>}
      <Button type="submit" look="primary" icon={FlaskConical} disabled={isSaving}>
        Add case
      </Button>
    </form>
  );
}
