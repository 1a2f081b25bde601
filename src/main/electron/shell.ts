import { join } from 'node:path';
import { app, BrowserWindow, ipcMain } from 'electron';
import { thisPlatform } from '../../core/system/index.js';
import { built, engineNode, engineOptions, logEvent } from '../launch/index.js';
import { line, say } from '../terminal/index.js';
import { answerDialog } from './dialogs.js';
import { type EngineHost, startNode, startUtility } from './engine-host.js';
import { lead, setMenu } from './menu.js';
import { hasLoaded, type Named, namedBy, namedIn, namesAny } from './named.js';
import { tellPage } from './page.js';
import { bringForward, frontWindow, recoverPage } from './recovery.js';
import { isOurPage, origin, secureContents, secureSession } from './security.js';
import { watchCapture } from './tray.js';
import { watchUpdates } from './updates.js';
import { rememberedState, rememberState } from './window-state.js';

/**
 * The desktop shell: windows, one engine, and the ports between them. Started as `electron APP [PATH…]`. Our launcher passes paths in
 * `STEMMA_PATHS` (JSON), because Chromium consumes arguments that look like switches.
 */
let startup: Named = firstNamed();
const options = { ...engineOptions(), performs: true };

let engine: EngineHost | undefined;

/** Opens the desktop app, or hands this start to the app that already runs. */
export function openDesktop(): void {
  // With its own STEMMA_HOME, as in tests, the app also has its own browser profile and single-instance lock.
  if (process.env.STEMMA_HOME) app.setPath('userData', join(options.dataDir, 'electron'));
  if (!app.requestSingleInstanceLock({ ...startup })) {
    app.quit();
    return;
  }
  secureContents(answerDialog);
  app.on('window-all-closed', () => app.quit());
  app.on('second-instance', (_event, _argv, _cwd, named) => {
    logEvent('second-start');
    showNamed(namedIn(named));
  });
  // macOS sends files and links as events, also before the app is ready.
  app.on('open-file', (event, path) => {
    event.preventDefault();
    showNamed(namedBy([path]));
  });
  app.on('open-url', (event, url) => {
    event.preventDefault();
    showNamed(namedBy([url]));
  });
  app.on('child-process-gone', (_event, { type, reason, exitCode }) => logEvent('process-gone', { type, reason, exitCode }));
  process.on('uncaughtExceptionMonitor', (error) => logEvent('app-error', { name: error.name }));
  if (app.isPackaged) app.setAsDefaultProtocolClient('stemma');
  void app.whenReady().then(start);
}

function start(): void {
  logEvent('app-start', { version: app.getVersion(), electron: process.versions.electron ?? '', platform: thisPlatform, arch: process.arch });
  secureSession();
  setMenu(openWindow);
  ipcMain.on('stemma:port', (event, nonce: unknown) => {
    if (!isOurPage(event.senderFrame) || typeof nonce !== 'string' || nonce.length > 200) return;
    event.senderFrame?.postMessage('stemma:port', nonce, [runningEngine().connect()]);
  });
  app.on('will-quit', () => {
    const running = engine;
    engine = undefined;
    running?.stop();
    logEvent('app-end');
  });
  openWindow();
  watchCapture(lead, (recent) => setMenu(openWindow, recent));
  watchUpdates();
}

/** The engine, started at first use and again after it ended, because a window whose port closed requests a new port. */
function runningEngine(): EngineHost {
  if (engine) return engine;
  const node = engineNode(app.isPackaged);
  const started = (node ? startNode.bind(undefined, node) : startUtility)({ ...options, startup });
  started.onEnd((reason) => {
    if (engine !== started) return;
    say(line`Stemma: ${reason}`);
    logEvent('engine-end', { expected: false });
    engine = undefined;
  });
  logEvent('engine-start', { node: node !== undefined });
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
  recoverPage(opened, (hash) => opened.loadURL(`${origin}/${hash}`));
  logEvent('window-open');
  // The paths of the command line take precedence over the last address of the window.
  void opened.loadURL(`${origin}/${namesAny(startup) ? '' : place}`);
}

/** Shows what a later start names: links in the front window, files and projects in a window of their own, else the front window itself. */
function showNamed(named: Named): void {
  if (!app.isReady()) {
    startup = named;
    return;
  }
  if (named.link) logEvent('link');
  const front = frontWindow();
  const isOnlyLink = named.link && named.paths.length === 0 && !named.project;
  if (front && (isOnlyLink || !namesAny(named)) && hasLoaded(front.webContents)) {
    bringForward(front);
    if (named.link) tellPage(front, 'command', { name: 'link', url: named.link });
    return;
  }
  startup = named;
  engine?.setStartup(startup);
  openWindow();
}

/** The first start: what our launcher passes, else the words of the command line. */
function firstNamed(): Named {
  const { argv, env } = process;
  if (env.STEMMA_PATHS) return namedBy(JSON.parse(env.STEMMA_PATHS) as string[]);
  // In a package, paths follow the executable; in a checkout, they follow the app's own path.
  const own = app.isPackaged ? 1 : argv.findIndex((argument, place) => place > 0 && !argument.startsWith('-')) + 1 || argv.length;
  return namedBy(argv.slice(own));
}
