import { api } from '../client';
import { hubForm } from '../forms';
import { ask, go } from '../state';

/**
 * Goes to what a `stemma:` link names. A link comes from anybody, so it only changes the place of the window: a share opens a form, and a person
 * decides whether to reach the hub.
 */
export async function followLink(url: string): Promise<void> {
  const found = await api.desktop.link({ url });
  switch (found.kind) {
    case 'commit':
      return go({ view: 'context', project: found.dir, session: undefined, commit: found.commit, entry: undefined, stop: undefined });
    case 'session':
      return go({ view: 'chain', project: found.dir, session: found.session, commit: undefined, entry: undefined, stop: undefined });
    case 'share':
      return ask(hubForm(found.share));
  }
}
