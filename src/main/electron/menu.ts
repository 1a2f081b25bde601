import { app, BrowserWindow, dialog, Menu, type MenuItemConstructorOptions, shell } from 'electron';
import { thisSystem } from '../../core/system/index.js';
import { choose } from './dialogs.js';
import { tellPage } from './page.js';

/** The views of the window by the names in its addresses, in the order of the rail. */
const places = [
  ['sessions', 'Sessions'],
  ['chain', 'Chain'],
  ['context', 'Context'],
  ['calls', 'Calls'],
  ['replay', 'Replay'],
  ['timeline', 'Agents'],
  ['reviews', 'Reviews'],
  ['experiments', 'Experiments'],
  ['settings', 'Settings'],
] as const;

/** The address of the focused window, else of the first window. */
const focused = (): BrowserWindow | undefined => BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];

/** Navigates a window to an address. Only the hash changes, so the page is not loaded again. */
export function lead(window: BrowserWindow | undefined, hash: string): void {
  void window?.webContents.executeJavaScript(`location.hash = ${JSON.stringify(hash)}`);
}

/** The part of a window's address after `?`: the project and what is selected. */
const queryOf = (window: BrowserWindow | undefined): string => window?.webContents.getURL().split('?')[1] ?? '';

/** Shows a view. The project and the selection stay. */
function goTo(view: string): void {
  const window = focused();
  lead(window, `#/${view}?${queryOf(window)}`);
}

/** Asks for a project's folder and opens it. */
async function openProject(): Promise<void> {
  const window = focused();
  if (!window) return;
  const [dir] = await choose(window, 'folder');
  if (dir === undefined) return;
  if (!dir.endsWith('.stemma')) {
    await dialog.showMessageBox(window, { type: 'info', message: 'This folder is not a project.', detail: 'The name of a project ends in .stemma.' });
    return;
  }
  lead(window, `#/sessions?${new URLSearchParams({ project: dir }).toString()}`);
}

/** Asks for histories and imports them. */
async function importHistories(kind: 'open' | 'folder'): Promise<void> {
  const window = focused();
  const paths = window ? await choose(window, kind) : [];
  if (paths.length > 0) tellPage(window, 'command', { name: 'import', paths });
}

/** Shows the folder of the open project in the file manager. */
function reveal(): void {
  const project = new URLSearchParams(queryOf(focused())).get('project');
  if (project) shell.showItemInFolder(project);
}

/** The menus of the desktop app: the main commands of the window, with their keys. */
export function applicationMenu(openWindow: () => void): Menu {
  const mac: MenuItemConstructorOptions[] = thisSystem === 'macos' ? [{ role: 'appMenu' }] : [];
  return Menu.buildFromTemplate([
    ...mac,
    {
      label: 'File',
      submenu: [
        { label: 'New Window', accelerator: 'CmdOrCtrl+Shift+N', click: openWindow },
        { label: 'Open Project…', accelerator: 'CmdOrCtrl+O', click: () => void openProject() },
        { type: 'separator' },
        { label: 'Import Files…', accelerator: 'CmdOrCtrl+I', click: () => void importHistories('open') },
        { label: 'Import Folder…', click: () => void importHistories('folder') },
        { label: 'Export…', accelerator: 'CmdOrCtrl+E', click: () => tellPage(focused(), 'command', { name: 'export' }) },
        { type: 'separator' },
        { label: 'Reveal Project in File Manager', click: reveal },
        { type: 'separator' },
        thisSystem === 'macos' ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'Go',
      submenu: [
        { label: 'Back', accelerator: 'Alt+Left', click: () => focused()?.webContents.navigationHistory.goBack() },
        { label: 'Forward', accelerator: 'Alt+Right', click: () => focused()?.webContents.navigationHistory.goForward() },
        { type: 'separator' },
        ...places.map(
          ([view, label], place): MenuItemConstructorOptions => ({ label, accelerator: `CmdOrCtrl+${place + 1}`, click: () => goTo(view) }),
        ),
      ],
    },
    { role: 'viewMenu' },
    { role: 'windowMenu' },
    { role: 'help', submenu: [{ label: `Stemma ${app.getVersion()}`, enabled: false }] },
  ]);
}
