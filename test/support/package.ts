import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Page } from '@playwright/test';
import { electronExecutable, test as withElectron } from './electron.js';
import { built, node, root } from './machine.js';
import { peer } from './peers.js';
import { updateKey } from './update-feed.js';

/** The built directory of the Linux package. */
export interface Package {
  readonly folder: string;
  /** The launcher of commands. */
  readonly launcher: string;
  /** The program of the app. */
  readonly program: string;
  readonly resources: string;
}

/** A running packaged app and its windows. */
export interface Packaged {
  readonly pid: number;
  pages(): Page[];
  /** Waits for the window with this number, from 0. */
  page(number?: number): Promise<Page>;
  /** The first page, over a new connection: one to a page that has crashed stays at its end. */
  pageAnew(): Promise<Page>;
  /** Its standard error so far. */
  said(): string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** Electron's files without the app that some copies contain. */
function distribution(executable: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'resources'), { recursive: true });
  for (const name of readdirSync(dirname(executable))) {
    if (name === 'resources') continue;
    const [from, to] = [join(dirname(executable), name), join(folder, name)];
    try {
      linkSync(from, to);
    } catch {
      // A folder, or another file system.
      cpSync(from, to, { recursive: true });
    }
  }
}

/**
 * Builds the Linux directory as `npm run dist` does, with the Electron at hand. An Electron whose Node cannot load better-sqlite3 gets the Node of
 * the project by the manifest of the package, and that Node reads no archive, so the files lie beside it.
 */
export function buildPackage(): Package {
  const executable = electronExecutable();
  if (executable === undefined) throw new Error('No Electron is here. STEMMA_ELECTRON names one.');
  const place = built('test', `package-${process.env.TEST_WORKER_INDEX ?? 0}`);
  const electron = join(place, 'electron');
  distribution(executable, electron);
  const version = readFileSync(join(electron, 'version'), 'utf8').trim().replace(/^v/, '');
  const isOld = Number(version.split('.')[0]) < 40;
  const notices = spawnSync(node, [join(root, 'src', 'main', 'start', 'notices.ts')], { encoding: 'utf8' });
  if (notices.status !== 0) throw new Error(notices.stderr);
  const builder = join(dirname(peer.resolve('electron-builder/package.json')), 'cli.js');
  const options = {
    electronDist: electron,
    electronVersion: version,
    'directories.output': place,
    ...(isOld && { 'extraMetadata.engineNode': node, asarUnpack: '**/*' }),
  };
  const words = Object.entries(options).map(([name, value]) => `-c.${name}=${value}`);
  const run = spawnSync(node, [builder, '--linux', 'dir', '--config', 'electron-builder.config.ts', '--publish', 'never', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, STEMMA_UPDATE_KEY: updateKey },
  });
  if (run.status !== 0) throw new Error(`electron-builder failed:\n${run.stdout}\n${run.stderr}`);
  const folder = join(place, 'linux-unpacked');
  return {
    folder,
    launcher: join(folder, 'stemma'),
    program: join(folder, 'stemma-app'),
    resources: join(folder, 'resources'),
  };
}

interface Given {
  /** Starts the packaged app with paths or links, with a display. Ended with the test. */
  open: (...words: string[]) => Promise<Packaged>;
}

export const test = withElectron.extend<Given, { packaged: Package }>({
  packaged: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern.
    async ({}, use) => {
      await use(buildPackage());
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  open: async ({ packaged, machine, displayName }, use) => {
    const running: { readonly kill: () => Promise<unknown> }[] = [];
    await use(async (...words) => {
      // Electron's sandbox does not run as root, which tests in containers do.
      const switches = ['--remote-debugging-port=0', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
      const child = spawn(packaged.program, [...switches, ...words], { cwd: machine.cwd, env: { ...machine.env, DISPLAY: displayName } });
      const chunks: Buffer[] = [];
      child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
      const said = (): string => Buffer.concat(chunks).toString();
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      running.push({ kill: () => Promise.all([child.kill('SIGTERM'), ended]) });
      const browser = await Promise.race([connected(said), ended.then(() => undefined)]);
      const pages = (): Page[] => browser?.contexts().flatMap((context) => context.pages()) ?? [];
      const page = async (number = 0): Promise<Page> => {
        await withElectron.expect.poll(() => pages().length).toBeGreaterThan(number);
        return pages()[number] as Page;
      };
      const pageAnew = async (): Promise<Page> => {
        const pageNow = async () => (await connected(said)).contexts().flatMap((context) => context.pages())[0];
        await withElectron.expect.poll(async () => (await pageNow())?.title().catch(() => undefined)).toBeDefined();
        return (await pageNow()) as Page;
      };
      return { pid: child.pid ?? 0, pages, page, pageAnew, said, ended };
    });
    await Promise.all(running.map(({ kill }) => kill()));
  },
});

/**
 * Connects to the app's windows: its fuses refuse Node's inspector, by which Playwright starts Electron. A connection that is made
 * while the first window appears sometimes never answers; the next one does.
 */
async function connected(said: () => string): Promise<Browser> {
  const address = (): string | undefined => /DevTools listening on (ws:\S+)/.exec(said())?.[1];
  await withElectron.expect.poll(address).toBeDefined();
  for (let attempt = 1; ; attempt++)
    try {
      return await chromium.connectOverCDP(address() ?? '', { timeout: 10_000 });
    } catch (error) {
      if (attempt === 3) throw error;
    }
}

/** All files below a folder, by their paths in it. */
export const filesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []);
export { expect } from '@playwright/test';
