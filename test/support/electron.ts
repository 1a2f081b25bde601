import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { _electron, type ElectronApplication, type Page } from '@playwright/test';
import { display, electronExecutable } from './desktop.js';
import { test as base } from './e2e.js';
import { root } from './machine.js';

export interface App {
  app: ElectronApplication;
  page: Page;
  /** The shell's standard error so far. */
  said(): string;
}

/** The engine process of the app: a utility process, or Node. */
export async function engineProcess({ app }: App): Promise<number> {
  const utility = await app.evaluate(
    ({ app: electron }) => electron.getAppMetrics().find((metric) => metric.serviceName === 'Stemma engine' || metric.name === 'Stemma engine')?.pid,
  );
  if (utility !== undefined) return utility;
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const line = stdout
    .split('\n')
    .map((text) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(text))
    .find((found) => Number(found?.[2]) === app.process().pid && found?.[3]?.includes('engine.js'));
  if (!line) throw new Error('The app has no engine process.');
  return Number(line[1]);
}

/**
 * A packaged copy of Electron in a new folder. Electron counts as packaged if its program has another name. The copy links to
 * the other files.
 */
export function packagedElectron(executable: string, folder: string): string {
  mkdirSync(folder);
  const from = dirname(executable);
  for (const name of readdirSync(from)) if (join(from, name) !== executable) symlinkSync(join(from, name), join(folder, name));
  const copy = join(folder, 'stemma-app');
  copyFileSync(executable, copy);
  return copy;
}

interface Given {
  launch: (...paths: string[]) => Promise<App>;
  /** More Electron switches: `test.use({ switches: […] })`. */
  switches: readonly string[];
}

export const test = base.extend<Given, { displayName: string | undefined }>({
  switches: [[], { option: true }],
  displayName: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern.
    async ({}, use) => {
      const { name, server } = await display();
      await use(name);
      server?.kill();
    },
    { scope: 'worker' },
  ],
  /** Starts the real app on the test's machine, and ends it with the test. */
  launch: async ({ machine, displayName, switches: more }, use) => {
    const apps: ElectronApplication[] = [];
    await use(async (...paths) => {
      const env = { ...machine.env, DISPLAY: displayName } as Record<string, string>;
      // Electron's sandbox does not run as root, which tests in containers do. The window's own settings are tested anyway.
      const switches = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      const executablePath = machine.env.STEMMA_ELECTRON ?? electronExecutable();
      const app = await _electron.launch({
        ...(executablePath && { executablePath }),
        args: [...switches, ...more, root, ...paths],
        env,
        cwd: machine.path('work'),
      });
      apps.push(app);
      const chunks: Buffer[] = [];
      app.process().stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
      const page = await app.firstWindow();
      return { app, page, said: () => Buffer.concat(chunks).toString() };
    });
    await Promise.all(apps.map((app) => app.close().catch(() => {})));
  },
});
export { expect } from '@playwright/test';
export { electronExecutable };
