import { badRequest, inWords, notFound, unavailable } from '../base/index.js';
import { deepLinkOf, type OutputOf } from '../contract/index.js';
import { projectIdIn } from '../trust/index.js';
import type { Session } from './session.js';

/**
 * What a link leads to. A link is hostile: it names a project by its id, and only recent projects that a person trusts here are searched.
 * @throws BAD_REQUEST for anything but a link; NOT_FOUND if this machine has no such project.
 */
export function resolveLink(session: Session, url: string): OutputOf<'desktop.link'> {
  const link = deepLinkOf(url);
  if (!link)
    throw badRequest(
      'url',
      `${inWords(url)} is no link of Stemma. Links have the form stemma://commit/ctx-…?project=ID, stemma://session/ID?project=ID or stemma://share?link=https://….`,
    );
  if (link.kind === 'share') return link;
  const dir = findFolder(session, link.project);
  return link.kind === 'commit' ? { kind: 'commit', dir, commit: link.commit } : { kind: 'session', dir, session: link.session };
}

/** The folder of the project of a link. */
function findFolder({ engine, openProject }: Session, projectId: string | undefined): string {
  if (projectId === undefined) {
    const open = openProject();
    if (open) return open.dir;
    throw badRequest('url', 'the link names no project, and none is open. Open the project first.');
  }
  const recent = engine.recent().find(({ dir, missing }) => !missing && projectIdIn(dir) === projectId && engine.isTrusted(projectId, dir));
  if (recent) return recent.dir;
  throw notFound(
    projectId,
    `No project that you opened and trust on this machine has the id ${projectId}. Open the project, then follow the link again.`,
  );
}

/** The part of the program that updates itself, or a refusal that says who does. @throws UNAVAILABLE */
export function updatesOf({ engine }: Session): NonNullable<Session['engine']['options']['updates']> {
  const { updates } = engine.options;
  if (updates) return updates;
  throw unavailable('This engine has no settings of updates.');
}
