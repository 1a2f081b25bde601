import { join } from 'node:path';
import { app, BrowserWindow, ipcMain, Menu } from 'electron';
import { built, engineNode, engineOptions } from '../launch/index.js';
import { line, say } from '../terminal/index.js';
import { answerDialog } from './dialogs.js';
import { type EngineHost, startNode, startUtility } from './engine-host.js';
import { applicationMenu, lead } from './menu.js';
import { isOurPage, origin, secureContents, secureSession } from './security.js';
import { watchCapture } from './tray.js';
import { rememberedState, rememberState } from './window-state.js';

/**
 * The desktop shell: windows, one engine, and the ports between them. Started as `electron APP [PATH…]`. Our launcher passes paths in
 * `STEMMA_PATHS` (JSON), because Chromium consumes arguments that look like switches.
 */
const paths = pathsFrom(process.argv);
const options = { ...engineOptions(paths), performs: true };
let { startup } = options;

let engine: EngineHost | undefined;

/** Opens the desktop app, or hands this start to the app that already runs. */
export function openDesktop(): void {
  // With its own STEMMA_HOME, as in tests, the app also has its own browser profile and single-instance lock.
  if (process.env.STEMMA_HOME) app.setPath('userData', join(options.dataDir, 'electron'));
  if (!app.requestSingleInstanceLock(startup)) {
    app.quit();
    return;
  }
  secureContents(answerDialog);
  app.on('window-all-closed', () => app.quit());
  app.on('second-instance', (_event, _argv, _cwd, named) => showAgain(named as typeof startup));
  void app.whenReady().then(start);
}

function start(): void {
  secureSession();
  Menu.setApplicationMenu(applicationMenu(() => openWindow()));
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
  watchCapture(lead);
}

/** The engine, started at first use and again after it ended, because a window whose port closed requests a new port. */
function runningEngine(): EngineHost {
  if (engine) return engine;
  const node = engineNode(app.isPackaged);
  const started = (node ? startNode.bind(undefined, node) : startUtility)({ ...options, startup });
  started.onEnd((reason) => {
    if (engine !== started) return;
    say(line`Stemma: ${reason}`);
    engine = undefined;
  });
  engine = started;
  return started;
}

function openWindow(): void {
  const { bounds, maximized, place } = rememberedState();
  const opened = new BrowserWindow({
    ...bounds,
    minWidth: 420,
    minHeight: 320,
    show: false,
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
  // The paths of the command line take precedence over the last address of the window.
  const isNamed = startup.paths.length > 0 || startup.project;
  void opened.loadURL(`${origin}/${isNamed ? '' : place}`);
}

/** Handles a second start: opens a window for its paths, or brings the existing window to the front. */
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

function pathsFrom(argv: readonly string[]): string[] {
  if (process.env.STEMMA_PATHS) return JSON.parse(process.env.STEMMA_PATHS) as string[];
  // In a package, paths follow the executable; in a checkout, they follow the app's own path.
  const own = app.isPackaged ? 1 : argv.findIndex((argument, place) => place > 0 && !argument.startsWith('-')) + 1 || argv.length;
  return argv.slice(own).filter((argument) => !argument.startsWith('-'));
}
