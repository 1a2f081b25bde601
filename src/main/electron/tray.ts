import { BrowserWindow, Menu, Notification, Tray } from 'electron';
import { built } from '../launch/index.js';
import { line, say } from '../terminal/index.js';
import { type MenuProject, type News, type PageState, pageState } from './page.js';
import { bringForward } from './recovery.js';

/** Milliseconds between two checks of the windows. */
const lookMs = 1_500;

let tray: Tray | undefined;
const told = new Set<string>();

let shownRecent = '';

type Lead = (window: BrowserWindow, hash: string) => void;
type ShowRecent = (recent: readonly MenuProject[]) => void;

/** Shows a tray item while a window records live, notifications for the turns that it reports, and recent projects in the menu. */
export function watchCapture(lead: Lead, showRecent: ShowRecent): void {
  const timer = setInterval(() => void look(lead, showRecent), lookMs);
  timer.unref?.();
}

async function look(lead: Lead, showRecent: ShowRecent): Promise<void> {
  const seen: { readonly window: BrowserWindow; readonly state: PageState }[] = [];
  for (const window of BrowserWindow.getAllWindows()) {
    const state = window.isDestroyed() ? undefined : await pageState(window);
    if (state) seen.push({ window, state });
  }
  const [first] = seen;
  const recent = first?.state.recent ?? [];
  // A menu that is open would close, so it is only replaced when it changes.
  if (first && JSON.stringify(recent) !== shownRecent) {
    shownRecent = JSON.stringify(recent);
    showRecent(recent);
  }
  const recording = seen.filter(({ state }) => state.capture);
  showTray(recording);
  for (const { window, state } of seen) for (const news of state.news) tell(window, news, lead);
}

function showTray(recording: readonly { readonly window: BrowserWindow; readonly state: PageState }[]): void {
  const [first] = recording;
  if (!first) {
    tray?.destroy();
    tray = undefined;
    return;
  }
  try {
    tray ??= new Tray(built('..', 'resources', 'icons', '32x32.png'));
  } catch (error) {
    say(line`Stemma: no tray item: ${(error as Error).message}`);
    return;
  }
  const { project, live } = first.state;
  tray.setToolTip(`Stemma records ${project}: ${live === 1 ? '1 live session' : `${live} live sessions`}`);
  const open = (): void => bringForward(first.window);
  tray.removeAllListeners('click').on('click', open);
  tray.setContextMenu(
    Menu.buildFromTemplate([
      { label: `Live capture is on: ${project}`, enabled: false },
      { label: 'Open Stemma', click: open },
      { type: 'separator' },
      { role: 'quit' },
    ]),
  );
}

/** Shows a notification for a turn, unless the window has the focus. */
function tell(window: BrowserWindow, { id, title, body, place }: News, lead: (window: BrowserWindow, hash: string) => void): void {
  if (told.has(id)) return;
  told.add(id);
  if (window.isFocused() || !Notification.isSupported()) return;
  const notification = new Notification({ title, body });
  notification.on('click', () => {
    window.show();
    window.focus();
    lead(window, place);
  });
  notification.show();
}
