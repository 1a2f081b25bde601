import type { AgentTurn, Strategy } from '../../core/contract/index.js';
import { api } from '../client';
import { notifyProblem, reloadAndSay, say } from '../parts';
import {
  ask,
  FieldError,
  type FormField,
  type FormOption,
  type FormSpec,
  type FormStart,
  type FormValues,
  givenIn,
  go,
  isYes,
  notify,
  numberIn,
  refreshProject,
  rowsIn,
  startJob,
  textIn,
} from '../state';
import { agentOptions, boxOptions, profileOptions, providerOptions } from './options';
import { limitsIn, performerIn, programOptions, workFields } from './run';

/** Starts the work on the first turn that a handover dispatched, or shows the turn. A rejected handover dispatched no turn. */
async function dispatched(
  { status, errorCode, turns }: { status: string; errorCode?: string | undefined; turns: readonly AgentTurn[] },
  work?: FormValues,
): Promise<void> {
  if (status === 'rejected') throw new Error(`The handover was rejected: ${(errorCode ?? 'no reason given').replaceAll('_', ' ')}.`);
  await refreshProject();
  const [first] = turns;
  go({ view: 'handover', handovers: undefined, turn: first?.agentTurnId });
  if (work && first && work.by !== 'later')
    // The turn exists from here on, so a start that fails must not dispatch it again.
    return startJob({ what: { turnId: first.agentTurnId }, performer: performerIn(work), limits: limitsIn(work) }).catch(notifyProblem);
  notify(`Dispatched ${say.plural(turns.length, 'turn')}. A turn waits until someone begins it or runs it here.`);
}

/** The id of the person among agents. It is registered when the person first hands something over. */
const person = 'user';

async function senderOptions(): Promise<readonly FormOption[]> {
  const agents = await agentOptions();
  return agents.some(({ value }) => value === person) ? agents : [...agents, { value: person, name: 'You' }];
}

/** The chosen sender, who is an agent from here on. */
async function senderIn(values: FormValues): Promise<string> {
  const agentId = textIn(values, 'sourceAgentId');
  if (agentId === person && !(await agentOptions()).some(({ value }) => value === person)) await api.agent.register({ agentId, displayName: 'You' });
  return agentId;
}

const sender: FormField = {
  name: 'sourceAgentId',
  label: 'From',
  kind: 'choice',
  options: senderOptions,
  placeholder: 'Choose an agent',
  required: true,
  hint: 'Who hands over, and gets the result.',
};

const targetOptions = async (): Promise<readonly FormOption[]> => [
  ...(await profileOptions()).map(({ value, name }) => ({ value, name: `profile ${name}` })),
  ...(await agentOptions()).map(({ value, name }) => ({ value, name: `agent ${name}` })),
];

const taskFields: readonly FormField[] = [
  {
    name: 'targetStrategy',
    label: 'To',
    kind: 'choice',
    options: { new: 'A new agent with a profile', reuse: 'An existing agent', clone: 'A clone of an agent, with what it has written' },
  },
  {
    name: 'targetRef',
    label: 'Profile or agent',
    options: targetOptions,
    required: true,
    hint: 'The name of the profile for a new agent, or the id of the agent.',
  },
  { name: 'instruction', label: 'Instruction', kind: 'long', required: true, hint: 'What the agent must do.' },
  {
    name: 'contextBoxId',
    label: 'Box to hand over',
    kind: 'choice',
    options: boxOptions,
    placeholder: 'None',
    hint: 'The agent reads the cards of this box before the instruction.',
  },
];

const taskIn = (values: FormValues) => ({
  targetStrategy: textIn(values, 'targetStrategy') as Strategy,
  targetRef: textIn(values, 'targetRef'),
  instruction: textIn(values, 'instruction'),
  contextBoxId: givenIn(values, 'contextBoxId'),
});

const newCardField: FormField = {
  name: 'cardText',
  label: 'What it needs to know',
  kind: 'long',
  shown: ({ contextBoxId }) => contextBoxId === '',
  hint: 'Becomes a card in a new box. Leave it empty if the instruction is enough.',
};

/** Stores the typed text as a card in a box of its own. Returns the task with this box. */
async function withCard(values: FormValues): Promise<FormValues> {
  const text = givenIn(values, 'cardText');
  if (text === undefined || textIn(values, 'contextBoxId') !== '') return values;
  const card = await api.card.add({ card: { type: 'task.context', content: { kind: 'text', text }, authorId: textIn(values, 'sourceAgentId') } });
  const { boxId } = await api.box.create({ cardIds: [card.cardId] });
  return { ...values, contextBoxId: boxId };
}

const delegateForm = (from: string, box: string, start: FormStart): FormSpec => ({
  title: 'Delegate',
  intro: 'You or an agent give another agent an instruction and, if you choose, a box. The other agent gets a turn.',
  fields: [sender, ...taskFields, newCardField, ...workFields],
  start: { sourceAgentId: from, contextBoxId: box, ...start },
  action: 'Delegate',
  draft: `delegate ${from} ${box}`,
  submit: async (values) =>
    dispatched(await api.handover.delegate({ sourceAgentId: await senderIn(values), ...taskIn(await withCard(values)) }), values),
});

/** Asks for a delegation, with the first provider, profile and agent already chosen. */
export async function askToDelegate(from = '', box = ''): Promise<void> {
  const [agents, profiles, work] = await Promise.all([agentOptions(), profileOptions(), usualPerformer()]);
  ask(delegateForm(from || (agents[0]?.value ?? person), box, { targetRef: profiles[0]?.value, ...work }));
}

/** Who works if the person chooses nobody: the first provider with a model, else the first agent on this machine. */
async function usualPerformer(): Promise<FormStart> {
  const [[provider], [agent]] = await Promise.all([providerOptions(), programOptions()]);
  return { by: provider || !agent ? 'model' : 'agent', provider: provider?.value, agent: agent?.value };
}

/** Delegates several tasks at once and joins their results. */
export const forkJoinForm = (): FormSpec => ({
  title: 'Fork and join',
  intro: 'Several agents work at the same time. The handover ends when all tasks have ended. One task with a mistake refuses them all.',
  fields: [
    sender,
    { name: 'tasks', label: 'Tasks', kind: 'rows', row: taskFields, add: 'Add task', required: true },
    { name: 'failFast', label: 'Cancel the other tasks when one fails', kind: 'check' },
    { name: 'deadlineSeconds', label: 'Deadline (seconds)', kind: 'number', hint: 'Tasks that are open after this time end as timed out.' },
  ],
  start: { tasks: [{}, {}] },
  action: 'Dispatch tasks',
  draft: 'fork join',
  submit: async (values) =>
    dispatched(
      await api.handover.forkJoin({
        sourceAgentId: await senderIn(values),
        tasks: rowsIn(values, 'tasks').map(taskIn),
        failFast: isYes(values, 'failFast'),
        deadlineSeconds: numberIn(values, 'deadlineSeconds'),
      }),
    ),
});

const profile: FormField = {
  name: 'profileName',
  label: 'Profile',
  kind: 'choice',
  options: profileOptions,
  placeholder: 'Choose a profile',
  required: true,
};

/** The value of the choice to write a new profile. It has a line break, which no profile's name has. */
const newProfile = '\nnew';
const isNew = ({ profileName }: FormValues): boolean => profileName === newProfile;

/** Starts a new agent with a profile, and its work. The profile can be written in the same form. */
const launchForm = (profileName: string, start: FormStart): FormSpec => ({
  title: 'Launch an agent',
  intro: 'A new agent starts with a profile and an instruction. It works for you, not for another agent.',
  fields: [
    { ...profile, options: async () => [...(await profileOptions()), { value: newProfile, name: 'A new profile…' }] },
    { name: 'newName', label: 'Name of the new profile', required: true, shown: isNew },
    { name: 'newPrompt', label: 'System prompt', kind: 'long', shown: isNew, hint: 'Tells every agent of this profile how to work.' },
    { name: 'instruction', label: 'Instruction', kind: 'long', required: true },
    ...workFields,
  ],
  start,
  action: 'Launch',
  draft: `launch ${profileName}`,
  submit: async (values) => {
    if (isNew(values) && (await profileOptions()).some(({ value }) => value === textIn(values, 'newName')))
      throw new FieldError('newName', `A profile ${textIn(values, 'newName')} exists already. Choose it above, or type another name.`);
    const chosen = isNew(values) ? await writeProfile(values) : textIn(values, 'profileName');
    await dispatched(await api.handover.launchPrincipal({ profileName: chosen, instruction: textIn(values, 'instruction') }), values);
  },
});

async function writeProfile(values: FormValues): Promise<string> {
  const name = textIn(values, 'newName');
  const data = { name, system_prompt_template: textIn(values, 'newPrompt') };
  return (await api.profile.put({ name, card: { type: 'sys.profile', content: { kind: 'json', data } } })).name;
}

/** Asks for the launch of an agent, with what exists already chosen: a profile, a provider or an agent on this machine. */
export const askToLaunch = (profileName = ''): Promise<void> =>
  Promise.all([profileOptions(), usualPerformer()])
    .then(([profiles, work]) => ask(launchForm(profileName, { ...work, profileName: profileName || (profiles[0]?.value ?? newProfile) })))
    .catch(notifyProblem);

/** Asks a new agent a question. */
export const expertForm = (): FormSpec => ({
  title: 'Ask an expert',
  intro: 'A new agent with a profile answers one question of another agent.',
  fields: [
    sender,
    profile,
    { name: 'question', label: 'Question', kind: 'long', required: true },
    { name: 'includeHistory', label: 'Hand over what the asking agent has written', kind: 'check' },
  ],
  action: 'Ask',
  draft: 'expert',
  submit: async (values) =>
    dispatched(
      await api.handover.askExpert({
        sourceAgentId: await senderIn(values),
        profileName: textIn(values, 'profileName'),
        question: textIn(values, 'question'),
        includeHistory: isYes(values, 'includeHistory'),
      }),
    ),
});

/** Registers an agent that works outside of Stemma. */
export const registerForm = (): FormSpec => ({
  title: 'Register an agent',
  intro: 'An agent or a person that works outside of Stemma can hand over and receive turns once it is registered.',
  fields: [
    { name: 'agentId', label: 'Id', required: true },
    { name: 'displayName', label: 'Name' },
    { name: 'profileName', label: 'Profile', kind: 'choice', options: profileOptions, placeholder: 'None' },
    {
      name: 'contextId',
      label: 'Continues from commit',
      placeholder: 'ctx-…',
      hint: 'Its chain continues from this commit. Leave it empty to start a new one.',
    },
  ],
  action: 'Register',
  submit: async (values) => {
    await api.agent.register({
      agentId: textIn(values, 'agentId'),
      displayName: givenIn(values, 'displayName'),
      profileName: givenIn(values, 'profileName'),
      contextId: givenIn(values, 'contextId') as never,
    });
    await reloadAndSay('Agent registered');
  },
});
