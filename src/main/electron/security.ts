import { app, dialog, protocol, session, shell, type WebContents } from 'electron';
import { built } from '../engine/index.js';
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
      void offerLink(contents, url);
      return { action: 'deny' };
    });
  });
}

/** A link out of a transcript: followed by the person's browser only, and only after the whole address was shown. */
async function offerLink(contents: WebContents, url: string): Promise<void> {
  if (!URL.canParse(url) || !['https:', 'http:'].includes(new URL(url).protocol) || contents.isDestroyed()) return;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: 'Open this link in your browser?',
    detail: new URL(url).href,
    buttons: ['Cancel', 'Open'],
    defaultId: 0,
    cancelId: 0,
  });
  if (response === 1) await shell.openExternal(new URL(url).href);
}

/** Whether a message came from the top frame of our own page. */
export const isOurPage = (frame: Electron.WebFrameMain | null): boolean => frame !== null && frame.parent === null && frame.origin === origin;
