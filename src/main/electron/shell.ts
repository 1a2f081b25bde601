import { join } from 'node:path';
import { app, BrowserWindow, ipcMain, Menu, type MenuItemConstructorOptions } from 'electron';
import { built, engineOptions } from '../engine/index.js';
import { type EngineHost, startNode, startUtility } from './engine-host.js';
import { isOurPage, origin, secureContents, secureSession } from './security.js';
import { rememberedState, rememberState } from './window-state.js';

/**
 * The desktop shell: one window, one engine, and the pipe between them. Started as `electron APP [PATH…]`; paths come
 * in `STEMMA_PATHS` (JSON) from our own launcher, because Chromium takes what looks like a switch from the command line.
 */
const paths = pathsFrom(process.argv);
const options = engineOptions(paths);

// A home of one's own, as tests have it, has a browser profile and a single-instance lock of its own, too.
if (process.env.STEMMA_HOME) app.setPath('userData', join(options.dataDir, 'electron'));

if (!app.requestSingleInstanceLock({ paths: [...options.startup.paths], project: options.startup.project })) {
  app.quit();
} else {
  secureContents();
  app.on('window-all-closed', () => app.quit());
  app.on('second-instance', (_event, _argv, _cwd, named) => bringForward(named as { paths: string[]; project: string | null }));
  void app.whenReady().then(start);
}

let engine: EngineHost | undefined;
let window: BrowserWindow | undefined;

function start(): void {
  secureSession();
  Menu.setApplicationMenu(menu());
  ipcMain.on('stemma:port', (event, nonce: unknown) => {
    if (!isOurPage(event.senderFrame) || typeof nonce !== 'string' || nonce.length > 200) return;
    event.senderFrame?.postMessage('stemma:port', nonce, [runningEngine().connect()]);
  });
  app.on('will-quit', () => {
    const running = engine;
    engine = undefined;
    running?.stop();
  });
  openWindow();
}

/** The engine, started on first use and again after it ended: a window whose port closed asks for the next. */
function runningEngine(): EngineHost {
  if (engine) return engine;
  const node = process.env.STEMMA_ENGINE_NODE;
  const started = node ? startNode(node, options) : startUtility(options);
  started.onEnd((reason) => {
    if (engine !== started) return;
    console.error(`Stemma: ${reason}`);
    engine = undefined;
  });
  engine = started;
  return started;
}

function openWindow(): void {
  const { bounds, maximized } = rememberedState();
  const opened = new BrowserWindow({
    ...bounds,
    minWidth: 420,
    minHeight: 320,
    show: false,
    autoHideMenuBar: true,
    title: 'Stemma',
    webPreferences: {
      preload: built('preload', 'preload.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      webSecurity: true,
      spellcheck: false,
    },
  });
  if (maximized) opened.maximize();
  opened.once('ready-to-show', () => {
    opened.show();
    process.send?.('ready');
  });
  rememberState(opened);
  window = opened;
  void opened.loadURL(`${origin}/`);
}

/** What a second start names is shown in the window that there is. */
function bringForward(named: { paths: string[]; project: string | null }): void {
  if (!window) return;
  if (window.isMinimized()) window.restore();
  window.focus();
  if (named.paths.length === 0 && !named.project) return;
  const address = new URL(`${origin}/`);
  if (named.project) address.searchParams.set('project', named.project);
  for (const path of named.paths) address.searchParams.append('path', path);
  void window.loadURL(address.href);
}

function menu(): Menu {
  const mac: MenuItemConstructorOptions[] = process.platform === 'darwin' ? [{ role: 'appMenu' }] : [];
  return Menu.buildFromTemplate([...mac, { role: 'fileMenu' }, { role: 'editMenu' }, { role: 'viewMenu' }, { role: 'windowMenu' }]);
}

function pathsFrom(argv: readonly string[]): string[] {
  if (process.env.STEMMA_PATHS) return JSON.parse(process.env.STEMMA_PATHS) as string[];
  // In a package, all that follows the executable; in a checkout, all that follows the app's own path.
  const own = app.isPackaged ? 1 : argv.findIndex((argument, place) => place > 0 && !argument.startsWith('-')) + 1 || argv.length;
  return argv.slice(own).filter((argument) => !argument.startsWith('-'));
}
