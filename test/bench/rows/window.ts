import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { display, electronExecutable } from '../../support/desktop.js';
import { builtRoot } from '../built.js';
import { median, type Part, type Row, type Run } from '../measure.js';
import { made } from './scale.js';

/**
 * Runs in Electron's main process before an app. It prints the milliseconds from the start of the process until the window has its first frame, and
 * until the page has the element of `STEMMA_BENCH_WANTED`, and ends the app.
 */
const probe = `const { app } = require('electron');
const since = () => Date.now() - Number(process.env.STEMMA_BENCH_BEGAN);
app.on('browser-window-created', (_event, window) => {
  const frame = new Promise((resolve) => window.once('ready-to-show', () => resolve(since())));
  const look = 'new Promise((done) => { const look = () => document.querySelector(' + JSON.stringify(process.env.STEMMA_BENCH_WANTED) +
    ') ? requestAnimationFrame(() => done()) : setTimeout(look, 4); look(); })';
  window.webContents.once('dom-ready', async () => {
    await window.webContents.executeJavaScript(look);
    const contentMs = since();
    console.log('started ' + JSON.stringify({ frameMs: await frame, contentMs }));
    app.exit(0);
  });
});`;

const bareMain = `const { app, BrowserWindow } = require('electron');
app.whenReady().then(() => {
  const window = new BrowserWindow({ width: 1200, height: 800, show: false, webPreferences: { sandbox: true, contextIsolation: true } });
  window.once('ready-to-show', () => window.show());
  window.loadFile(__dirname + '/index.html');
});`;

interface Started {
  readonly frameMs: number;
  readonly contentMs: number;
}

/** An app with nothing but a window. */
function bareApp(folder: string): string {
  const at = join(folder, 'bare');
  mkdirSync(at);
  writeFileSync(join(at, 'package.json'), '{"name":"bare","version":"1.0.0","main":"main.cjs"}');
  writeFileSync(join(at, 'main.cjs'), bareMain);
  writeFileSync(join(at, 'index.html'), '<!doctype html><title>Bare</title><p id="content">A bare window</p>');
  return at;
}

/** The start of the app on a project of 100,000 commits over that of a bare window, by the same Electron. */
async function startOfWindow(folder: string, { quick }: Run): Promise<Row[]> {
  const commits = quick ? 10_000 : 100_000;
  const what = `first frame of the window of ${commits.toLocaleString('en')} commits over that of a bare window`;
  const row: Row = { id: 'T43 window', what, ratio: undefined, must: 1.6, stretch: 1.3, better: 'less' };
  const electron = electronExecutable();
  if (!electron) return [{ ...row, note: "not measured here: Electron's own binary is missing, and STEMMA_ELECTRON names none" }];
  const screen = await display().catch((error: Error) => error);
  if (screen instanceof Error) return [{ ...row, note: `not measured here: ${screen.message}` }];
  const root = builtRoot(folder);
  const project = made(folder, 'commits', commits);
  const at = mkdtempSync(join(folder, 'window-'));
  const script = join(at, 'probe.cjs');
  writeFileSync(script, probe);
  const start = (app: string, wanted: string): Started => {
    const env = {
      ...process.env,
      ...(screen.name && { DISPLAY: screen.name }),
      STEMMA_HOME: join(project, 'data'),
      STEMMA_PATHS: JSON.stringify([join(project, 'project.stemma')]),
      STEMMA_BENCH_WANTED: wanted,
      STEMMA_BENCH_BEGAN: String(Date.now()),
    };
    const words = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '-r', script, app];
    const { stdout, stderr } = spawnSync(electron, words, { env, encoding: 'utf8', timeout: 60_000 });
    const said = /^started (.*)$/m.exec(stdout)?.[1];
    if (said === undefined) throw new Error(`the window did not open: ${stderr.slice(-500)}`);
    return JSON.parse(said) as Started;
  };
  const bare = bareApp(at);
  const times: Record<'bare' | 'ours', Started[]> = { bare: [], ours: [] };
  // The first start of each fills the caches of compiled code and of the system.
  for (let round = -1; round < (quick ? 1 : 7); round++) {
    const [one, other] = [start(bare, '#content'), start(root, '[role="option"]')];
    if (round < 0) continue;
    times.bare.push(one);
    times.ours.push(other);
  }
  screen.server?.kill();
  rmSync(at, { recursive: true, force: true });
  const of = (name: keyof typeof times, value: keyof Started): number => median(times[name].map((each) => each[value]));
  const figures = {
    bareFrameMs: of('bare', 'frameMs'),
    oursFrameMs: of('ours', 'frameMs'),
    bareContentMs: of('bare', 'contentMs'),
    oursContentMs: of('ours', 'contentMs'),
    contentRatio: of('ours', 'contentMs') / of('bare', 'contentMs'),
  };
  return [{ ...row, ratio: figures.oursFrameMs / figures.bareFrameMs, note: 'content: the first rows of the chain', figures }];
}

export const windowParts: readonly Part[] = [{ rows: ['T43 window'], run: startOfWindow }];
