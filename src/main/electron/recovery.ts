import { BrowserWindow, dialog } from 'electron';
import { logEvent } from '../launch/index.js';
import { pageState, tellPage } from './page.js';
import { hashOf } from './window-state.js';

/** A page that crashes more often than this within a minute is not reloaded by itself any more. */
const maxCrashes = 3;
const minuteMs = 60_000;
/** Milliseconds between two looks at a page that loads, and the number of looks. */
const lookMs = 200;
const maxLooks = 100;

/** Loads a crashed page again at the same place, and says so in it. A page that does not respond is reloaded when a person wants it. */
export function recoverPage(window: BrowserWindow, load: (place: string) => Promise<void>): void {
  const { webContents } = window;
  let crashes: number[] = [];
  let isAsking = false;

  async function reload(place: string): Promise<void> {
    await load(place);
    for (let look = 0; look < maxLooks && !window.isDestroyed(); look++) {
      if (await pageState(window)) return tellPage(window, 'command', { name: 'recovered' });
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    logEvent('page-gone', { reason, exitCode });
    const place = hashOf(webContents.getURL());
    const now = Date.now();
    crashes = [...crashes.filter((at) => now - at < minuteMs), now];
    // Not within the event: the old process is still being cleaned up.
    if (crashes.length <= maxCrashes) setTimeout(() => void reload(place).catch(() => {}), 0);
    else void askAfterCrashes(place);
  });

  async function askAfterCrashes(place: string): Promise<void> {
    const { response } = await dialog.showMessageBox(window, {
      type: 'error',
      message: 'The page of this window keeps crashing.',
      detail: 'Your drafts are kept. Reload tries the same place again. Sessions opens the window without it.',
      buttons: ['Reload', 'Open Sessions', 'Close Window'],
      defaultId: 1,
      cancelId: 2,
    });
    crashes = [];
    if (window.isDestroyed()) return;
    if (response === 2) window.close();
    else await reload(response === 0 ? place : '#/sessions');
  }

  window.on('unresponsive', () => {
    logEvent('page-unresponsive', {});
    if (isAsking) return;
    isAsking = true;
    void dialog
      .showMessageBox(window, {
        type: 'warning',
        message: 'This window does not respond.',
        detail: 'You can wait, or reload it at the same place. Your drafts are kept.',
        buttons: ['Wait', 'Reload'],
        defaultId: 0,
        cancelId: 0,
      })
      .then(({ response }) => {
        // The crash reloads the page.
        if (response === 1 && !window.isDestroyed()) webContents.forcefullyCrashRenderer();
      })
      .finally(() => {
        isAsking = false;
      });
  });
  window.on('responsive', () => logEvent('page-responsive', {}));
}

/** Shows a window in front of all others. */
export function bringForward(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

/** The window that has the focus, else the first one. */
export const frontWindow = (): BrowserWindow | undefined => BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
