import { useEffect, useRef, useState } from 'react';
import type { CapturedFile } from '../../core/contract/index.js';
import { api } from '../client';
import { attempt, notifyProblem } from '../parts';
import {
  copyDiagnostics,
  type DesktopCommand,
  isDesktop,
  nextAddress,
  notify,
  onDesktopCommand,
  route,
  show,
  useLive,
  useNotifyTurns,
  useOpenDir,
} from '../state';
import { importPaths } from '../views/sessions';
import { followLink } from './startup';

/** The most finished turns to keep until the desktop app has shown them. */
const maxNews = 5;

interface News {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly place: string;
}

/** Carries out the menu commands of the desktop app, and provides the content of its tray item and notifications. */
export function useDesktop(): void {
  const dir = useOpenDir();
  const capture = useLive((live) => live.capture);
  const wanted = useNotifyTurns(({ on }) => on);
  const open = useRef<ReadonlySet<string>>(new Set());
  const news = useRef<readonly News[]>([]);
  const recent = useRecent(dir);
  useEffect(() => onDesktopCommand(carryOut), []);
  useEffect(() => {
    if (!isDesktop) return;
    const files = capture?.files ?? [];
    const ended = files.filter((file) => !file.open && open.current.has(file.path));
    open.current = new Set(files.filter((file) => file.open).map(({ path }) => path));
    if (wanted) news.current = [...news.current, ...ended.map(newsOf)].slice(-maxNews);
    document.documentElement.dataset.desktop = JSON.stringify({
      capture: capture?.watching ?? false,
      project: /([^\\/]*?)(?:\.stemma)?$/.exec(dir ?? '')?.[1] ?? '',
      live: open.current.size,
      news: news.current,
      recent,
    });
  }, [capture, dir, wanted, recent]);
}

const maxRecent = 10;

/** The projects that were opened before, loaded again whenever another project opens. */
function useRecent(dir: string | undefined): readonly { readonly dir: string; readonly name: string }[] {
  const [recent, setRecent] = useState<readonly { readonly dir: string; readonly name: string }[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another open project changes the list.
  useEffect(() => {
    if (!isDesktop) return;
    api.library.recent({}).then(
      (projects) => setRecent(projects.flatMap((one) => (one.missing ? [] : { dir: one.dir, name: one.name })).slice(0, maxRecent)),
      // The menu keeps what it shows.
      () => undefined,
    );
  }, [dir]);
  return recent;
}

function carryOut(command: DesktopCommand): void {
  const { commit, stop } = route();
  if (command.name === 'import') importPaths(command.paths, true).catch(notifyProblem);
  else if (command.name === 'link') followLink(command.url).catch(notifyProblem);
  else if (command.name === 'recovered')
    notify('This page crashed and was loaded again. Your place and your drafts are kept.', {
      name: 'Copy diagnostics',
      act: attempt(() => copyDiagnostics()),
    });
  else if (commit) show({ kind: 'export', commit, stop: stop ?? 'compaction' });
}

const newsOf = ({ path, tip, cwd, capturedAt }: CapturedFile): News => ({
  id: `${path} ${tip ?? ''} ${capturedAt ?? ''}`,
  title: 'An agent finished a turn',
  body: cwd ?? path,
  place: nextAddress({ view: 'context', commit: tip ?? undefined, session: undefined, entry: undefined, stop: undefined }),
});
