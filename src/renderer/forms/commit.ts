import type { Commit, ContextId, Policy } from '../../core/contract/index.js';
import { api } from '../client';
import { namesIn, notifyProblem, reloadAndSay, say } from '../parts';
import { bytesIn, copy, download, type FormSpec, givenIn, localTime, notify, numberIn, openContext, textIn, timeIn } from '../state';
import { modelField, providerOptions } from './options';

type Named = Pick<Commit, 'id'>;

/** Sets the tags of a commit. */
export async function tagsForm({ id }: Named): Promise<FormSpec> {
  const { tags } = await api.context.show({ id });
  return {
    title: 'Tags',
    intro: 'Tags help to find a commit. A commit with a tag is never collected as garbage.',
    fields: [{ name: 'tags', label: 'Tags', hint: 'Separate them with commas.' }],
    start: { tags: tags.join(', ') },
    action: 'Save tags',
    submit: async (values) => {
      await api.context.update({ id, tags: namesIn(textIn(values, 'tags')) });
      await reloadAndSay('Tags saved', () => api.context.update({ id, tags }));
    },
  };
}

const policyNames: Readonly<Record<Policy, string>> = {
  default: 'While something refers to it',
  pin: 'Always',
  ephemeral: 'For a time, then remove it',
  replicate: 'While something refers to it, with a copy in every replica',
};

/** Sets how long the content of a commit is kept. */
export async function retentionForm({ id }: Named): Promise<FormSpec> {
  const { artifactRef } = await api.context.show({ id });
  const stat = await api.artifact.stat({ ref: artifactRef });
  return {
    title: 'Keep this object',
    intro: `The object ${stat.short} holds the content of this commit: ${say.bytes(stat.size)}, ${say.bytes(stat.storedBytes)} on disk. Other commits with the same content share it.`,
    fields: [
      { name: 'policy', label: 'Keep it', kind: 'choice', options: policyNames },
      {
        name: 'ttl',
        label: 'Hours from now',
        kind: 'number',
        field: 'ttlSeconds',
        required: true,
        shown: ({ policy }) => policy === 'ephemeral',
        hint: 'After this time the content is removed, even if commits refer to it. The commits stay and say why it is gone.',
      },
    ],
    start: { policy: stat.policy, ttl: '24' },
    action: 'Save',
    submit: async (values) => {
      const hours = numberIn(values, 'ttl');
      const policy = textIn(values, 'policy') as Policy;
      await api.artifact.setPolicy({
        ref: artifactRef,
        policy,
        ...(policy === 'ephemeral' && hours !== undefined && { ttlSeconds: Math.round(hours * 3_600) }),
      });
      await reloadAndSay(`The object is kept: ${policyNames[policy].toLowerCase()}`);
    },
  };
}

/** Writes summaries for all commits without a summary, or for one commit. */
export const summaryForm = (id: ContextId): FormSpec => ({
  title: 'Summarize',
  intro: 'A summary is the name of a commit in the chain. People can edit it.',
  fields: [
    { name: 'which', label: 'Which commits', kind: 'choice', options: { this: 'This commit', missing: 'Every commit without a summary' } },
    { name: 'provider', label: 'Written by', kind: 'choice', options: providerOptions, placeholder: 'Extracts of its own words, without a model' },
    { ...modelField(), shown: ({ provider }) => provider !== '' },
    { name: 'perMinute', label: 'Most calls per minute', kind: 'number', shown: ({ provider }) => provider !== '' },
  ],
  action: 'Summarize',
  submit: async (values) => {
    const [provider, model, perMinute] = [givenIn(values, 'provider'), givenIn(values, 'model'), numberIn(values, 'perMinute')];
    const stream = await api.context.summarize({
      ...(values.which === 'this' ? { ids: [id] } : { missing: true as const }),
      ...(provider && { provider }),
      ...(provider && model && { model }),
      ...(provider && perMinute !== undefined && { perMinute }),
    });
    void finish(stream).catch(notifyProblem);
  },
});

async function finish(stream: Awaited<ReturnType<typeof api.context.summarize>>): Promise<void> {
  let step = await stream.next();
  for (; !step.done; step = await stream.next()) notify(`Summaries: ${say.exact(step.value.done)} of ${say.exact(step.value.total)}`);
  await reloadAndSay(`Summaries written: ${say.exact(step.value.summarized)}`);
}

/** Assembles a context from a chosen beginning as one object, which files, tickets and programs can name. */
export async function materializeForm({ id }: Named): Promise<FormSpec> {
  const [chain, formats] = await Promise.all([api.context.history({ id, depth: shownAncestors }), api.export.formats({ id })]);
  const describeCommit = ({ id: at, summary, type }: Commit): string => `${say.shortId(at)} · ${(summary ?? type).slice(0, 80)}`;
  return {
    title: 'Materialize from here',
    intro: 'This assembles the context up to this commit as one object of the project. Its reference names exactly this content.',
    fields: [
      {
        name: 'stop',
        label: 'From',
        kind: 'choice',
        options: [
          { value: 'compaction', name: 'The last compaction: as the model had it' },
          { value: 'root', name: 'The first prompt: the full history' },
          ...chain.map((commit) => ({ value: commit.id, name: `From ${describeCommit(commit)}` })),
        ],
      },
      {
        name: 'format',
        label: 'Format',
        kind: 'choice',
        placeholder: 'As it is stored',
        options: formats.map(({ format, name }) => ({ value: format, name })),
      },
    ],
    action: 'Materialize',
    submit: async (values) => {
      const made = await api.context.materialize({ id, stop: textIn(values, 'stop') as never, format: givenIn(values, 'format') });
      notify(`${say.plural(made.messageCount, 'message')} · ${made.artifactRef}`, {
        name: 'Copy the reference',
        act: () => void copy(made.artifactRef, 'Copied the reference'),
      });
    },
  };
}

const shownAncestors = 200;

/** Finds the newest commit of a principal at a moment. */
export const resolveForm = async ({ id }: Named): Promise<FormSpec> => ({
  title: 'Find a context by time',
  intro: 'This opens the newest commit of a principal at or before a time. A principal is one session of an agent, or a person.',
  fields: [
    { name: 'principal', label: 'Principal', required: true, options: principalOptions },
    { name: 'at', label: 'Moment', kind: 'time', required: true },
  ],
  start: { principal: (await api.context.show({ id })).principal ?? '', at: localTime(new Date().toISOString()) },
  action: 'Open',
  submit: async (values) => {
    const [name, at] = [textIn(values, 'principal'), timeIn(values, 'at') as string];
    const found = await api.context.resolve({ principal: name, at: at as never });
    if (!found.id) throw new Error(`${name} has no commit at or before ${say.instant(at)}.`);
    openContext(found.id);
    notify(`${name} understood this at ${say.instant(at)}`);
  },
});

/** Returns the file that a commit was imported from, byte for byte. */
export async function sourceForm({ id }: Named): Promise<FormSpec> {
  const sources = await api.source.list({});
  const own = sources.find(({ tips }) => tips.includes(id)) ?? sources[0];
  if (!own) throw new Error('No file was imported into this project.');
  return {
    title: 'Download an imported file',
    intro: 'The file comes back exactly as it was imported, from what the project stores.',
    fields: [
      {
        name: 'sourceId',
        label: 'File',
        kind: 'choice',
        options: sources.map(({ sourceId, path, bytes }) => ({ value: sourceId, name: `${path} (${say.bytes(bytes)})` })),
      },
    ],
    start: { sourceId: own.sourceId },
    action: 'Download',
    submit: async (values) => {
      const sourceId = textIn(values, 'sourceId');
      const { artifactRef } = await api.source.get({ sourceId });
      if (!artifactRef) throw new Error('The file is not stored as one object.');
      const { data } = await api.artifact.get({ ref: artifactRef });
      const path = sources.find((one) => one.sourceId === sourceId)?.path ?? sourceId;
      download(bytesIn(data), path.split(/[\\/]/).at(-1) ?? sourceId, 'application/octet-stream');
    },
  };
}

const newestRows = 1_000;

async function principalOptions() {
  const { rows } = await api.context.graph({ offset: 0, limit: newestRows });
  return [...new Set(rows.flatMap(({ commit }) => commit.principal ?? []))].map((value) => ({ value, name: value }));
}

/** Removes objects until the store fits a size. */
export const budgetForm = (onDone: () => void): FormSpec => ({
  title: 'Shrink the store to a size',
  intro: 'Objects that nothing refers to are removed first, then caches, then objects of which a replica has a copy. Nothing else is removed.',
  fields: [{ name: 'megabytes', label: 'Size in megabytes', kind: 'number', required: true, field: 'budgetBytes' }],
  action: 'Shrink',
  submit: async (values) => {
    const { removed, freedBytes } = await api.artifact.gc({ budgetBytes: Math.round((numberIn(values, 'megabytes') ?? 0) * 1_000_000) });
    onDone();
    notify(`${say.plural(removed, 'object')} removed, ${say.bytes(freedBytes)} freed`);
  },
});
