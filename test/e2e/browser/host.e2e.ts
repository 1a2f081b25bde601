import { expect, test } from '../../support/e2e.js';
import { commits, complaints } from '../../support/window.js';

test.describe('the window in a browser', () => {
  test('runs under its policy: no inline script, nothing from elsewhere', async ({ page, machine }) => {
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
    expect(page.url()).not.toContain(host.token);
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
    test(`who is not known is told why and what to do, on a page that needs no script, ${colorScheme}`, async ({ browser, machine }) => {
      const host = await machine.web();
      expect((await fetch(host.url, { redirect: 'manual' })).status).toBe(303);
      const page = await (await browser.newContext({ colorScheme, javaScriptEnabled: false })).newPage();
      for (const [url, title, next] of [
        [host.url, 'This link was used already', 'end Stemma in its terminal with Ctrl+C and start it again'],
        [`${host.origin}/?token=of-yesterday`, 'This link is of another start', 'Open the link that stands last in the terminal'],
        [`${host.origin}/#/chain`, 'Stemma does not know this browser', 'Open the link that stands in the terminal'],
      ] as const) {
        expect((await page.goto(url))?.status()).toBe(401);
        await expect(page.getByRole('heading', { name: title })).toBeVisible();
        await expect(page.getByText(next)).toBeVisible();
        await expect(page.locator('body')).toHaveCSS('background-color', ground);
      }
    });
  }

  test('another page on this machine cannot speak to it', async ({ page, machine }) => {
    const [host, stranger] = [await machine.web(), await machine.web()];
    await page.goto(host.url);
    await expect(page.getByRole('button', { name: 'Open the sample project' })).toBeVisible();
    // The stranger is another loopback port: the same site to the browser, so that cookies travel, and yet another origin.
    await page.goto(stranger.url);
    const socket = await page
      .evaluate(
        (url) =>
          new Promise((resolve) => {
            const tried = new WebSocket(url);
            tried.onopen = () => resolve('open');
            tried.onerror = () => resolve('refused');
          }),
        `${host.origin.replace('http', 'ws')}/rpc`,
      )
      .catch(() => 'refused');
    expect(socket).toBe('refused');
  });

  test('when the host is gone, the window says so and keeps showing what it has read', async ({ page, machine }) => {
    const host = await machine.web();
    const loaded = page.waitForResponse(/assets\/storage-.*\.js$/);
    await page.goto(host.url);
    await page.getByRole('button', { name: 'Open the sample project' }).click();
    await expect(commits(page).first()).toBeVisible();
    await loaded;
    const shown = await commits(page).count();
    host.process.kill('SIGKILL');
    await expect(page.getByRole('alert')).toBeVisible();
    await machine.web('--port', String(host.port));
    // A new host at the same address has another token, and this window is a stranger to it.
    await expect(page.getByRole('alert')).toBeVisible();
    expect(await commits(page).count()).toBe(shown);
    // A view that nobody looked at before is there all the same; what it asks waits for the engine.
    await page.getByRole('tab', { name: 'Storage' }).click();
    await expect(page.getByRole('region', { name: 'Give space back' })).toBeVisible();
  });
});
