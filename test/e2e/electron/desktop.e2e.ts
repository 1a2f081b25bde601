import { readFileSync } from 'node:fs';
import { type App, expect, test } from '../../support/electron.js';
import { entries, importAll, openContext } from '../../support/window.js';

/** Runs a script in the page through the app, because Playwright's page ends when its process does. */
const inPage = ({ app }: App, script: string): Promise<unknown> =>
  app.evaluate(async ({ BrowserWindow }, code) => {
    const [window] = BrowserWindow.getAllWindows();
    if (!window || window.webContents.isCrashed()) return undefined;
    // A page that ends meanwhile never answers.
    const late = new Promise((resolve) => setTimeout(resolve, 2_000));
    return Promise.race([window.webContents.executeJavaScript(code).catch(() => undefined), late]);
  }, script);

const textOf = async (app: App): Promise<string> => String(await inPage(app, 'document.body.innerText'));

const crash = ({ app }: App): Promise<void> =>
  app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer());

/** Answers every message box with the button of this name, and counts the boxes. */
const answerBoxes = ({ app }: App, button: string): Promise<void> =>
  app.evaluate(({ dialog }, name) => {
    const kept = globalThis as unknown as { boxes: string[] };
    kept.boxes = [];
    dialog.showMessageBox = ((...given: unknown[]) => {
      const { message, buttons = [] } = given.at(-1) as { message: string; buttons?: string[] };
      kept.boxes.push(message);
      return Promise.resolve({ response: Math.max(0, buttons.indexOf(name)), checkboxChecked: false });
    }) as typeof dialog.showMessageBox;
  }, button);

const boxes = ({ app }: App): Promise<string[]> => app.evaluate(() => (globalThis as unknown as { boxes: string[] }).boxes);

/** Opens a context, and types into the editor of its prompt. */
async function typeDraft(app: App): Promise<void> {
  const { page } = app;
  await importAll(page);
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  const prompt = entries(page).locator('[data-entry]', { hasText: 'Fix it, please. Test first.' }).first();
  await prompt.hover();
  await prompt.getByRole('button', { name: 'Edit & fork' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' A draft that stays.');
}

test('[D6] a page that crashes comes back at its place, says so, and keeps its draft', async ({ launch, machine }) => {
  machine.giveHistory();
  const app = await launch();
  await typeDraft(app);
  const drafts = (): string => {
    try {
      return readFileSync(machine.path('stemma', 'drafts.json'), 'utf8');
    } catch {
      return '';
    }
  };
  await expect.poll(drafts).toContain('A draft that stays.');
  const before = await inPage(app, 'location.hash');
  await crash(app);
  await expect.poll(() => textOf(app)).toContain('This page crashed and was loaded again. Your place and your drafts are kept.');
  expect(await inPage(app, 'location.hash')).toBe(before);
  await expect
    .poll(() => inPage(app, '[...document.querySelectorAll("textarea, [contenteditable]")].map((e) => e.value ?? e.textContent).join()'))
    .toContain('A draft that stays.');
  expect(readFileSync(machine.path('stemma', 'logs', 'app.log'), 'utf8')).toMatch(/ page-gone reason=(killed|crashed) exitCode=\d+\n/);
});

test('[D6] a page that keeps crashing asks what to do; one that hangs is reloaded on request', { tag: '@long' }, async ({ launch }) => {
  const app = await launch();
  await expect(app.page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
  await answerBoxes(app, 'Open Sessions');
  for (let n = 1; n <= 4; n++) {
    await expect.poll(() => textOf(app)).toContain('Sessions');
    await crash(app);
    await expect.poll(() => app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.isCrashed())).toBe(false);
  }
  await expect.poll(() => boxes(app)).toEqual(['The page of this window keeps crashing.']);
  await expect.poll(() => textOf(app)).toContain('This page crashed and was loaded again.');
  await answerBoxes(app, 'Reload');
  await app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.emit('unresponsive'));
  await expect.poll(() => boxes(app)).toEqual(['This window does not respond.']);
  await expect.poll(() => textOf(app)).toContain('This page crashed and was loaded again.');
});

test('[D9] a link of a browser shows its commit in the running app, and refuses the rest', { tag: '@long' }, async ({ launch, machine }) => {
  machine.giveHistory();
  const app = await launch();
  await importAll(app.page);
  await app.page.getByRole('option', { name: /^Fix it, please\. Test first\./ }).click();
  const commit = new URLSearchParams(new URL(app.page.url()).hash.split('?')[1]).get('commit') ?? '';
  const dir = new URLSearchParams(new URL(app.page.url()).hash.split('?')[1]).get('project') ?? '';
  const { projectId } = JSON.parse(readFileSync(`${dir}/project.json`, 'utf8')) as { projectId: string };
  await app.page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Settings' }).click();
  const follow = (link: string) =>
    app.app.evaluate(({ app: electron }, url) => void electron.emit('second-instance', {}, [], '/', { paths: [], project: null, link: url }), link);
  await follow(`stemma://commit/${commit}?project=${projectId}`);
  await expect(app.page).toHaveURL(new RegExp(`#/context\\?.*commit=${commit}`));
  await expect(entries(app.page)).toBeVisible();
  expect(app.app.windows()).toHaveLength(1);
  await follow('stemma://commit/ctx-3f9a12c4?project=/etc/passwd');
  await expect(app.page.getByText(/is no link of Stemma/).first()).toBeVisible();
  await follow(`stemma://share?link=${encodeURIComponent('https://127.0.0.1:9/share/web-shop/stm_abc')}`);
  await expect(app.page.getByRole('textbox', { name: /share link/ })).toHaveValue('https://127.0.0.1:9/share/web-shop/stm_abc');
});

test('[D9] a file and a link of macOS reach the app, before and after its window', { tag: '@long' }, async ({ launch, machine }) => {
  const dir = machine.path('named.stemma');
  expect((await machine.run('init', dir)).code).toBe(0);
  const app = await launch();
  void app.app.evaluate(({ app: electron }, path) => void electron.emit('open-file', { preventDefault: () => undefined }, path), dir).catch(() => {});
  await expect.poll(() => app.app.windows().map((window) => window.url())).toEqual([expect.anything(), expect.stringContaining('named')]);
});

test('[D10] [D12] the menu has recent projects, diagnostics and the check for updates', { tag: '@long' }, async ({ launch, machine }) => {
  machine.giveHistory();
  const app = await launch();
  await importAll(app.page);
  const recent = (): Promise<string[]> =>
    app.app.evaluate(({ Menu }) => {
      const file = Menu.getApplicationMenu()?.items.find((item) => item.label === 'File')?.submenu;
      return file?.items.find((item) => item.label === 'Open Recent')?.submenu?.items.map((item) => item.label) ?? [];
    });
  await expect.poll(recent).toHaveLength(1);
  const press = (label: string): Promise<void> =>
    app.app.evaluate(
      ({ Menu }, name) =>
        Menu.getApplicationMenu()
          ?.items.find((item) => item.role === 'help')
          ?.submenu?.items.find((item) => item.label === name)
          ?.click(),
      label,
    );
  await press('Copy Diagnostics');
  const copied = await app.app.evaluate(({ clipboard }) => clipboard.readText());
  expect(JSON.parse(copied)).toMatchObject({ installed: 'checkout', versions: { electron: expect.any(String) } });
  expect(copied).not.toContain(machine.dir);
  await answerBoxes(app, 'OK');
  await press('Check for Updates…');
  await expect.poll(() => boxes(app)).toEqual(['This is a checkout, not a package. Update it with git.']);
});
