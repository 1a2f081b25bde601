import { api } from '../client';
import { hubForm } from '../forms';
import { ask, go } from '../state';

/** Goes to what a `stemma:` link names. Anybody can make one, so it only changes the place, and a person decides to reach a hub. */
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
