import { app, protocol, session, shell, type WebContents } from 'electron';
import { built } from '../launch/index.js';
import { answerFor, plain } from '../window/index.js';

/**
 * The window's address. No network can ever resolve it (RFC 2606); only the shell serves it. It gives the page its own origin and a secure context
 * without registering a scheme before the app is ready. The shell handles all of https, so no request leaves this machine.
 */
export const origin = 'https://window.stemma.invalid';

/** Serves the built window at its origin, and refuses every permission and every other address. */
export function secureSession(): void {
  protocol.handle('https', async (request) => {
    const url = new URL(request.url);
    const ours = url.origin === origin && request.method === 'GET';
    const answer = ours ? await answerFor(built('renderer'), url.pathname) : plain(404, 'This file does not exist.');
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  });
  const { defaultSession } = session;
  defaultSession.setPermissionRequestHandler((_contents, permission, answer) => answer(permission === 'clipboard-sanitized-write'));
  defaultSession.setPermissionCheckHandler((_contents, permission) => permission === 'clipboard-sanitized-write');
  defaultSession.setDevicePermissionHandler(() => false);
  // The window needs no network. This refuses requests even if the page's policy would allow them.
  defaultSession.webRequest.onBeforeRequest((details, answer) => answer({ cancel: !/^(https|devtools|data|blob):/.test(details.url) }));
}

/** Keeps every window on its page: no navigation, windows or embedded pages. `answer` handles addresses that ask for dialogs and links. */
export function secureContents(answer: (contents: WebContents, url: string) => boolean): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-redirect', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(({ url }) => {
      if (!answer(contents, url)) openInBrowser(url);
      return { action: 'deny' };
    });
  });
}

/** Opens a link of a transcript in the browser. The window has shown the whole address, and a person chose to open it. */
function openInBrowser(url: string): void {
  if (URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol)) void shell.openExternal(new URL(url).href);
}

/** Whether a message came from the top frame of our own page. */
export const isOurPage = (frame: Electron.WebFrameMain | null): boolean => frame !== null && frame.parent === null && frame.origin === origin;
