import type { Entity, EntityType, Space } from '../../core/contract/index.js';
import { api } from '../client';
import { attempt } from '../parts';
import { FieldError, type FormSpec, givenIn, isYes, jsonIn, localTime, notify, numberIn, rowsIn, textIn, timeIn } from '../state';

const kinds: Readonly<Record<EntityType, string>> = { agent: 'An agent', human: 'A person', service: 'A service, such as a build or a calendar' };

/** Adds a member to a space: a known entity or a new one. */
export const joinForm = (space: Space, known: readonly Entity[], onDone: () => void): FormSpec => ({
  title: `Add a member to ${space.name ?? 'this space'}`,
  intro: 'A member reads and writes in the space. A message starts every other agent that is a member.',
  fields: [
    {
      name: 'entityId',
      label: 'Who',
      kind: 'choice',
      placeholder: 'Someone new',
      options: known
        .filter(({ entityId }) => !space.members.some((member) => member.entityId === entityId))
        .map(({ entityId, name, type }) => ({ value: entityId, name: `${name} (${type})` })),
    },
    { name: 'name', label: 'Name', required: true, shown: ({ entityId }) => entityId === '' },
    { name: 'type', label: 'Kind', kind: 'choice', options: kinds, shown: ({ entityId }) => entityId === '' },
  ],
  action: 'Add',
  submit: async (values) => {
    const entityId =
      givenIn(values, 'entityId') ??
      (await api.space.addEntity({ name: textIn(values, 'name'), type: textIn(values, 'type') as EntityType })).entityId;
    await api.space.join({ spaceId: space.spaceId, entityId });
    onDone();
    notify('Added to the space');
  },
});

/** Removes a member from a space, and offers Undo. */
export async function leaveSpace({ spaceId }: Space, { entityId, name }: Entity, onDone: () => void): Promise<void> {
  await api.space.leave({ spaceId, entityId });
  onDone();
  notify(`${name} left the space`, { name: 'Undo', act: () => void api.space.join({ spaceId, entityId }).then(onDone) });
}

type Goals = Awaited<ReturnType<typeof api.run.goals>>;
type Memory = Awaited<ReturnType<typeof api.run.memories>>[number];
type Plan = Awaited<ReturnType<typeof api.run.plans>>[number];

const goalOf = ({ description, priority, longTerm }: Goals[number]) => ({ description, priority, longTerm });

/** Sets the goals of an agent. */
export const goalsForm = ({ entityId, name }: Entity, goals: Goals, onDone: () => void): FormSpec => ({
  title: `Goals of ${name}`,
  intro: 'The agent reads its goals at the start of every run, the most important first.',
  fields: [
    {
      name: 'goals',
      label: 'Goals',
      kind: 'rows',
      add: 'Add goal',
      row: [
        { name: 'description', label: 'Goal', required: true },
        { name: 'priority', label: 'Priority', kind: 'number', hint: 'Higher is more important.' },
        { name: 'longTerm', label: 'Long-term', kind: 'check' },
      ],
    },
  ],
  start: { goals: goals.map(goalOf) },
  action: 'Save goals',
  submit: async (values) => {
    const given = rowsIn(values, 'goals').map((row) => ({
      description: textIn(row, 'description'),
      priority: numberIn(row, 'priority'),
      longTerm: isYes(row, 'longTerm'),
    }));
    await api.run.setGoals({ entityId, goals: given });
    onDone();
    const undo = attempt(() => api.run.setGoals({ entityId, goals: goals.map(goalOf) }).then(onDone));
    notify('Goals saved', { name: 'Undo', act: undo });
  },
});

/** Writes a memory of an agent. */
export const memoryForm = ({ entityId, name }: Entity, memory: Memory | undefined, onDone: () => void): FormSpec => ({
  title: memory ? 'Edit memory' : `New memory of ${name}`,
  intro: 'The agent reads its memories in every run, in every space.',
  fields: [
    { name: 'topic', label: 'Topic', hint: 'A memory with the same topic is replaced. Without a topic, a new memory is added.' },
    { name: 'content', label: 'Memory', kind: 'long', required: true },
  ],
  start: { topic: memory?.topic, content: memory?.content },
  action: 'Save memory',
  submit: async (values) => {
    await api.run.setMemory({
      entityId,
      topic: givenIn(values, 'topic') ?? null,
      content: textIn(values, 'content'),
      ...(memory && { memoryId: memory.memoryId }),
    });
    onDone();
    notify('Memory saved');
  },
});

/** Deletes a memory, and offers Undo. */
export async function forgetMemory({ entityId }: Entity, { memoryId, topic, content }: Memory, onDone: () => void): Promise<void> {
  await api.run.setMemory({ entityId, topic: null, content: null, memoryId });
  onDone();
  notify('Memory deleted', { name: 'Undo', act: attempt(() => api.run.setMemory({ entityId, topic: topic ?? null, content }).then(onDone)) });
}

/** Deletes a plan, and offers Undo. */
export async function dropPlan({ entityId }: Entity, { name, instruction, cron, scheduledAt }: Plan, onDone: () => void): Promise<void> {
  await api.run.setPlan({ entityId, name, instruction: null });
  onDone();
  const times = { ...(cron ? { cron } : scheduledAt && { scheduledAt }) };
  notify('Plan deleted', { name: 'Undo', act: attempt(() => api.run.setPlan({ entityId, name, instruction, ...times }).then(onDone)) });
}

/** Writes a plan of an agent: an instruction that starts a run at a time. */
export const planForm = ({ entityId, name }: Entity, plan: Plan | undefined, onDone: () => void): FormSpec => ({
  title: plan ? `Edit plan ${plan.name}` : `New plan of ${name}`,
  intro: 'A plan starts a run when it is due, while Stemma is open. What came due while it was closed runs once at the next start.',
  fields: [
    { name: 'name', label: 'Name', required: true },
    { name: 'instruction', label: 'Instruction', kind: 'long', required: true },
    { name: 'when', label: 'When', kind: 'choice', options: { after: 'Once, after a delay', at: 'Once, at a time', cron: 'Again and again' } },
    { name: 'runAfter', label: 'Delay', required: true, placeholder: '2 hours', shown: ({ when }) => when === 'after' },
    { name: 'scheduledAt', label: 'Time', kind: 'time', required: true, shown: ({ when }) => when === 'at' },
    {
      name: 'cron',
      label: 'Cron expression',
      required: true,
      placeholder: '0 9 * * 1',
      shown: ({ when }) => when === 'cron',
      hint: 'Minute, hour, day, month and day of the week, in UTC. “0 9 * * 1” is every Monday at 9:00.',
    },
  ],
  start: {
    name: plan?.name,
    instruction: plan?.instruction,
    cron: plan?.cron,
    runAfter: plan?.runAfter,
    when: plan?.cron ? 'cron' : plan?.scheduledAt && !plan.runAfter ? 'at' : 'after',
    scheduledAt: plan?.scheduledAt && localTime(plan.scheduledAt),
  },
  action: 'Save plan',
  submit: async (values) => {
    const when = textIn(values, 'when');
    const scheduledAt = timeIn(values, 'scheduledAt');
    await api.run.setPlan({
      entityId,
      name: textIn(values, 'name'),
      instruction: textIn(values, 'instruction'),
      ...(when === 'cron' && { cron: textIn(values, 'cron') }),
      ...(when === 'after' && { runAfter: textIn(values, 'runAfter') }),
      ...(when === 'at' && scheduledAt && { scheduledAt }),
    });
    onDone();
    notify('Plan saved');
  },
});

/** Starts a run of an agent by an event of a service. */
export const serviceForm = ({ entityId, name }: Entity, onDone: () => void): FormSpec => ({
  title: `Start ${name} by a service`,
  intro: 'The agent gets a run that says which service started it and with which data. Nothing is posted to a space.',
  fields: [
    { name: 'service', label: 'Service', required: true, placeholder: 'build', field: 'trigger.service' },
    { name: 'payload', label: 'Data', kind: 'code', field: 'trigger.payload', hint: 'Any JSON, such as {"result": "failed"}.' },
  ],
  start: { payload: '{\n}' },
  action: 'Start run',
  submit: async (values) => {
    const payload = jsonIn(values, 'payload');
    if (payload === undefined) throw new FieldError('payload', 'Data is required: write null for no data.');
    await api.run.start({ entityId, trigger: { type: 'service', service: textIn(values, 'service'), payload } });
    onDone();
    notify('The run started');
  },
});
