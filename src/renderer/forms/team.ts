import type { ContextId, Timestamp } from '../../core/contract/index.js';
import { api } from '../client';
import { copy, type FormSpec, notify, textIn } from '../state';

const dayMs = 86_400_000;

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
        { value: 'reader', name: 'Read' },
        { value: 'reviewer', name: 'Read, and send tickets' },
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
