import { readFileSync } from 'node:fs';
import { app, dialog, Notification } from 'electron';
import type { UpdateInfo } from 'electron-updater';
import { built, findDataDir, installedAs, logEvent, readUpdates, type UpdateCheck } from '../launch/index.js';
import { frontWindow } from './recovery.js';
import { NotSigned, verifiedText } from './signature.js';

const dayMs = 24 * 60 * 60 * 1_000;
/** Milliseconds after the start until the first check, so that it does not slow the start. */
const firstCheckMs = 15_000;

/** The public key in the manifest of the package, with which the feed must be signed. */
function updateKey(): string | undefined {
  const { updateKey: key } = JSON.parse(readFileSync(built('..', 'package.json'), 'utf8')) as { readonly updateKey?: unknown };
  return typeof key === 'string' && key !== '' ? key : undefined;
}

const result = (status: UpdateCheck['status'], message: string, version: string | null = null): UpdateCheck => ({ status, version, message });

let running: Promise<UpdateCheck> | undefined;

/** Looks for an update once, and says what happened. Never throws. */
export function checkForUpdates(): Promise<UpdateCheck> {
  running ??= look()
    .catch((error: unknown) => whatFailed(error))
    .then((check) => {
      logEvent('update', { status: check.status, ...(check.version && { version: check.version }) });
      return check;
    })
    .finally(() => {
      running = undefined;
    });
  return running;
}

function whatFailed(error: unknown): UpdateCheck {
  if (error instanceof NotSigned) return result('refused', `The update was refused: ${error.message}`);
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return result('failed', `The feed could not be read: ${reason.slice(0, 300)}`);
}

async function look(): Promise<UpdateCheck> {
  const { feed } = readUpdates(findDataDir());
  if (!app.isPackaged) return result('impossible', 'This is a checkout, not a package. Update it with git.');
  const key = updateKey();
  if (key === undefined)
    return result('impossible', 'This package has no key that could prove an update. Install a new version as you installed this one.');
  if (feed === null) return result('impossible', 'No feed is set. Enter its address in Settings, Updates.');
  const { default: updater } = await import('electron-updater');
  const { autoUpdater } = updater;
  autoUpdater.logger = null;
  autoUpdater.allowDowngrade = false;
  autoUpdater.setFeedURL({ provider: 'custom', updateProvider: signedProvider(updater, feed, key) as never });
  const found = await autoUpdater.checkForUpdates();
  if (found === null)
    return result('impossible', `This copy (${installedAs()}) cannot replace itself. Install a new version as you installed this one.`);
  const { version } = found.updateInfo;
  if (!found.isUpdateAvailable) return result('current', `Stemma ${app.getVersion()} is the newest version.`, version);
  await found.downloadPromise;
  return result('ready', `Stemma ${version} is downloaded. It is installed when you quit Stemma.`, version);
}

/** Reads the manifest of a feed, which a signature beside it must prove. Everything that it names is on the same server, over HTTPS. */
function signedProvider({ Provider }: typeof import('electron-updater'), feed: string, key: string): unknown {
  const base = new URL(feed.endsWith('/') ? feed : `${feed}/`);
  return class SignedProvider extends Provider<UpdateInfo> {
    // The updater gives the options of the base as the third argument.
    constructor(_options: unknown, _updater: unknown, runtime: unknown) {
      super(runtime as never);
    }
    async getLatestVersion(): Promise<UpdateInfo> {
      const { parseUpdateInfo } = await import('electron-updater/out/providers/Provider.js');
      const file = `${this.getDefaultChannelName()}.yml`;
      const [text, signature] = [await this.httpRequest(new URL(file, base)), await this.httpRequest(new URL(`${file}.sig`, base))];
      return parseUpdateInfo(verifiedText(text ?? '', signature ?? '', key), file, new URL(file, base));
    }
    resolveFiles({ files }: UpdateInfo) {
      return files.map((info) => {
        const url = new URL(info.url, base);
        if (url.origin !== base.origin) throw new NotSigned(`it names a file on another server, ${url.origin}.`);
        return { url, info };
      });
    }
  };
}

/** Looks for updates after the start and once a day, if a person turned that on. */
export function watchUpdates(): void {
  const lookIfOn = async (): Promise<void> => {
    const { on, feed } = readUpdates(findDataDir());
    if (!on || feed === null) return;
    const { status, message } = await checkForUpdates();
    if (status === 'ready' && Notification.isSupported()) new Notification({ title: 'Stemma', body: message }).show();
  };
  setTimeout(() => void lookIfOn(), firstCheckMs).unref?.();
  setInterval(() => void lookIfOn(), dayMs).unref?.();
}

/** Looks for an update because a person asked, and shows what happened. */
export async function showUpdateCheck(): Promise<void> {
  const { status, message } = await checkForUpdates();
  const isBad = status === 'refused' || status === 'failed';
  const options = { type: isBad ? ('warning' as const) : ('info' as const), message };
  const window = frontWindow();
  await (window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options));
}
