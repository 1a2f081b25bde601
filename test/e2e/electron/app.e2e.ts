import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { answer, prompt } from '../../support/claude-lines.js';
import { electronExecutable, engineProcess, expect, packagedElectron, test } from '../../support/electron.js';
import { findInFewClicks, giveRunnableSession, runEditedPrompt, sessionOfShop } from '../../support/journeys.js';
import { complaints, confirmWrite, entries, importAll, openContext, place, sheet, shownKeys } from '../../support/window.js';

test('the desktop app: open, read, fork in mid-turn, export', async ({ launch, machine }) => {
  machine.giveHistory();
  const { page } = await launch();
  const met = complaints(page);
  await importAll(page);
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  const before = await shownKeys(page);
  const cut = before.at(-4) ?? '';
  await page.locator(`[data-entry="${cut}"]`).hover();
  await page.locator(`[data-entry="${cut}"]`).getByRole('button', { name: 'Fork from here' }).click();
  await expect(sheet(page)).toContainText('Kept');
  const keepResults = sheet(page).getByRole('button', { name: 'Keep the results' });
  if (await keepResults.isVisible()) await keepResults.click();
  await sheet(page).getByRole('button', { name: 'Create fork' }).click();
  await sheet(page).getByRole('button', { name: 'Open fork' }).click();
  await expect(page).not.toHaveURL(/entry=/);
  expect(await shownKeys(page)).toEqual(before.slice(0, before.indexOf(cut) + 1));
  await page.getByRole('button', { name: 'Export', exact: true }).first().click();
  const file = machine.path('forked.jsonl');
  await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  await confirmWrite(page, file);
  await expect(sheet(page).getByText(/of Claude Code.*as recorded/)).toBeVisible();
  expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeGreaterThan(3);
  expect(met).toEqual([]);
});

test('paths on the command line reach the engine, and a second start opens a window', { tag: '@long' }, async ({ launch, machine }) => {
  const dir = machine.path('named.stemma');
  expect((await machine.run('init', dir)).code).toBe(0);
  const { app, page } = await launch(dir);
  await expect(page).toHaveURL(/named\.stemma/);
  // Emulates a second process that finds the lock of the first. Playwright's reply is not awaited, because it may never come
  // from a process that is opening a window.
  void app
    .evaluate(
      ({ app: electron }, project) => void electron.emit('second-instance', {}, [], '/', { paths: [], project }),
      machine.path('other.stemma'),
    )
    .catch(() => {});
  await expect.poll(() => app.windows().map((window) => window.url())).toEqual([expect.stringContaining('named'), expect.stringContaining('other')]);
});

test('[W44][W50] the desktop app: to the agent in four clicks, to the costliest miss in two', { tag: '@long' }, async ({ launch, machine }) => {
  const given = giveRunnableSession(machine);
  machine.giveHistory();
  const { page } = await launch();
  await importAll(page);
  await findInFewClicks(page);
  await place(page, 'Sessions').click();
  expect(await runEditedPrompt(page, given)).toBeLessThanOrEqual(4);
});

test('[W48] native dialogs choose what to import and where to export', { tag: '@long' }, async ({ launch, machine }) => {
  const folder = machine.giveHistory();
  const { app, page } = await launch();
  const file = machine.path('chosen.md');
  await app.evaluate(
    ({ dialog }, [open, save]) => {
      dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [open] })) as typeof dialog.showOpenDialog;
      dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath: save })) as typeof dialog.showSaveDialog;
    },
    [folder, file],
  );
  const press = (label: string): Promise<void> =>
    app.evaluate(({ Menu }, name) => {
      const menu = Menu.getApplicationMenu()?.items.find((item) => item.label === 'File')?.submenu;
      menu?.items.find((item) => item.label === name)?.click();
    }, label);
  await press('Import Folder…');
  const fixed = page.getByRole('option', { name: /^Fix it, please\. Test first\./ });
  await fixed.click();
  await press('Export…');
  await sheet(page).getByRole('button', { name: 'Choose…' }).click();
  await expect(sheet(page).getByRole('textbox', { name: 'Path of the new file' })).toHaveValue(file);
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  // The native dialog was the confirmation: no second question.
  await expect.poll(() => existsSync(file)).toBe(true);
});

test('[W48] a tray item while live capture is on, and a notification for a turn that ends', { tag: '@long' }, async ({ launch, machine }) => {
  const history = giveRunnableSession(machine);
  const { app, page } = await launch();
  await app.evaluate(({ Tray, Notification }) => {
    const kept = globalThis as unknown as { tips: string[]; shown: string[] };
    Object.assign(kept, { tips: [], shown: [] });
    const { setToolTip, destroy } = Tray.prototype;
    Tray.prototype.setToolTip = function (text: string) {
      kept.tips.push(text);
      setToolTip.call(this, text);
    };
    Tray.prototype.destroy = function () {
      kept.tips.push('gone');
      destroy.call(this);
    };
    Notification.prototype.show = function () {
      kept.shown.push(`${this.title}: ${this.body}`);
    };
    Notification.isSupported = () => true;
  });
  const kept = (): Promise<{ tips: string[]; shown: string[] }> =>
    app.evaluate(() => {
      const { tips, shown } = globalThis as unknown as { tips: string[]; shown: string[] };
      return { tips, shown };
    });
  await importAll(page);
  await place(page, 'Sessions').click();
  // Offered at the first import.
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect.poll(async () => (await kept()).tips.at(-1)).toMatch(/^Stemma records /);
  await page.getByRole('button', { name: 'Live capture: on' }).click();
  await page.getByRole('checkbox', { name: 'Notify me when a turn ends' }).check();
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.blur());
  await app.evaluate(({ BrowserWindow }) => {
    for (const window of BrowserWindow.getAllWindows()) window.isFocused = () => false;
  });
  const extra = { cwd: history.folder, sessionId: sessionOfShop };
  appendFileSync(history.file, prompt('u3', 'And the shelf?', { parent: 'a2', extra }));
  await expect(page.getByText('turn in progress', { exact: true })).toBeVisible();
  appendFileSync(history.file, answer('a3', 'The shelf is counted too.', { parent: 'u3', extra }));
  // Claude Code writes it when a turn ends.
  const end = { type: 'system', subtype: 'turn_duration', durationMs: 1_000, uuid: 's3', parentUuid: 'a3', timestamp: '2026-01-02T00:00:00.000Z' };
  appendFileSync(history.file, `${JSON.stringify({ ...end, ...extra })}\n`);
  await expect.poll(async () => (await kept()).shown.length).toBeGreaterThan(0);
  expect((await kept()).shown[0]).toContain('finished a turn');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(async () => (await kept()).tips.at(-1)).toBe('gone');
});

test('the window is sandboxed and isolated, with nothing but the message port', async ({ launch }) => {
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

test('the window has no navigation, new window, frame, network or permission', async ({ launch }) => {
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

test('only our own page receives a port', async ({ launch }) => {
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

test('when the engine dies, the window reconnects to the next one', { tag: '@long' }, async ({ launch, machine }) => {
  machine.giveHistory();
  const app = await launch();
  const { page, said } = app;
  await importAll(page);
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
  process.kill(await engineProcess(app), 'SIGKILL');
  await expect.poll(said).toContain('the engine process ended');
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('Enter');
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
});

test('the position of the window is remembered', { tag: '@long' }, async ({ launch, machine }) => {
  const first = await launch();
  await first.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setBounds({ x: 60, y: 40, width: 1000, height: 700 }));
  await first.app.close();
  expect(existsSync(machine.path('stemma', 'electron', 'window.json'))).toBe(true);
  const second = await launch();
  const bounds = await second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
  expect(bounds).toMatchObject({ width: 1000, height: 700 });
});

test('[W11] the menus lead to every place, and the last place is restored after a restart', { tag: '@long' }, async ({ launch, machine }) => {
  machine.giveHistory();
  const first = await launch();
  await importAll(first.page);
  const press = (label: string): Promise<void> =>
    first.app.evaluate(({ Menu }, name) => {
      const go = Menu.getApplicationMenu()?.items.find((item) => item.label === 'Go')?.submenu;
      go?.items.find((item) => item.label === name)?.click();
    }, label);
  await press('Sessions');
  await expect(first.page).toHaveURL(/#\/sessions\?.*project=/);
  await press('Context');
  await expect(entries(first.page)).toBeVisible();
  await expect(first.page).toHaveURL(/#\/context\?.*project=/);
  await first.app.close();
  const second = await launch();
  await expect(second.page).toHaveURL(/#\/context\?.*project=/);
  await expect(entries(second.page)).toBeVisible();
});

test('[T54] a packaged app does not run the program that STEMMA_ENGINE_NODE names', { tag: '@long' }, async ({ launch, machine }) => {
  const marker = machine.path('ran');
  const program = machine.path('engine-node');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\nexec '${process.execPath}' "$@"\n`, { mode: 0o700 });
  machine.env.STEMMA_ENGINE_NODE = program;
  const checkout = await launch();
  expect(await checkout.app.evaluate(({ app }) => app.isPackaged)).toBe(false);
  await expect.poll(() => existsSync(marker)).toBe(true);
  await checkout.app.close();
  rmSync(marker);

  machine.env.STEMMA_ELECTRON = packagedElectron(electronExecutable() ?? '', machine.path('package'));
  const packaged = await launch();
  expect(await packaged.app.evaluate(({ app }) => app.isPackaged)).toBe(true);
  // The engine runs, or Electron's Node is too old for it and the shell says so. Either way the shell has chosen a program.
  const metrics = () => packaged.app.evaluate(({ app }) => app.getAppMetrics().map(({ name }) => name));
  await expect.poll(async () => packaged.said().includes('the engine') || (await metrics()).includes('Stemma engine')).toBe(true);
  expect(existsSync(marker)).toBe(false);
});
