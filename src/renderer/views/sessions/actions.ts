import { Archive, ArchiveRestore, BookOpen, GitFork, Import, Pencil, Pin, PinOff, RefreshCw, Tag, Trash2, Wrench } from 'lucide-react';
import { api } from '../../client';
import { type MenuEntry, notifyProblem } from '../../parts';
import { go, notify, refreshProject, show } from '../../state';
import { importPaths, pathsToImport, showHit } from './act';
import type { Listed } from './rows';

/** Opens a session where it contains the `sought` words, else at its end. A history that is not imported is imported first. */
export function openSession(listed: Listed, view: 'chain' | 'context' = 'chain', sought?: string): void {
  const { session, found } = listed;
  const shown = session && (session.parentSessionId ?? session.sessionId);
  if (session && sought !== undefined)
    void showHit(session.sessionId, sought, shown).then((isShown) => isShown || openSession(listed, view), notifyProblem);
  else if (session) {
    go({ view, session: shown, commit: session.tips[0], against: undefined, entry: undefined, stop: undefined });
  } else if (found) void importPaths(pathsToImport(found), true, undefined, sought);
}

const change = (act: Promise<unknown>): void => void act.then(refreshProject).catch(notifyProblem);

/** Changes a session, says what was done, and offers the opposite. */
const changeBack = (set: (on: boolean) => Promise<unknown>, on: boolean, said: string): void =>
  change(set(on).then(() => notify(said, { name: 'Undo', act: () => change(set(!on)) })));

const archive = (sessionId: string, title: string, archived: boolean): void =>
  changeBack((on) => api.session.archive({ sessionId, archived: on }), archived, `${archived ? 'Archived' : 'Brought back'} “${title}”`);

const pin = (sessionId: string, title: string, pinned: boolean): void =>
  changeBack((on) => api.session.pin({ sessionId, pinned: on }), pinned, `${pinned ? 'Pinned' : 'Unpinned'} “${title}”`);

function remove(sessionId: string): void {
  change(
    api.session.delete({ sessionId }).then(({ title }) =>
      notify(`Deleted “${title}” from the project. The agent's file stays.`, {
        name: 'Undo',
        act: () => change(api.session.delete({ sessionId, deleted: false }).then(() => notify(`Brought back “${title}”`))),
      }),
    ),
  );
}

/** The actions on a session of the list. */
export function sessionActions(listed: Listed): readonly MenuEntry[] {
  const { session, found } = listed;
  if (!session) return [{ name: 'Import and open', icon: Import, keys: 'Enter', act: () => openSession(listed) }];
  const { sessionId, title, pinned, archived } = session;
  return [
    { name: 'Open chain', icon: GitFork, keys: 'Enter', act: () => openSession(listed) },
    { name: 'Open context', icon: BookOpen, keys: 'o', act: () => openSession(listed, 'context') },
    ...(found ? [{ name: 'Update from the agent’s file', icon: RefreshCw, act: () => void importPaths(pathsToImport(found), false) }] : []),
    { name: 'Repair & continue…', icon: Wrench, act: () => show({ kind: 'repair', session }) },
    'line',
    { name: 'Rename…', icon: Pencil, keys: 'F2', act: () => show({ kind: 'session', session, what: 'title' }) },
    { name: 'Tags…', icon: Tag, keys: 't', act: () => show({ kind: 'session', session, what: 'tags' }) },
    pinned
      ? { name: 'Unpin', icon: PinOff, keys: 'p', act: () => pin(sessionId, title, false) }
      : { name: 'Pin', icon: Pin, keys: 'p', act: () => pin(sessionId, title, true) },
    'line',
    archived
      ? { name: 'Bring back from the archive', icon: ArchiveRestore, keys: 'a', act: () => archive(sessionId, title, false) }
      : { name: 'Archive', icon: Archive, keys: 'a', act: () => archive(sessionId, title, true) },
    { name: 'Delete from the project', icon: Trash2, keys: 'Delete', act: () => remove(sessionId) },
  ];
}
