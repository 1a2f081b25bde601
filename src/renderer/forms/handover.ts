import type { AgentTurn, Strategy } from '../../core/contract/index.js';
import { api } from '../client';
import { say } from '../parts';
import {
  type FormField,
  type FormOption,
  type FormSpec,
  type FormValues,
  givenIn,
  go,
  isYes,
  notify,
  numberIn,
  refreshProject,
  rowsIn,
  textIn,
} from '../state';
import { agentOptions, boxOptions, profileOptions } from './options';

/** Shows the first turn that a handover dispatched. A rejected handover dispatched no turn. */
async function dispatched({
  status,
  errorCode,
  turns,
}: {
  status: string;
  errorCode?: string | undefined;
  turns: readonly AgentTurn[];
}): Promise<void> {
  if (status === 'rejected') throw new Error(`The handover was rejected: ${(errorCode ?? 'no reason given').replaceAll('_', ' ')}.`);
  await refreshProject();
  go({ view: 'handover', handovers: undefined, turn: turns[0]?.agentTurnId });
  notify(`Dispatched ${say.plural(turns.length, 'turn')}. A turn waits until someone begins it or runs it here.`);
}

const sender: FormField = {
  name: 'sourceAgentId',
  label: 'From',
  kind: 'choice',
  options: agentOptions,
  placeholder: 'Choose an agent',
  required: true,
  hint: 'The agent that hands over. Launch or register one first if the list is empty.',
};

/** The options for the target: profiles for a new agent, else agents. */
const targetOptions = async (): Promise<readonly FormOption[]> => [
  ...(await profileOptions()).map(({ value, name }) => ({ value, name: `profile ${name}` })),
  ...(await agentOptions()).map(({ value, name }) => ({ value, name: `agent ${name}` })),
];

const taskFields: readonly FormField[] = [
  {
    name: 'targetStrategy',
    label: 'To',
    kind: 'choice',
    options: [
      { value: 'new', name: 'A new agent with a profile' },
      { value: 'reuse', name: 'An existing agent' },
      { value: 'clone', name: 'A clone of an agent, with what it has written' },
    ],
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

const taskIn = (values: FormValues) => {
  const contextBoxId = givenIn(values, 'contextBoxId');
  return {
    targetStrategy: textIn(values, 'targetStrategy') as Strategy,
    targetRef: textIn(values, 'targetRef'),
    instruction: textIn(values, 'instruction'),
    ...(contextBoxId && { contextBoxId }),
  };
};

const emptyTask: FormValues = { targetStrategy: 'new', targetRef: '', instruction: '', contextBoxId: '' };

/** Delegates an instruction to one agent. */
export const delegateForm = (from = '', box = ''): FormSpec => ({
  title: 'Delegate',
  intro: 'One agent gives another an instruction and, if you choose, a box. The other agent gets a turn.',
  fields: [sender, ...taskFields],
  start: { sourceAgentId: from, ...emptyTask, contextBoxId: box },
  action: 'Delegate',
  draft: `delegate ${from} ${box}`,
  submit: async (values) => dispatched(await api.handover.delegate({ sourceAgentId: textIn(values, 'sourceAgentId'), ...taskIn(values) })),
});

/** Delegates several tasks at once and joins their results. */
export const forkJoinForm = (from = ''): FormSpec => ({
  title: 'Fork and join',
  intro: 'Several agents work at the same time. The handover ends when all tasks have ended. One task with a mistake refuses them all.',
  fields: [
    sender,
    { name: 'tasks', label: 'Tasks', kind: 'rows', row: taskFields, add: 'Add task', required: true },
    { name: 'failFast', label: 'Cancel the other tasks when one fails', kind: 'check' },
    { name: 'deadlineSeconds', label: 'Deadline (seconds)', kind: 'number', hint: 'Tasks that are open after this time end as timed out.' },
  ],
  start: { sourceAgentId: from, tasks: [emptyTask, emptyTask], failFast: false, deadlineSeconds: '' },
  action: 'Dispatch tasks',
  draft: 'fork join',
  submit: async (values) => {
    const deadlineSeconds = numberIn(values, 'deadlineSeconds');
    await dispatched(
      await api.handover.forkJoin({
        sourceAgentId: textIn(values, 'sourceAgentId'),
        tasks: rowsIn(values, 'tasks').map(taskIn),
        failFast: isYes(values, 'failFast'),
        ...(deadlineSeconds !== undefined && { deadlineSeconds }),
      }),
    );
  },
});

const profile: FormField = {
  name: 'profileName',
  label: 'Profile',
  kind: 'choice',
  options: profileOptions,
  placeholder: 'Choose a profile',
  required: true,
};

/** Starts a new agent with a profile. */
export const launchForm = (profileName = ''): FormSpec => ({
  title: 'Launch an agent',
  intro: 'A new agent starts with a profile and an instruction. It works for you, not for another agent.',
  fields: [profile, { name: 'instruction', label: 'Instruction', kind: 'long', required: true }],
  start: { profileName, instruction: '' },
  action: 'Launch',
  draft: `launch ${profileName}`,
  submit: async (values) =>
    dispatched(await api.handover.launchPrincipal({ profileName: textIn(values, 'profileName'), instruction: textIn(values, 'instruction') })),
});

/** Asks a new agent a question. */
export const expertForm = (from = ''): FormSpec => ({
  title: 'Ask an expert',
  intro: 'A new agent with a profile answers one question of another agent.',
  fields: [
    sender,
    profile,
    { name: 'question', label: 'Question', kind: 'long', required: true },
    { name: 'includeHistory', label: 'Hand over what the asking agent has written', kind: 'check' },
  ],
  start: { sourceAgentId: from, profileName: '', question: '', includeHistory: false },
  action: 'Ask',
  draft: 'expert',
  submit: async (values) =>
    dispatched(
      await api.handover.askExpert({
        sourceAgentId: textIn(values, 'sourceAgentId'),
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
  start: { agentId: '', displayName: '', profileName: '', contextId: '' },
  action: 'Register',
  submit: async (values) => {
    const [displayName, profileName, contextId] = [givenIn(values, 'displayName'), givenIn(values, 'profileName'), givenIn(values, 'contextId')];
    await api.agent.register({
      agentId: textIn(values, 'agentId'),
      ...(displayName && { displayName }),
      ...(profileName && { profileName }),
      ...(contextId && { contextId: contextId as never }),
    });
    await refreshProject();
    notify('Agent registered');
  },
});
