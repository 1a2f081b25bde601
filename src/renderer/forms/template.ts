import { api } from '../client';
import { type FormSpec, givenIn, reloadAndOpen, textIn } from '../state';

const templateOptions = async () => [...new Set((await api.template.list({})).map(({ name }) => name))].map((name) => ({ value: name, name }));

/** Stores a template, or the next version of one. */
export const templateForm = (name = '', text = ''): FormSpec => ({
  title: name ? `Next version of ${name}` : 'New template',
  intro: 'A template is the text that a kind of agent starts with, such as a system prompt. Commits name the version that they were made with.',
  fields: [
    { name: 'name', label: 'Name', required: true },
    { name: 'text', label: 'Content', kind: 'long', required: true },
    { name: 'contentType', label: 'Media type', placeholder: 'text/plain', hint: 'Leave it empty for plain text.' },
  ],
  start: { name, text },
  action: 'Store version',
  draft: `template ${name}`,
  submit: async (values) => {
    const [name, text, contentType] = [textIn(values, 'name'), textIn(values, 'text'), givenIn(values, 'contentType')];
    const made = await api.template.put({ name, text, contentType });
    await reloadAndOpen({ view: 'profiles', kinds: 'templates', template: made.template }, `Stored ${made.template}`);
  },
});

type Instance = Awaited<ReturnType<typeof api.context.instantiate>>;

/** Builds the context that an agent of a template starts from. */
export const instantiateForm = (template: string, commit: string, onMade: (made: Instance) => void): FormSpec => ({
  title: 'Start an agent from a template',
  intro:
    'This builds the context that the agent starts from. Without a commit, it starts fresh; from the newest commit of a chain, it resumes; from an earlier commit, it forks.',
  fields: [
    { name: 'template', label: 'Template', options: templateOptions, required: true },
    { name: 'context', label: 'Commit', placeholder: 'ctx-…', hint: 'Leave it empty for a fresh start.' },
    { name: 'format', label: 'Format', placeholder: 'claude-code-v1', hint: 'Leave it empty to keep the format of the commit.' },
  ],
  start: { template, context: commit },
  action: 'Build',
  submit: async (values) => {
    const context = (givenIn(values, 'context') ?? null) as never;
    onMade(await api.context.instantiate({ template: textIn(values, 'template'), context, format: givenIn(values, 'format') }));
  },
});
