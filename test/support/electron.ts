import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { _electron, type ElectronApplication, type Page } from '@playwright/test';
import { test as base } from './e2e.js';
import { root } from './machine.js';

/** Electron's executable: the one that `STEMMA_ELECTRON` names, else the package's own where it has been fetched. */
export function electronExecutable(): string | undefined {
  const { STEMMA_ELECTRON: named } = process.env;
  if (named) return named;
  const home = dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  const path = join(home, 'path.txt');
  const executable = existsSync(path) ? join(home, 'dist', readFileSync(path, 'utf8').trim()) : undefined;
  return executable && existsSync(executable) ? executable : undefined;
}

export interface App {
  app: ElectronApplication;
  page: Page;
  /** What the shell wrote to its standard error so far. */
  said(): string;
}

/** The process of the app's engine: its utility process, or the Node that runs it in its place. */
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

/** A display of the tests' own where the machine has none: Xvfb picks a free number and says it. */
async function display(): Promise<{ name: string | undefined; server?: ChildProcess }> {
  if (process.platform !== 'linux' || process.env.DISPLAY) return { name: process.env.DISPLAY };
  const server = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const number = await new Promise<string>((resolve, reject) => {
    server.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
    server.once('error', () => reject(new Error('There is no display, and no Xvfb to make one.')));
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  return { name: `:${number}`, server };
}

interface Given {
  launch: (...paths: string[]) => Promise<App>;
  /** Further switches of Electron's own: `test.use({ switches: […] })`. */
  switches: readonly string[];
}

export const test = base.extend<Given, { displayName: string | undefined }>({
  switches: [[], { option: true }],
  displayName: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are wanted.
    async ({}, use) => {
      const { name, server } = await display();
      await use(name);
      server?.kill();
    },
    { scope: 'worker' },
  ],
  /** Starts the real app on the test's machine; ended with the test. */
  launch: async ({ machine, displayName, switches: more }, use) => {
    const apps: ElectronApplication[] = [];
    await use(async (...paths) => {
      const env = { ...machine.env, DISPLAY: displayName } as Record<string, string>;
      // Electron's sandbox refuses to run as root, as tests in containers do; the window's own settings are tested either way.
      const switches = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      const executablePath = electronExecutable();
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
