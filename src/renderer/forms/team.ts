import { type ContextId, hubPlaceOf, type Timestamp } from '../../core/contract/index.js';
import { api } from '../client';
import { notifyProblem, say } from '../parts';
import { copy, FieldError, type FormSpec, givenIn, go, notify, showProject, textIn } from '../state';

const dayMs = 86_400_000;

/** Opens a project of a hub or the commits of a share link, directly or as a clone. `from` is the address, if a link gave one. */
export const hubForm = (from = ''): FormSpec => ({
  title: 'Open from a hub',
  intro: 'The project remembers its hub, so that you can push and pull later.',
  fields: [
    {
      name: 'how',
      label: 'How',
      kind: 'choice',
      options: { open: 'Open it: contents are fetched when you read them', clone: 'Clone it: everything is copied to a folder' },
    },
    { name: 'from', label: 'Hub and project, or a share link', required: true, hint: 'Such as https://hub.example/web-shop.' },
    {
      name: 'token',
      label: 'Token',
      kind: 'secret',
      shown: ({ from }) => hubPlaceOf(String(from))?.token === undefined,
      hint: 'An admin of the hub makes it. Leave it empty if this machine is signed in at the hub.',
    },
    { name: 'dir', label: 'Folder of the new project', required: true, shown: ({ how }) => how === 'clone', hint: 'Its name ends in .stemma.' },
  ],
  start: { from },
  action: 'Open',
  submit: async (values) => {
    const place = hubPlaceOf(textIn(values, 'from'));
    if (!place) throw new FieldError('from', 'This is neither a hub with a project nor a share link.');
    const { token = givenIn(values, 'token'), ...address } = place;
    const given = { ...address, ...(token !== undefined && { token }) };
    if (values.how !== 'clone') return showProject((await api.team.open(given)).dir);
    const { dir } = await api.project.create({ dir: textIn(values, 'dir') });
    await api.project.open({ dir });
    try {
      await api.team.connect(given);
      const { refused } = await api.team.pull({});
      showProject(dir);
      notify(refused.length > 0 ? `Cloned, without ${say.plural(refused.length, 'record')} that this version cannot take` : 'Cloned');
    } catch (error) {
      // The new project exists but is still empty. Its settings can connect it.
      go({ view: 'settings', settings: 'team', project: dir });
      notifyProblem(error);
    }
  },
});

/** Makes a link on the project's hub to a commit, or to its comparison with another commit. */
export const shareForm = (commit: ContextId, against?: ContextId): FormSpec => ({
  title: 'Share a link',
  intro: `Whoever has the link reads ${against ? 'this comparison, both commits and what comes before them' : 'this commit and what comes before it'}, and can make a clone of it. The hub gets what it lacks first. Nothing is redacted.`,
  fields: [
    { name: 'role', label: 'They may', kind: 'choice', options: { reader: 'Read it', reviewer: 'Read it, and send tickets' } },
    {
      name: 'days',
      label: 'For',
      kind: 'choice',
      options: { 1: '1 day', 7: '7 days', 30: '30 days', '': 'Until it is revoked' },
      hint: 'Settings, Team lists the links and ends them.',
    },
  ],
  start: { days: '7' },
  action: 'Make the link',
  submit: async (values) => {
    const days = Number(textIn(values, 'days'));
    const { url } = await api.team.share({
      commit,
      ...(against && { against }),
      role: values.role === 'reviewer' ? 'reviewer' : 'reader',
      ...(days > 0 && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() as Timestamp }),
    });
    notify('The link is ready', { name: 'Copy', act: () => void copy(url, 'Copied the link') });
  },
});
