import type { Card } from '../../core/contract/index.js';
import { api } from '../client';
import { type FormSpec, type FormStart, type FormValues, givenIn, objectIn, reloadAndOpen, textIn } from '../state';
import { modelField } from './options';

/** The words of a text that are separated by commas or spaces. */
export const listed = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
const namesOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** Reads a profile card. Undefined `tools` are all tools, and undefined `targets` all profiles to which the agent may delegate. */
export function profileData(card: Pick<Card, 'content'> | undefined) {
  const data = card?.content.kind === 'json' ? objectOf(card.content.data) : {};
  const { name, display_name, system_prompt_template, llm_config, allowed_tools, tags, delegation_policy, ...more } = data;
  const targets = namesOf(objectOf(delegation_policy).target_profiles);
  return {
    name: toText(name),
    displayName: toText(display_name),
    prompt: toText(system_prompt_template),
    model: objectOf(llm_config),
    tools: namesOf(allowed_tools),
    tags: namesOf(tags) ?? [],
    targets,
    more: { ...more, ...(delegation_policy !== undefined && targets === undefined && { delegation_policy }) },
  };
}

const json = (value: Readonly<Record<string, unknown>>): string => (Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2));

const start = ({ model: { model, ...parameters }, tools, tags, targets, more, ...texts }: ReturnType<typeof profileData>): FormStart => ({
  ...texts,
  model: toText(model),
  parameters: json(parameters),
  allTools: tools === undefined,
  tools: tools?.join(', '),
  tags: tags.join(', '),
  allTargets: targets === undefined,
  targets: targets?.join(', '),
  more: json(more),
});

/** The content of the profile card that the form describes. */
export function profileIn(values: FormValues): Record<string, unknown> {
  const config = { ...objectIn(values, 'parameters'), ...(givenIn(values, 'model') && { model: textIn(values, 'model') }) };
  const displayName = givenIn(values, 'displayName');
  return {
    ...objectIn(values, 'more'),
    name: textIn(values, 'name'),
    ...(displayName && { display_name: displayName }),
    system_prompt_template: textIn(values, 'prompt'),
    ...(Object.keys(config).length > 0 && { llm_config: config }),
    ...(values.allTools !== true && { allowed_tools: listed(textIn(values, 'tools')) }),
    ...(givenIn(values, 'tags') && { tags: listed(textIn(values, 'tags')) }),
    ...(values.allTargets !== true && { delegation_policy: { target_profiles: listed(textIn(values, 'targets')) } }),
  };
}

/** Writes a profile, or the next version of one. */
export const profileForm = (card?: Card, name?: string): FormSpec => ({
  title: card ? `Edit ${name}` : 'New profile',
  intro: card
    ? 'This stores the next version. Agents that have started keep the version that they started with.'
    : 'A profile describes a kind of agent: its system prompt, its model and what it may do. Agents are started with one.',
  fields: [
    { name: 'name', label: 'Name', required: true, hint: 'Handovers find the profile by this name.' },
    { name: 'displayName', label: 'Name shown to people' },
    {
      name: 'prompt',
      label: 'System prompt',
      kind: 'long',
      field: 'system_prompt_template',
      hint: '{display_name} stands for the name of the agent. Write {{ and }} for braces.',
    },
    modelField('Leave it empty to use the model of the provider that runs the turn.'),
    {
      name: 'parameters',
      label: 'Parameters of the model',
      kind: 'code',
      placeholder: '{"temperature": 0}',
      hint: 'A JSON object with sampling settings.',
    },
    { name: 'allTools', label: 'Offer every tool of Stemma', kind: 'check' },
    {
      name: 'tools',
      label: 'Tools',
      shown: ({ allTools }) => allTools !== true,
      placeholder: 'send_message, submit_result',
      hint: 'The tools that a model is offered.',
    },
    { name: 'allTargets', label: 'May delegate to every profile', kind: 'check' },
    {
      name: 'targets',
      label: 'May delegate to',
      shown: ({ allTargets }) => allTargets !== true,
      hint: 'Names of profiles. An empty list forbids to delegate.',
    },
    { name: 'tags', label: 'Tags' },
    { name: 'more', label: 'Other fields', kind: 'code', hint: 'A JSON object that is stored as it is.' },
  ],
  start: start(profileData(card)),
  action: card ? 'Save version' : 'Create profile',
  draft: card ? `profile ${name}` : 'profile',
  submit: async (values) => {
    const saved = await api.profile.put({
      name: textIn(values, 'name'),
      card: { type: 'sys.profile', content: { kind: 'json', data: profileIn(values) } },
    });
    await reloadAndOpen({ view: 'profiles', profile: saved.name }, card ? 'Saved the next version' : 'Profile created');
  },
});
