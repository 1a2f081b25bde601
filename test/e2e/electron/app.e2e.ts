import { existsSync, readFileSync } from 'node:fs';
import { engineProcess, expect, test } from '../../support/electron.js';
import { complaints, entries, openContext, sheet, shownKeys } from '../../support/window.js';

test('the journey in the desktop app: open, read, fork in the middle of a turn, export', async ({ launch, machine }) => {
  machine.giveHistory();
  const { page } = await launch();
  const met = complaints(page);
  await page.getByRole('button', { name: 'Import all' }).click();
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  const before = await shownKeys(page);
  const cut = before.at(-4) ?? '';
  await page.locator(`[data-entry="${cut}"]`).hover();
  await page.locator(`[data-entry="${cut}"]`).getByRole('button', { name: 'Fork from here' }).click();
  const keepResults = sheet(page).getByRole('button', { name: 'Keep the results too' });
  if (await keepResults.isVisible()) await keepResults.click();
  await sheet(page).getByRole('button', { name: 'Make the fork' }).click();
  await sheet(page).getByRole('button', { name: 'Open the fork' }).click();
  await expect(page).not.toHaveURL(/entry=/);
  expect(await shownKeys(page)).toEqual(before.slice(0, before.indexOf(cut) + 1));
  await page.getByRole('button', { name: 'Export', exact: true }).first().click();
  const file = machine.path('forked.jsonl');
  await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Write the file' }).click();
  await expect(sheet(page).getByText(/of Claude Code.*as it was recorded/)).toBeVisible();
  expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeGreaterThan(3);
  expect(met).toEqual([]);
});

test('paths of the command line reach the engine, and a second start opens a window of its own', async ({ launch, machine }) => {
  const dir = machine.path('named.stemma');
  expect((await machine.run('init', dir)).code).toBe(0);
  const { app, page } = await launch(dir);
  await expect(page).toHaveURL(/named\.stemma/);
  // As a second process would, through the lock that the first one holds. What Playwright hears back of it is not waited for:
  // of a process that is busy opening a window it may never come.
  void app
    .evaluate(
      ({ app: electron }, project) => void electron.emit('second-instance', {}, [], '/', { paths: [], project }),
      machine.path('other.stemma'),
    )
    .catch(() => {});
  await expect.poll(() => app.windows().map((window) => window.url())).toEqual([expect.stringContaining('named'), expect.stringContaining('other')]);
});

test('the window is locked up: sandboxed, isolated, and nothing but the pipe in it', async ({ launch }) => {
  const { app, page } = await launch();
  await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
  const settings = await app.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    const contents = window?.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> };
    return contents.getLastWebPreferences();
  });
  expect(settings).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true });
  const open = ['nodeIntegrationInWorker', 'nodeIntegrationInSubFrames', 'webviewTag', 'allowRunningInsecureContent', 'experimentalFeatures'];
  expect(open.filter((name) => settings[name])).toEqual([]);
  const seen = await page.evaluate(() => ({
    pipe: Object.keys((window as unknown as { stemma: object }).stemma).sort(),
    node: ['require', 'process', 'module', 'Buffer', 'global'].filter((name) => name in window),
    secure: isSecureContext,
    origin: location.origin,
  }));
  expect(seen).toEqual({ pipe: ['pathOf', 'requestPort'], node: [], secure: true, origin: 'https://window.stemma.invalid' });
});

test('the window goes nowhere: no navigation, no new window, no frame, no network, no permission', async ({ launch }) => {
  const { app, page } = await launch();
  await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
  const at = page.url();
  await page.evaluate(() => location.assign('https://example.com/'));
  await page.evaluate(() => location.assign('file:///etc/passwd'));
  expect(await page.evaluate(() => window.open('file:///etc/passwd'))).toBeNull();
  expect(page.url()).toBe(at);
  expect(app.windows()).toHaveLength(1);
  const tried = await page.evaluate(async () => {
    const outcome = (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => 'let through',
        () => 'refused',
      );
    const frame = document.createElement('iframe');
    frame.src = 'https://example.com/';
    document.body.append(frame);
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.head.append(script);
    return {
      fetch: await outcome(fetch('https://example.com/')),
      plain: await outcome(fetch('http://127.0.0.1:9/')),
      file: await outcome(fetch('file:///etc/passwd')),
      outside: (await fetch('/../package.json')).status,
      camera: await outcome(navigator.mediaDevices.getUserMedia({ video: true })),
      place: await outcome(new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject))),
      notes: await Notification.requestPermission(),
      inline: 'ran' in globalThis,
    };
  });
  expect(tried).toEqual({
    fetch: 'refused',
    plain: 'refused',
    file: 'refused',
    outside: 404,
    camera: 'refused',
    place: 'refused',
    notes: 'denied',
    inline: false,
  });
});

test('a port is given to our own page only', async ({ launch }) => {
  const { app, page } = await launch();
  await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
  const given = await app.evaluate(async ({ ipcMain }) => {
    let ports = 0;
    const frame = (origin: string, parent: unknown) => ({ origin, parent, postMessage: () => ports++ });
    const ask = (senderFrame: unknown, nonce: unknown) => ipcMain.emit('stemma:port', { senderFrame }, nonce);
    ask(frame('https://evil.example', null), 'a');
    ask(frame('https://window.stemma.invalid', {}), 'b');
    ask(frame('https://window.stemma.invalid', null), { not: 'a nonce' });
    ask(null, 'c');
    const refused = ports;
    ask(frame('https://window.stemma.invalid', null), 'd');
    return { refused, ours: ports };
  });
  expect(given).toEqual({ refused: 0, ours: 1 });
});

test('when the engine dies, the window comes back with the next one', async ({ launch, machine }) => {
  machine.giveHistory();
  const app = await launch();
  const { page, said } = app;
  await page.getByRole('button', { name: 'Import all' }).click();
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
  process.kill(await engineProcess(app), 'SIGKILL');
  await expect.poll(said).toContain('the engine process ended');
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('Enter');
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
});

test('the place of the window is remembered', async ({ launch, machine }) => {
  const first = await launch();
  await first.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setBounds({ x: 60, y: 40, width: 1000, height: 700 }));
  await first.app.close();
  expect(existsSync(machine.path('stemma', 'electron', 'window.json'))).toBe(true);
  const second = await launch();
  const bounds = await second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
  expect(bounds).toMatchObject({ width: 1000, height: 700 });
});
