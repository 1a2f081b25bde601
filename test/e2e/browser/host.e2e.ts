import { expect, test } from '../../support/e2e.js';
import { commits, complaints, openSettings, settledCount } from '../../support/window.js';

test.describe('the window in a browser', () => {
  test('runs under its policy: no inline script, nothing from other origins', { tag: '@long' }, async ({ page, machine }) => {
    const met = complaints(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const host = await machine.web();
    await page.goto(host.url);
    await page.getByRole('button', { name: 'Open the sample project' }).click();
    await expect(commits(page).first()).toBeVisible();
    expect(met).toEqual([]);
    expect(asked.filter((url) => !url.startsWith(`${host.origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:'))).toEqual([]);

    const inline = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.ran = true';
      document.head.append(script);
      const image = document.createElement('div');
      image.innerHTML = '<img src="x" onerror="globalThis.ran = true">';
      document.body.append(image);
      return new Promise((resolve) => setTimeout(() => resolve('ran' in globalThis), 200));
    });
    expect(inline).toBe(false);
    const fetched = await page.evaluate(() =>
      fetch('https://example.com/').then(
        () => 'let through',
        () => 'refused',
      ),
    );
    expect(fetched).toBe('refused');
  });

  test('the link is gone from the address, and a second browser cannot use it', async ({ page, browser, machine }) => {
    const host = await machine.web();
    await page.goto(host.url);
    await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
    expect(page.url()).not.toContain(host.code);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.reload();
    await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
    const other = await (await browser.newContext()).newPage();
    const answer = await other.goto(host.url);
    expect(answer?.status()).toBe(401);
  });

  for (const [colorScheme, ground] of [
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(20, 21, 24)'],
  ] as const) {
    test(`[T41] an invalid link leads to a page that says what to do, ${colorScheme}`, async ({ browser, machine }) => {
      const host = await machine.web();
      expect((await fetch(host.url, { redirect: 'manual' })).status).toBe(303);
      const page = await (await browser.newContext({ colorScheme, javaScriptEnabled: false })).newPage();
      for (const [url, title] of [
        [host.url, 'This link was already used'],
        [`${host.origin}/?token=of-yesterday`, 'This link is not valid'],
        [`${host.origin}/#/chain`, 'This browser is not signed in'],
      ] as const) {
        expect((await page.goto(url))?.status()).toBe(401);
        await expect(page.getByRole('heading', { name: title })).toBeVisible();
        await expect(page.getByText('Open the newest link in the terminal')).toBeVisible();
        await expect(page.locator('body')).toHaveCSS('background-color', ground);
      }
      await page.getByRole('button', { name: 'Print a new link' }).click();
      await expect(page.getByRole('heading', { name: 'Look at the terminal' })).toBeVisible();
      const [link = ''] = /http\S+/.exec(host.said().split('New link: ')[1] ?? '') ?? [];
      expect(link).not.toBe(host.url);
      expect((await page.goto(link))?.status()).toBe(200);
    });
  }

  test('without a host the window says so and keeps the loaded content', { tag: '@long' }, async ({ page, machine }) => {
    const host = await machine.web();
    const loaded = page.waitForResponse(/assets\/settings-.*\.js$/);
    await page.goto(host.url);
    await page.getByRole('button', { name: 'Open the sample project' }).click();
    await expect(commits(page).first()).toBeVisible();
    await loaded;
    const shown = await settledCount(commits(page));
    host.process.kill('SIGKILL');
    // A view whose question was on its way may say so as well.
    const offline = page.getByRole('alert').filter({ hasText: 'does not answer' });
    await expect(offline).toBeVisible();
    await machine.web('--port', String(host.port));
    // A new host at the same address has new secrets, so this window is not signed in to it.
    await expect(offline).toBeVisible();
    await expect(commits(page)).toHaveCount(shown);
    // A view that was not open before still opens; its questions wait for the engine.
    await openSettings(page, 'Storage');
    await expect(page.getByRole('region', { name: 'Free space' })).toBeVisible();
  });
});
