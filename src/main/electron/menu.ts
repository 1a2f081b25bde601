import { app, type BrowserWindow, clipboard, dialog, Menu, type MenuItemConstructorOptions, shell } from 'electron';
import { thisSystem } from '../../core/system/index.js';
import { diagnosticsOf } from '../launch/index.js';
import { choose } from './dialogs.js';
import { type MenuProject, tellPage } from './page.js';
import { frontWindow } from './recovery.js';
import { showUpdateCheck } from './updates.js';

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

/** Navigates a window to an address. Only the hash changes, so the page is not loaded again. */
export function lead(window: BrowserWindow | undefined, hash: string): void {
  void window?.webContents.executeJavaScript(`location.hash = ${JSON.stringify(hash)}`);
}

/** The part of a window's address after `?`: the project and what is selected. */
const queryOf = (window: BrowserWindow | undefined): string => window?.webContents.getURL().split('?')[1] ?? '';

function goTo(view: string): void {
  const window = frontWindow();
  lead(window, `#/${view}?${queryOf(window)}`);
}

async function openProject(): Promise<void> {
  const window = frontWindow();
  if (!window) return;
  const [dir] = await choose(window, 'folder');
  if (dir === undefined) return;
  if (!dir.endsWith('.stemma')) {
    await dialog.showMessageBox(window, { type: 'info', message: 'This folder is not a project.', detail: 'The name of a project ends in .stemma.' });
    return;
  }
  openRecent(dir);
}

const openRecent = (dir: string): void => lead(frontWindow(), `#/sessions?${new URLSearchParams({ project: dir }).toString()}`);

async function importHistories(kind: 'open' | 'folder'): Promise<void> {
  const window = frontWindow();
  const paths = window ? await choose(window, kind) : [];
  if (paths.length > 0) tellPage(window, 'command', { name: 'import', paths });
}

function reveal(): void {
  const project = new URLSearchParams(queryOf(frontWindow())).get('project');
  if (project) shell.showItemInFolder(project);
}

/** Copies facts about this installation, without content, titles or paths. */
function copyDiagnostics(): void {
  clipboard.writeText(`${JSON.stringify(diagnosticsOf(app.getVersion()), null, 2)}\n`);
}

/** Sets the menus of the desktop app, and the list of recent projects that the system shows. */
export function setMenu(openWindow: () => void, recent: readonly MenuProject[] = []): void {
  Menu.setApplicationMenu(applicationMenu(openWindow, recent));
  // macOS shows it in the Dock, Windows in the taskbar.
  if (thisSystem !== 'linux' && recent.length > 0) {
    app.clearRecentDocuments();
    for (const { dir } of recent.toReversed()) app.addRecentDocument(dir);
  }
}

function applicationMenu(openWindow: () => void, recent: readonly MenuProject[]): Menu {
  const mac: MenuItemConstructorOptions[] = thisSystem === 'macos' ? [{ role: 'appMenu' }] : [];
  return Menu.buildFromTemplate([
    ...mac,
    {
      label: 'File',
      submenu: [
        { label: 'New Window', accelerator: 'CmdOrCtrl+Shift+N', click: openWindow },
        { label: 'Open Project…', accelerator: 'CmdOrCtrl+O', click: () => void openProject() },
        {
          label: 'Open Recent',
          enabled: recent.length > 0,
          // An ampersand would mark a key of the menu.
          submenu: recent.map(({ dir, name }) => ({ label: name.replaceAll('&', '&&'), sublabel: dir, click: () => openRecent(dir) })),
        },
        { type: 'separator' },
        { label: 'Import Files…', accelerator: 'CmdOrCtrl+I', click: () => void importHistories('open') },
        { label: 'Import Folder…', click: () => void importHistories('folder') },
        { label: 'Export…', accelerator: 'CmdOrCtrl+E', click: () => tellPage(frontWindow(), 'command', { name: 'export' }) },
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
        { label: 'Back', accelerator: 'Alt+Left', click: () => frontWindow()?.webContents.navigationHistory.goBack() },
        { label: 'Forward', accelerator: 'Alt+Right', click: () => frontWindow()?.webContents.navigationHistory.goForward() },
        { type: 'separator' },
        ...places.map(
          ([view, label], place): MenuItemConstructorOptions => ({ label, accelerator: `CmdOrCtrl+${place + 1}`, click: () => goTo(view) }),
        ),
      ],
    },
    { role: 'viewMenu' },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        { label: 'Check for Updates…', click: () => void showUpdateCheck() },
        { label: 'Copy Diagnostics', click: copyDiagnostics },
        { type: 'separator' },
        { label: `Stemma ${app.getVersion()}`, enabled: false },
      ],
    },
  ]);
}
