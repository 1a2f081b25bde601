import type { BrowserWindow } from 'electron';

/** Sends a message to the page as an event of its window, so that the preload script needs no code for it. */
export function tellPage(window: BrowserWindow | undefined, name: 'chosen' | 'command', detail: unknown): void {
  const event = `new CustomEvent('stemma:${name}', { detail: ${JSON.stringify(detail)} })`;
  void window?.webContents.executeJavaScript(`dispatchEvent(${event}), undefined`).catch(() => {});
}

/** A finished turn, and the address at which the window shows it. */
export interface News {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly place: string;
}

export interface MenuProject {
  readonly dir: string;
  readonly name: string;
}

/** The state of the page that the desktop app shows: live capture and recent projects. */
export interface PageState {
  readonly capture: boolean;
  readonly project: string;
  readonly live: number;
  readonly news: readonly News[];
  readonly recent: readonly MenuProject[];
}

const answerMs = 2_000;

/** The current state of the page; undefined if the page does not answer. */
export async function pageState(window: BrowserWindow): Promise<PageState | undefined> {
  try {
    // A page that crashes meanwhile never answers.
    const late = new Promise((resolve) => setTimeout(resolve, answerMs));
    const text: unknown = await Promise.race([window.webContents.executeJavaScript('document.documentElement.dataset.desktop ?? ""'), late]);
    return typeof text === 'string' && text !== '' ? (JSON.parse(text) as PageState) : undefined;
  } catch {
    return undefined;
  }
}
