import { pathToFileURL } from 'node:url';
import { app } from 'electron';
import { thisSystem } from '../../core/system/index.js';
import { built, commandIn } from '../launch/index.js';
import { outputTaken, restoreOutput } from '../terminal/index.js';

/**
 * The entry of the desktop app. A packaged app that was started with a command of `stemma` runs it instead of opening a window, because the packages
 * contain no Node and their Electron does not act as one. Electron waits for this file before it starts Chromium, so a command needs no display.
 */
const words = app.isPackaged ? commandIn(process.argv) : undefined;
if (words) await runCommand(words);
else await import('./shell.js').then(({ openDesktop }) => openDesktop());

async function runCommand(command: readonly string[]): Promise<void> {
  const script = built('cli', 'stemma.js');
  process.argv = [process.execPath, script, ...command];
  if (thisSystem === 'windows') await openStandardStreams();
  // If a command ended without a result, Electron would go on and wait for a window.
  void app.whenReady().then(() => app.exit(13));
  await import(pathToFileURL(script).href);
  await outputTaken();
  // Electron ends with 0 if no code is given.
  process.exit(process.exitCode ?? 0);
}

/** On Windows, Electron closes standard input and sends standard output to its log. Commands need both as they are. */
async function openStandardStreams(): Promise<void> {
  const { createReadStream } = await import('node:fs');
  const input = createReadStream('', { fd: 0, autoClose: false });
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => input });
  restoreOutput();
}
