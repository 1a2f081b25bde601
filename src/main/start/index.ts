// start: `npm start`, `npm run web` and `npm run build`. Builds if necessary, then opens the desktop app.
// Without Electron or a display, it prints one line and serves the same window for a browser.
// Node runs this file from source before any build, so it may import only modules that it has built.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '..', '..', '..');
const require = createRequire(import.meta.url);
const stamp = join(root, 'out', 'built');

/** Whether a source is newer than the last build. */
function isStale(): boolean {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = [
    'package.json',
    'package-lock.json',
    'electron.vite.config.ts',
    'page.config.ts',
    'glance.config.ts',
    'tsconfig.base.json',
    ...filesBelow('src'),
  ];
  return inputs.some((path) => (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0) > built);
}

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(root.length + 1));

/** Builds into `out/`. The build prints its own errors. */
function build(): void {
  // Chunks of an earlier build would stay, and would be packed.
  rmSync(join(root, 'out', 'chunks'), { recursive: true, force: true });
  const electronVite = join(dirname(require.resolve('electron-vite/package.json')), 'bin', 'electron-vite.js');
  const { status } = spawnSync(process.execPath, [electronVite, 'build', '--logLevel', 'warn'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error('The build failed.');
  chmodSync(join(root, 'out', 'cli', 'stemma.js'), 0o755);
  writeFileSync(stamp, '');
}

/** The path of Electron's program, downloaded at first use, or the reason why it is missing. */
function findElectron(): { executable: string } | { problem: string } {
  const { STEMMA_ELECTRON: named } = process.env;
  if (named) return existsSync(named) ? { executable: named } : { problem: `STEMMA_ELECTRON names ${named}, which does not exist` };
  const home = dirname(require.resolve('electron/package.json'));
  const installed = (): string | undefined => {
    const name = join(home, 'path.txt');
    const executable = existsSync(name) ? join(home, 'dist', readFileSync(name, 'utf8').trim()) : undefined;
    return executable && existsSync(executable) ? executable : undefined;
  };
  if (!installed()) {
    console.log('Downloading Electron, once…');
    // Without the variable, the download ignores the proxy that this machine has.
    const env = { ELECTRON_GET_USE_PROXY: 'true', ...process.env };
    spawnSync(process.execPath, [join(home, 'install.js')], { stdio: 'ignore', timeout: 10 * 60_000, env });
  }
  const executable = installed();
  return executable ? { executable } : { problem: 'Electron is not installed and cannot be downloaded' };
}

/** The reason why this machine cannot show the desktop app, if any. Checked before anything is downloaded. */
function noDesktop(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'This machine has no display';
  if (process.getuid?.() === 0) return "Electron's sandbox does not run as root";
  return undefined;
}

/** Resolves with the exit code when the app has ended, or with undefined if it never showed a window. */
function runElectron(executable: string, paths: readonly string[]): Promise<number | undefined> {
  const named = JSON.stringify(paths.map((path) => resolve(path)));
  const child = spawn(executable, [root], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: { ...process.env, STEMMA_PATHS: named } });
  let shown = false;
  child.on('message', () => {
    shown = true;
  });
  return new Promise((settle) => {
    child.on('error', () => settle(undefined));
    // A second start passes its paths to the running app and ends successfully without a window.
    child.on('exit', (code) => settle(shown || code === 0 ? (code ?? 1) : undefined));
  });
}

/** Continues as `stemma web` in this process, so that a signal to this process ends it. */
async function serveForBrowser(words: readonly string[]): Promise<void> {
  const stemma = join(root, 'out', 'cli', 'stemma.js');
  process.argv = [process.execPath, stemma, 'web', ...words];
  await import(pathToFileURL(stemma).href);
}

/** Opens the desktop app. If that fails, prints the reason and serves the same window for a browser. */
async function startDesktop(paths: readonly string[]): Promise<void> {
  const problem = noDesktop() ?? (await desktopProblem(paths));
  if (problem === undefined) return;
  console.log(`${problem}: serving the same window for a browser.`);
  await serveForBrowser(['--', ...paths]);
}

async function desktopProblem(paths: readonly string[]): Promise<string | undefined> {
  const electron = findElectron();
  if ('problem' in electron) return electron.problem;
  const code = await runElectron(electron.executable, paths);
  if (code === undefined) return 'Electron did not start';
  process.exitCode = code;
  return undefined;
}

async function start([first, ...rest]: readonly string[]): Promise<void> {
  if (first === '--build') return build();
  if (isStale()) build();
  if (first === '--build-if-stale') return;
  if (first === '--web') return serveForBrowser(rest);
  await startDesktop([first, ...rest].filter((word) => word !== undefined && word !== '--') as string[]);
}

await start(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
