import type { PolicyRule } from '../../core/contract/index.js';
import { api } from '../client';
import { type FormSpec, type FormStart, type FormValues, givenIn, isYes, notify, numberIn, refreshProject, textIn } from '../state';
import { profileOptions } from './options';
import { listed } from './profile';
import { limitsIn, performerFields, performerIn } from './run';

export const ruleKinds = {
  agent: 'Turns of an agent or a profile',
  space: 'Runs that messages of a space start',
  ticketType: 'Starts that tickets of a type ask for',
  plan: 'Runs that a plan starts when it is due',
  experiment: 'Runs of an experiment',
} as const;
export type RuleKind = keyof typeof ruleKinds;

/** The work that a rule allows: its kind and its name. */
export function readTarget(rule: Pick<PolicyRule, 'for'>): { readonly kind: RuleKind; readonly name: string } {
  const [kind, name] = Object.entries(rule.for)[0] as [RuleKind, string];
  return { kind, name };
}

const suggestions = async (kind: FormValues['kind']) => {
  switch (kind) {
    case 'space':
      return (await api.space.list({})).map(({ spaceId, name }) => ({ value: spaceId, name: name ?? spaceId }));
    case 'experiment':
      return (await api.experiment.list({})).map(({ experimentId, title }) => ({ value: experimentId, name: title }));
    default:
      return profileOptions();
  }
};

const valuesOfRule = ({ performer, limits, who, parallel, tools, otherTools, ...rule }: PolicyRule): FormStart => ({
  by: 'agent' in performer ? 'agent' : 'model',
  ...performer,
  ...limits,
  ...readTarget(rule),
  who,
  parallel,
  otherTools,
  keepFrom: true,
  allTools: tools === undefined,
  tools: tools?.join(', '),
});

function ruleIn(values: FormValues, before?: PolicyRule): PolicyRule {
  const [who, parallel] = [givenIn(values, 'who'), numberIn(values, 'parallel')];
  const limits = limitsIn(values);
  return {
    for: { [textIn(values, 'kind')]: textIn(values, 'name') } as PolicyRule['for'],
    performer: performerIn(values),
    ...(who && { who }),
    ...(before?.from && isYes(values, 'keepFrom') && { from: before.from }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(parallel !== undefined && { parallel }),
    ...(!isYes(values, 'allTools') && { tools: listed(textIn(values, 'tools')) }),
    otherTools: textIn(values, 'otherTools') as 'ask' | 'stop',
  };
}

/** Adds a rule that allows work to start by itself, or changes the rule at `place`. */
export function ruleForm(
  given: { readonly kind: RuleKind; readonly name: string } | { readonly rule: PolicyRule; readonly place: number },
  onDone: () => void,
): FormSpec {
  const isNew = !('rule' in given);
  const at = isNew ? 'rules.0.' : `rules.${given.place}.`;
  return {
    title: isNew ? 'Allow to start by itself' : 'Edit what may start',
    intro: 'Nothing runs by itself unless a rule allows it. A rule applies on this machine while the app or “stemma serve” is open.',
    fields: [
      { name: 'kind', label: 'What may start', kind: 'choice', options: ruleKinds },
      {
        name: 'name',
        label: 'Which one',
        required: true,
        field: `${at}for`,
        options: () => suggestions(isNew ? given.kind : readTarget(given.rule).kind),
        hint: 'The name of the profile, plan or type of ticket; the id of the agent, space or experiment.',
      },
      { name: 'who', label: 'Only for', field: `${at}who`, hint: 'One agent of the space or one person of the ticket. Leave it empty for all.' },
      ...performerFields(at),
      ...(isNew || !given.rule.from
        ? []
        : [
            {
              name: 'keepFrom',
              label: `Also start what ${given.rule.from.map(({ name }) => name).join(', ')} sent from other machines`,
              kind: 'check',
            } as const,
          ]),
      { name: 'parallel', label: 'Most jobs at the same time', kind: 'number', field: `${at}parallel` },
      { name: 'allTools', label: 'Offer every tool of Stemma', kind: 'check', shown: ({ by }) => by !== 'agent' },
      { name: 'tools', label: 'Tools', field: `${at}tools`, shown: ({ by, allTools }) => by !== 'agent' && allTools !== true },
      {
        name: 'otherTools',
        label: 'When it calls another tool',
        kind: 'choice',
        shown: ({ by }) => by !== 'agent',
        options: { ask: 'Ask me', stop: 'Stop the job' },
      },
    ],
    start: isNew ? { kind: given.kind, name: given.name, allTools: true } : valuesOfRule(given.rule),
    action: isNew ? 'Allow' : 'Save',
    submit: async (values) => {
      const policy = await api.runner.getPolicy({});
      const rule = ruleIn(values, isNew ? undefined : given.rule);
      await api.runner.setPolicy({ ...policy, rules: isNew ? [rule, ...policy.rules] : policy.rules.with(given.place, rule) });
      await refreshProject();
      onDone();
      notify(isNew ? 'Allowed' : 'Saved');
    },
  };
}

/** Sets the limits that hold for every rule. */
export async function policyLimitsForm(onDone: () => void): Promise<FormSpec> {
  const { rules, limits, parallel, environment = [] } = await api.runner.getPolicy({});
  return {
    title: 'Usual limits',
    intro: 'These limits hold for jobs that a rule without limits of its own starts.',
    fields: [
      ...performerFields().filter(({ name }) => ['calls', 'minutes', 'tokens', 'cost'].includes(name)),
      { name: 'parallel', label: 'Most jobs at the same time', kind: 'number', placeholder: '4' },
      {
        name: 'environment',
        label: 'Further environment variables for agents',
        field: 'environment',
        hint: 'Names such as DATABASE_URL, separated by commas. Without them, agents get those of the system and of their own provider.',
      },
    ],
    start: { ...limits, parallel, environment: environment.join(', ') },
    action: 'Save',
    submit: async (values) => {
      const names = listed(textIn(values, 'environment'));
      await api.runner.setPolicy({
        rules,
        limits: limitsIn(values),
        parallel: numberIn(values, 'parallel'),
        ...(names.length > 0 && { environment: names }),
      });
      onDone();
      notify('Saved');
    },
  };
}
