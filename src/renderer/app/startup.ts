import { useEffect } from 'react';
import { api } from '../client';
import { hubForm } from '../forms';
import { notifyProblem } from '../parts';
import { ask, go, move, showProject, useNavigation } from '../state';
import { importPaths } from '../views/sessions';

let started = false;

/** Opens or imports the paths with which Stemma was started, once, unless the address already names a project. */
export function useStartup(): void {
  useEffect(() => {
    if (started) return;
    started = true;
    // A person who has already chosen a place, with a click or a key, must stay there.
    let hasActed = false;
    const note = (): void => {
      hasActed = true;
    };
    const listening = new AbortController();
    for (const name of ['pointerdown', 'keydown']) addEventListener(name, note, { capture: true, signal: listening.signal });
    void (async () => {
      const { paths, project, link } = await api.library.startup({});
      listening.abort();
      // A reload keeps the address and must not import the same files again.
      if (sessionStorage.getItem('stemma.started')) return;
      sessionStorage.setItem('stemma.started', 'yes');
      const { route } = useNavigation.getState();
      if (project && !route.project) hasActed ? move({ project }) : showProject(project);
      else if (!route.project) {
        // The last project is opened in the background, so that Sessions shows the sessions that are already imported.
        const last = (await api.library.recent({})).find((one) => !one.missing);
        if (last) move({ project: last.dir });
      }
      if (paths.length > 0) await importPaths(paths, true);
      if (link) await followLink(link);
    })().catch(notifyProblem);
  }, []);
}

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
