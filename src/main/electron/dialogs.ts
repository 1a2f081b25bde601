import { BrowserWindow, dialog, type WebContents } from 'electron';
import { tellPage } from './page.js';
import { origin } from './security.js';

/** The address that the page opens to request a dialog. It is never loaded. */
const asked = `${origin}/dialog/`;

type Kind = 'open' | 'folder' | 'save';
const kinds: readonly string[] = ['open', 'folder', 'save'] satisfies Kind[];

/** Shows the native dialog that an address requests, and sends the chosen paths to the page. Returns false for any other address. */
export function answerDialog(contents: WebContents, url: string): boolean {
  if (!url.startsWith(asked)) return false;
  const { pathname, searchParams } = new URL(url);
  const kind = pathname.slice('/dialog/'.length);
  const window = BrowserWindow.fromWebContents(contents) ?? undefined;
  if (window && kinds.includes(kind))
    void choose(window, kind as Kind, searchParams.get('name') ?? '').then((paths) =>
      tellPage(window, 'chosen', { id: searchParams.get('id'), paths }),
    );
  return true;
}

/** The chosen paths; empty if the person canceled. */
export async function choose(window: BrowserWindow, kind: Kind, name = ''): Promise<readonly string[]> {
  if (kind === 'save') {
    const { canceled, filePath } = await dialog.showSaveDialog(window, { defaultPath: name });
    return canceled || !filePath ? [] : [filePath];
  }
  const { canceled, filePaths } = await dialog.showOpenDialog(window, {
    properties: kind === 'folder' ? ['openDirectory'] : ['openFile', 'multiSelections'],
  });
  return canceled ? [] : filePaths;
}
