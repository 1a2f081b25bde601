import { app, protocol, session, shell } from 'electron';
import { built } from '../launch/index.js';
import { answerFor, plain } from '../window/index.js';

/**
 * Where the window lives: an address that no network can ever answer (RFC 2606), answered by us. It gives the page an
 * origin of its own and a secure context, as a scheme of one's own would, and needs no registration before the app is
 * ready. Since the whole of https is taken over for it, nothing else that the page might ask for leaves this machine.
 */
export const origin = 'https://window.stemma.invalid';

/** Serves the built window at its origin, and refuses every permission and every other address. */
export function secureSession(): void {
  protocol.handle('https', async (request) => {
    const url = new URL(request.url);
    const ours = url.origin === origin && request.method === 'GET';
    const answer = ours ? await answerFor(built('renderer'), url.pathname) : plain(404, 'There is no such file.');
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  });
  const { defaultSession } = session;
  defaultSession.setPermissionRequestHandler((_contents, permission, answer) => answer(permission === 'clipboard-sanitized-write'));
  defaultSession.setPermissionCheckHandler((_contents, permission) => permission === 'clipboard-sanitized-write');
  defaultSession.setDevicePermissionHandler(() => false);
  // The window needs no network at all; what asks for it is refused even where the page's policy would let it.
  defaultSession.webRequest.onBeforeRequest((details, answer) => answer({ cancel: !/^(https|devtools|data|blob):/.test(details.url) }));
}

/** Every window, whoever opens it: stays on its page, opens no other, embeds nothing. */
export function secureContents(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-redirect', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(({ url }) => {
      openInBrowser(url);
      return { action: 'deny' };
    });
  });
}

/** A link out of a transcript, which the window has shown in full and a person chose to open: the browser's business. */
function openInBrowser(url: string): void {
  if (URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol)) void shell.openExternal(new URL(url).href);
}

/** Whether a message came from the top frame of our own page. */
export const isOurPage = (frame: Electron.WebFrameMain | null): boolean => frame !== null && frame.parent === null && frame.origin === origin;
