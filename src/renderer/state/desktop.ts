import { create } from 'zustand';
import { api } from '../client';
import { copy } from './ui';

/** Whether this window belongs to the desktop app, which has native dialogs, a tray item and notifications. */
export const isDesktop = 'stemma' in globalThis;

let asked = 0;

/** Shows a native dialog of the desktop app. Returns the chosen paths; none if the person canceled. */
export function choosePaths(kind: 'open' | 'folder' | 'save', name = ''): Promise<readonly string[]> {
  const id = String(++asked);
  return new Promise((resolve) => {
    const onChosen = (event: Event): void => {
      const { detail } = event as CustomEvent<{ id: string; paths: readonly string[] }>;
      if (detail.id !== id) return;
      removeEventListener('stemma:chosen', onChosen);
      resolve(detail.paths);
    };
    addEventListener('stemma:chosen', onChosen);
    // The shell never loads this address. It shows the dialog and answers with an event.
    open(`/dialog/${kind}?${new URLSearchParams({ id, name }).toString()}`, '_blank');
  });
}

export type DesktopCommand =
  | { readonly name: 'import'; readonly paths: readonly string[] }
  | { readonly name: 'export' }
  | { readonly name: 'link'; readonly url: string }
  /** The page crashed and was loaded again. */
  | { readonly name: 'recovered' };

/** Calls `act` for each menu command until the returned function is called. */
export function onDesktopCommand(act: (command: DesktopCommand) => void): () => void {
  const onCommand = (event: Event): void => act((event as CustomEvent<DesktopCommand>).detail);
  addEventListener('stemma:command', onCommand);
  return () => removeEventListener('stemma:command', onCommand);
}

const key = 'stemma.notifyTurns';

/** Whether a person asked for a notification when a turn ends. */
export const useNotifyTurns = create<{ readonly on: boolean }>(() => ({ on: localStorage.getItem(key) === 'on' }));

/** Turns notifications on or off, and remembers it. */
export function setNotifyTurns(on: boolean): void {
  localStorage.setItem(key, on ? 'on' : 'off');
  useNotifyTurns.setState({ on });
}

/** Copies facts about this installation, without content, titles or paths. */
export const copyDiagnostics = async (): Promise<void> =>
  copy(`${JSON.stringify(await api.desktop.diagnostics({}), null, 2)}\n`, 'Copied the diagnostics');
