import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { arch, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt, defined, toTimestamp } from '../../core/base/index.js';
import type { Diagnostics } from '../../core/contract/index.js';
import { makeFolders, privateFile } from '../../core/files/index.js';
import { thisPlatform, thisSystem } from '../../core/system/index.js';
import { built, findDataDir } from './places.js';

/** The size at which the log begins a new file. Two files are kept. */
export const logLimit = 256 * 1024;
/** The number of lines of the log in the diagnostics. */
const shownLines = 200;

export type LogEvent =
  | 'app-start'
  | 'app-end'
  | 'app-error'
  | 'second-start'
  | 'window-open'
  | 'engine-start'
  | 'engine-end'
  | 'page-gone'
  | 'page-unresponsive'
  | 'page-responsive'
  | 'process-gone'
  | 'link'
  | 'update';

const logFile = (dataDir: string): string => join(dataDir, 'logs', 'app.log');

/** A value of the log: a number, or a short code. Any other text could be content, a title or a path, so it is not written. */
const codeOf = (value: string | number | boolean): string =>
  typeof value !== 'string' || /^[\w.+-]{1,40}$/.test(value) ? String(value) : `text:${value.length}`;

/** Appends an event with its codes to the application's log. A log that cannot be written never keeps the app from working. */
export function logEvent(event: LogEvent, codes: Readonly<Record<string, string | number | boolean>> = {}, dataDir: string = findDataDir()): void {
  const words = Object.entries(codes).map(([name, value]) => ` ${name}=${codeOf(value)}`);
  // The disk may be full or read-only.
  attempt(() => appendLog(logFile(dataDir), `${event}${words.join('')}`));
}

/** Appends a line with its time to a log. A full log is renamed, in place of the last one. */
export function appendLog(file: string, text: string): void {
  makeFolders(dirname(file));
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logLimit) renameSync(file, `${file}.old`);
  appendFileSync(file, `${new Date().toISOString()} ${text}\n`, { mode: privateFile });
}

/** How this copy of Stemma was installed. */
export function installedAs(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (!built().includes('app.asar')) return existsSync(built('..', 'src')) ? 'checkout' : 'npm';
  if (env.APPIMAGE) return 'AppImage';
  // electron-builder writes the file into packages of Linux.
  const written = attempt(() => readFileSync(built('..', '..', 'package-type'), 'utf8').trim());
  return written ?? { linux: 'tar.gz', macos: 'app', windows: 'nsis' }[thisSystem];
}

/** Facts about this installation, without content, titles or paths. */
export function diagnosticsOf(version: string, dataDir: string = findDataDir()): Omit<Diagnostics, 'caches'> {
  const { node, electron, chrome, modules } = process.versions;
  return {
    version,
    versions: defined({ node, electron, chrome, modules }) as Record<string, string>,
    system: { platform: thisPlatform, release: release(), architecture: arch(), memoryBytes: totalmem() },
    installed: installedAs(),
    at: toTimestamp(Date.now()),
    log:
      attempt(() => readFileSync(logFile(dataDir), 'utf8'))
        ?.trimEnd()
        .split('\n')
        .slice(-shownLines) ?? [],
  };
}
