import { type ContextId, hubPlaceOf, type Timestamp } from '../../core/contract/index.js';
import { api } from '../client';
import { notifyProblem, say } from '../parts';
import { copy, FieldError, type FormSpec, givenIn, go, notify, textIn } from '../state';

const dayMs = 86_400_000;

/** Makes a project of what a hub holds, or of what a share link opens, and shows it. */
export const cloneForm = (): FormSpec => ({
  title: 'Clone from a hub',
  intro: 'A clone is a project of your own. It remembers its hub, so that you can push and pull later.',
  fields: [
    { name: 'from', label: 'Hub and project, or a share link', required: true, hint: 'Such as https://hub.example/web-shop.' },
    {
      name: 'token',
      label: 'Token',
      shown: ({ from }) => hubPlaceOf(String(from))?.token === undefined,
      hint: 'An admin of the hub makes it. A share link needs none, nor does a hub at which you signed in with stemma login.',
    },
    { name: 'dir', label: 'Folder of the new project', required: true, hint: 'Its name ends in .stemma.' },
  ],
  start: { from: '', token: '', dir: '' },
  action: 'Clone',
  submit: async (values) => {
    const place = hubPlaceOf(textIn(values, 'from'));
    if (!place) throw new FieldError('from', 'This is neither a hub with a project nor a share link.');
    const { token = givenIn(values, 'token'), ...address } = place;
    const { dir } = await api.project.create({ dir: textIn(values, 'dir') });
    await api.project.open({ dir });
    try {
      await api.team.connect({ ...address, ...(token !== undefined && { token }) });
      const { refused } = await api.team.pull({});
      go({ view: 'chain', project: dir, session: undefined, commit: undefined, against: undefined, entry: undefined, stop: undefined });
      notify(refused.length > 0 ? `Cloned, without ${say.plural(refused.length, 'record')} that this version cannot take` : 'Cloned');
    } catch (error) {
      // The project exists and is empty: its settings connect it.
      go({ view: 'settings', settings: 'team', project: dir });
      notifyProblem(error);
    }
  },
});

/** Makes a link to a commit on the hub of the project. */
export const shareForm = (commit: ContextId): FormSpec => ({
  title: 'Share a link',
  intro:
    'Whoever has the link reads this commit and what comes before it, and can make a clone of it. The hub gets the commit first if it lacks it. Nothing is redacted.',
  fields: [
    {
      name: 'role',
      label: 'They may',
      kind: 'choice',
      options: [
        { value: 'reader', name: 'Read it' },
        { value: 'reviewer', name: 'Read it, and send tickets' },
      ],
    },
    {
      name: 'days',
      label: 'For',
      kind: 'choice',
      options: [
        { value: '1', name: '1 day' },
        { value: '7', name: '7 days' },
        { value: '30', name: '30 days' },
        { value: '', name: 'Until it is revoked' },
      ],
      hint: 'Settings, Team lists the links and ends them.',
    },
  ],
  start: { role: 'reader', days: '7' },
  action: 'Make the link',
  submit: async (values) => {
    const days = Number(textIn(values, 'days'));
    const { url } = await api.team.share({
      commit,
      role: values.role === 'reviewer' ? 'reviewer' : 'reader',
      ...(days > 0 && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() as Timestamp }),
    });
    notify('The link is ready', { name: 'Copy', act: () => void copy(url, 'Copied the link') });
  },
});
