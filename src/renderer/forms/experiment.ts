import { api } from '../client';
import { asked, experimentsChanged, type FormSpec, type FormValues, givenIn, go, notify, type RunInput, textIn } from '../state';

const newExperiment = 'new';
const isNew = ({ experimentId }: FormValues): boolean => experimentId === newExperiment;

/** Adds a run (a turn with its changes, provider and model) to an experiment as a case. */
export async function caseForm(input: RunInput): Promise<FormSpec> {
  const experiments = await api.experiment.list({});
  const known = experiments.map(({ experimentId, title }) => ({ value: experimentId, name: title }));
  const usualName = input.provider === 'recorded' ? 'Recorded reply' : (input.model ?? input.provider);
  return {
    title: 'Add to experiment',
    fields: [
      {
        name: 'experimentId',
        label: 'Experiment',
        kind: 'choice',
        options: [...known, { value: newExperiment, name: 'New experiment' }],
        shown: () => known.length > 0,
      },
      { name: 'title', label: 'Name of the experiment', placeholder: 'What you want to find out', shown: isNew },
      { name: 'name', label: 'Name of the case', placeholder: usualName },
    ],
    action: 'Add case',
    submit: async (values) => {
      // An experiment is saved as a whole, so the existing cases are sent with the new case.
      const before = isNew(values) ? undefined : await api.experiment.get({ experimentId: textIn(values, 'experimentId') });
      const { unanswered: _, ...run } = asked(input);
      const { experimentId } = await api.experiment.save({
        ...(before && { experimentId: before.experimentId, note: before.note, checks: before.checks }),
        title: before?.title ?? givenIn(values, 'title') ?? 'Experiment',
        cases: [...(before?.cases ?? []), { ...run, title: givenIn(values, 'name') ?? usualName }],
      });
      experimentsChanged();
      notify('Case added');
      go({ view: 'experiments', experiment: experimentId });
    },
  };
}
