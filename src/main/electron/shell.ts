import { join } from 'node:path';
import { app, BrowserWindow, ipcMain, Menu, type MenuItemConstructorOptions } from 'electron';
import { built, engineOptions } from '../launch/index.js';
import { type EngineHost, startNode, startUtility } from './engine-host.js';
import { isOurPage, origin, secureContents, secureSession } from './security.js';
import { rememberedState, rememberState } from './window-state.js';

/**
 * The desktop shell: windows, one engine, and the pipes between them. Started as `electron APP [PATH…]`; paths come
 * in `STEMMA_PATHS` (JSON) from our own launcher, because Chromium takes what looks like a switch from the command line.
 */
const paths = pathsFrom(process.argv);
const options = engineOptions(paths);
let { startup } = options;

// A home of one's own, as tests have it, has a browser profile and a single-instance lock of its own, too.
if (process.env.STEMMA_HOME) app.setPath('userData', join(options.dataDir, 'electron'));

if (!app.requestSingleInstanceLock(startup)) {
  app.quit();
} else {
  secureContents();
  app.on('window-all-closed', () => app.quit());
  app.on('second-instance', (_event, _argv, _cwd, named) => showAgain(named as typeof startup));
  void app.whenReady().then(start);
}

let engine: EngineHost | undefined;

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
  const started = (node ? startNode.bind(undefined, node) : startUtility)({ ...options, startup });
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
  void opened.loadURL(`${origin}/`);
}

/** A second start: what it names is shown in a window of its own; where it names nothing, the window comes forward. */
function showAgain(named: typeof startup): void {
  if (named.paths.length > 0 || named.project) {
    startup = named;
    engine?.setStartup(startup);
    openWindow();
    return;
  }
  const [last] = BrowserWindow.getAllWindows();
  if (last?.isMinimized()) last.restore();
  last?.focus();
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
