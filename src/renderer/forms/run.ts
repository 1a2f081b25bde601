import type { PermissionMode, RunLimits, Runtime, Work } from '../../core/contract/index.js';
import { api } from '../client';
import { type FormField, type FormOption, type FormSpec, type FormValues, givenIn, numberIn, repeatJob, startJob, textIn } from '../state';
import { modelField, providerField } from './options';

const performers = { model: "A model with Stemma's own tools", agent: 'A command-line agent on this machine' } as const;
const byAgent = ({ by }: FormValues): boolean => by === 'agent';
const byModel = ({ by }: FormValues): boolean => by !== 'agent' && by !== 'later';

/** The command-line agents that can run on this machine. */
export async function programOptions(): Promise<readonly FormOption[]> {
  const all = await api.runner.agents({});
  return all.filter(({ problem }) => problem === null).map(({ agent, title }) => ({ value: agent, name: title }));
}

async function folderOptions(): Promise<readonly FormOption[]> {
  const [jobs, { sessions }] = await Promise.all([api.runner.list({}), api.session.list({ limit: 200 })]);
  const folders = [
    ...jobs.map(({ performer }) => ('folder' in performer ? performer.folder : undefined)),
    ...sessions.map(({ repository }) => repository),
  ];
  return [...new Set(folders)].flatMap((folder) => (folder ? [{ value: folder, name: folder }] : []));
}

export const permissionOptions: Readonly<Record<PermissionMode, string>> = {
  default: 'Ask before each change and command',
  acceptEdits: 'Change files in its folder, ask before commands',
  plan: 'Only read',
  bypassPermissions: 'Never ask',
};

/** The fields for the performer and the limits. `at` is the position of the performer in the procedure's input. */
export const performerFields = (at = ''): readonly FormField[] => [
  { name: 'by', label: 'Who works', kind: 'choice', options: performers },
  { ...providerField, shown: byModel, field: `${at}performer.provider` },
  {
    name: 'agent',
    label: 'Agent',
    kind: 'choice',
    options: programOptions,
    placeholder: 'Choose an agent',
    required: true,
    shown: byAgent,
    field: `${at}performer.agent`,
    hint: 'Only agents that are installed on this machine are listed.',
  },
  {
    name: 'folder',
    label: 'Folder',
    options: folderOptions,
    required: true,
    shown: byAgent,
    field: `${at}performer.folder`,
    hint: 'The agent works in this folder: an absolute path.',
  },
  {
    name: 'permissions',
    label: 'Without asking, it may',
    kind: 'choice',
    options: permissionOptions,
    shown: byAgent,
    field: `${at}performer.permissions`,
    hint: 'Questions of the agent appear in Jobs, and nothing runs before you answer.',
  },
  { ...modelField('Leave it empty to use the usual one.'), field: `${at}performer.model` },
  { name: 'calls', label: 'Most model calls', kind: 'number', field: `${at}limits.calls`, placeholder: '50' },
  { name: 'minutes', label: 'Most minutes', kind: 'number', field: `${at}limits.minutes`, placeholder: '30' },
  {
    name: 'tokens',
    label: 'Most tokens',
    kind: 'number',
    field: `${at}limits.tokens`,
    hint: 'Input and output together, as the provider counts them.',
  },
  {
    name: 'cost',
    label: 'Most cost in US dollars',
    kind: 'number',
    field: `${at}limits.cost`,
    hint: 'The job stops before the call that would exceed a limit.',
  },
];

/** The fields for the performer of a turn that is about to be dispatched. The turn can also wait until someone begins it. */
export const workFields: readonly FormField[] = performerFields().map((field) =>
  field.name === 'by'
    ? { ...field, options: { ...performers, later: 'Nobody yet: the turn waits' } }
    : { ...field, shown: (values) => values.by !== 'later' && (field.shown?.(values) ?? true) },
);

/** The performer that the fields describe. */
export function performerIn(values: FormValues) {
  const model = givenIn(values, 'model');
  return byAgent(values)
    ? {
        agent: textIn(values, 'agent') as Runtime,
        folder: textIn(values, 'folder'),
        permissions: textIn(values, 'permissions') as PermissionMode,
        ...(model && { model }),
      }
    : { provider: textIn(values, 'provider'), ...(model && { model }) };
}

/** The limits that the fields set. */
export function limitsIn(values: FormValues) {
  const given = ['calls', 'minutes', 'tokens', 'cost'].map((name) => [name, numberIn(values, name)] as const);
  return Object.fromEntries(given.filter(([, limit]) => limit !== undefined)) as RunLimits;
}

/** Only a context can be answered several times, so only its form has these fields. */
const repeatFields: readonly FormField[] = [
  { name: 'times', label: 'Times', kind: 'number', placeholder: '1', hint: 'Each try is a branch. An agent works in a copy of its folder for each.' },
  {
    name: 'check',
    label: 'Check command',
    field: 'check',
    shown: (values) => (numberIn(values, 'times') ?? 1) > 1,
    hint: 'The shell runs it in the folder of each try, with the last message as its input. Exit code 0 is a pass, and the branch is tagged with the score.',
  },
];

/** Starts a job for a turn, a run of a space, a start of a ticket, or a context. */
export const runForm = (what: Work, title: string): FormSpec => ({
  title,
  intro: 'The job runs within these limits and stops at the first that it reaches. You can stop it at any time.',
  fields: [...performerFields(), ...('commit' in what ? repeatFields : [])],
  action: 'Run',
  submit: (values) => {
    const [performer, limits, times] = [performerIn(values), limitsIn(values), numberIn(values, 'times') ?? 1];
    if (!('commit' in what) || times === 1) return startJob({ what, performer, limits });
    return repeatJob({ commit: what.commit, times, performer, limits, check: givenIn(values, 'check') });
  },
});
