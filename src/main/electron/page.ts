import type { BrowserWindow } from 'electron';

/** Hands a message to the page: an event of its window, so that the preload needs no part in it. */
export function tellPage(window: BrowserWindow | undefined, name: 'chosen' | 'command', detail: unknown): void {
  const event = `new CustomEvent('stemma:${name}', { detail: ${JSON.stringify(detail)} })`;
  void window?.webContents.executeJavaScript(`dispatchEvent(${event}), undefined`).catch(() => {});
}

/** A turn that ended, and where the window shows it. */
export interface News {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly place: string;
}

/** What the page says of live capture. */
export interface PageState {
  readonly capture: boolean;
  readonly project: string;
  readonly live: number;
  readonly news: readonly News[];
}

/** What the page says of live capture now; undefined if it does not answer. */
export async function pageState(window: BrowserWindow): Promise<PageState | undefined> {
  try {
    const text: unknown = await window.webContents.executeJavaScript('document.documentElement.dataset.desktop ?? ""');
    return typeof text === 'string' && text !== '' ? (JSON.parse(text) as PageState) : undefined;
  } catch {
    return undefined;
  }
}
