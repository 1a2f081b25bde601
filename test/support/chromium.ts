import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium as playwright } from '@playwright/test';

/** The headless shell first: it draws no window of its own, which takes half the time of a full browser. */
const commands = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const installed = (): string | undefined =>
  commands.flatMap((command) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, command))).find((path) => existsSync(path));

const ofPlaywright = (): string | undefined => {
  const path = playwright.executablePath();
  return existsSync(path) ? path : undefined;
};

/**
 * The path of a real Chromium: the installed one, else Playwright's, else Debian's if it can be installed. Undefined
 * otherwise; Playwright then reports what it looked for.
 */
export function chromium(): string | undefined {
  const named = process.env.STEMMA_CHROMIUM;
  return named ?? installed() ?? ofPlaywright() ?? (installDebians() ? installed() : undefined);
}

function installDebians(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  console.log("No Chromium here: installing Debian's.");
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...words: string[]): boolean => spawnSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
  return apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', 'chromium');
}
