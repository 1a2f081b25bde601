import { useEffect, useRef } from 'react';
import type { CapturedFile } from '../../core/contract/index.js';
import { notifyProblem } from '../parts';
import { addressOf, isDesktop, onDesktopCommand, route, show, useLive, useNotifyTurns, useOpenDir } from '../state';
import { importPaths } from '../views/sessions';

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
  useEffect(
    () =>
      onDesktopCommand((command) => {
        const { commit, stop } = route();
        if (command.name === 'import') importPaths(command.paths, true).catch(notifyProblem);
        else if (commit) show({ kind: 'export', commit, stop: stop ?? 'compaction' });
      }),
    [],
  );
  useEffect(() => {
    if (!isDesktop) return;
    const files = capture?.files ?? [];
    const ended = files.filter((file) => !file.open && open.current.has(file.path));
    open.current = new Set(files.filter((file) => file.open).map(({ path }) => path));
    if (wanted) news.current = [...news.current, ...ended.map(newsOf)].slice(-maxNews);
    document.documentElement.dataset.desktop = JSON.stringify({
      capture: capture?.watching ?? false,
      project:
        dir
          ?.split(/[\\/]/)
          .at(-1)
          ?.replace(/\.stemma$/, '') ?? '',
      live: open.current.size,
      news: news.current,
    });
  }, [capture, dir, wanted]);
}

const newsOf = ({ path, tip, cwd, capturedAt }: CapturedFile): News => ({
  id: `${path} ${tip ?? ''} ${capturedAt ?? ''}`,
  title: 'An agent finished a turn',
  body: cwd ?? path,
  place: addressOf({ view: 'context', commit: tip ?? undefined, session: undefined, entry: undefined, stop: undefined }),
});
