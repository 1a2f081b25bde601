import { BrowserWindow, dialog, type WebContents } from 'electron';
import { tellPage } from './page.js';
import { origin } from './security.js';

/** The address that the page opens to request a dialog. It is never loaded. */
const asked = `${origin}/dialog/`;

const kinds = ['open', 'folder', 'save'] as const;
type Kind = (typeof kinds)[number];

/** Shows the native dialog that an address requests, and sends the chosen paths to the page. Returns false for any other address. */
export function answerDialog(contents: WebContents, url: string): boolean {
  if (!url.startsWith(asked)) return false;
  const { pathname, searchParams } = new URL(url);
  const kind = kinds.find((each) => pathname === `/dialog/${each}`);
  const window = BrowserWindow.fromWebContents(contents) ?? undefined;
  if (window && kind)
    void choose(window, kind, searchParams.get('name') ?? '').then((paths) => tellPage(window, 'chosen', { id: searchParams.get('id'), paths }));
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
