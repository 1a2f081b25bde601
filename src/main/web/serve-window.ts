import { closeSync, fsyncSync, unlinkSync, writeSync } from 'node:fs';
import { attempt } from '../../core/base/index.js';
import { createPrivate } from '../../core/files/index.js';
import { thisSystem } from '../../core/system/index.js';
import { engineOptions } from '../launch/index.js';
import { onEndSignal } from '../system/index.js';
import { printText } from '../terminal/index.js';
import { startHost } from './host.js';
import { newSecret } from './link.js';

export interface ServeOptions {
  /** Histories to import, and at most one project to open. */
  readonly paths: readonly string[];
  readonly version: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly address: string;
  /** Whether to open the link in the browser, if the machine has a screen. */
  readonly open: boolean;
  /** The absolute path of a new file for the bearer token of scripts. */
  readonly bearerFile?: string | undefined;
}

/** Serves the window until a signal ends the process, and prints its link. @throws Error if the host or the bearer's file fails */
export async function serveWindow({ paths, version, port, address, open, bearerFile }: ServeOptions): Promise<void> {
  const bearer = bearerFile === undefined ? undefined : newSecret();
  const file = bearerFile !== undefined && bearer !== undefined ? writeBearerFile(bearerFile, bearer) : undefined;
  const onNewLink = (url: string): void => printText(`New link: ${url}`);
  const host = await startHost({ engine: { ...engineOptions(paths), performs: true }, version, port, address, bearer, onNewLink }).catch(
    (error: unknown) => {
      file?.remove();
      throw error;
    },
  );
  const ended = Promise.withResolvers<void>();
  // Before the link is printed, because a program that waits for the link may end this process at once.
  const end = (): void => {
    file?.remove();
    void host.close().then(() => {
      ended.resolve();
      process.exit(0);
    });
  };
  onEndSignal(end);
  printText(`Stemma is at ${host.url}`);
  printText('The link works once, for 15 minutes, and signs in the browser that opens it. Press Ctrl+C to stop.');
  if (bearerFile !== undefined) printText(`Scripts send the bearer in ${bearerFile}; see /api/openapi.json.`);
  const hasScreen = thisSystem !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  // Opening the browser may fail: the link is printed above.
  if (open && hasScreen) await import('open').then(({ default: openInBrowser }) => openInBrowser(host.url)).catch(() => undefined);
  await ended.promise;
}

/** Writes the bearer, without a newline, into a new file that only its owner can read. @throws Error if it exists or cannot be written */
export function writeBearerFile(path: string, bearer: string) {
  const file = openNew(path);
  writeSync(file, bearer);
  fsyncSync(file);
  closeSync(file);
  return {
    /** Removes the file, if nobody has: its bearer stops working with the host. */
    remove: (): void => attempt(() => unlinkSync(path)),
  };
}

function openNew(path: string): number {
  try {
    return createPrivate(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'the file exists. Remove it, or name another path' : message;
    throw new Error(`Cannot write the bearer to ${path}: ${why}.`);
  }
}
