import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type Page, chromium as playwright } from '@playwright/test';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { chromium } from '../support/chromium.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';

const executablePath = chromium();
let own: Machine;
let host: WebHost;
let browser: Browser;
/** A hostile server on another loopback port: the same site for the browser, so that it sends our cookie there too. */
let stranger: Server;
const cookiesSeen: string[] = [];
let hostile: Page;

beforeAll(async () => {
  await ensureBuilt();
  own = machine();
  host = await own.web();
  browser = await playwright.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
  stranger = createServer((request, response) => {
    cookiesSeen.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html').end('<title>stranger</title><body>');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const context = await browser.newContext();
  const signedIn = await context.newPage();
  await signedIn.goto(host.url);
  await signedIn.getByRole('button', { name: 'Open the sample project' }).waitFor({ timeout: 120_000 });
  hostile = await context.newPage();
  await hostile.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`);
});

afterAll(async () => {
  await browser?.close();
  stranger?.close();
  await own?.[Symbol.asyncDispose]();
});

/** What the WebSocket does in a page: `open` or `refused`. */
const tryWebSocket = (page: Page): Promise<string> =>
  page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url);
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('refused');
      }),
    `ws://127.0.0.1:${host.port}/rpc`,
  );

describe.skipIf(!executablePath)('a page on another loopback port of a browser that is signed in (needs a Chromium)', () => {
  test('[T44] cannot open the WebSocket, which the own page can', async () => {
    expect(cookiesSeen.join()).toContain(`stemma-${host.port}=`);
    expect(await tryWebSocket(hostile)).toBe('refused');
    const [signedIn] = hostile.context().pages();
    expect(signedIn && (await tryWebSocket(signedIn))).toBe('open');
  });

  test('[T44] reads nothing with fetch, with and without CORS', async () => {
    const read = await hostile.evaluate(async (origin) => {
      const results: string[] = [];
      for (const path of ['/', '/index.html', '/api/openapi.json', '/api/library/recent', '/projects/p/cards/c'])
        for (const mode of ['cors', 'no-cors'] as const)
          for (const method of ['GET', 'POST'])
            results.push(
              await fetch(origin + path, { mode, method, credentials: 'include' }).then(
                async (response) => `${response.type} ${await response.text()}`,
                () => 'failed',
              ),
            );
      return [...new Set(results)];
    }, host.origin);
    expect(read.filter((result) => result !== 'failed' && result !== 'opaque ')).toEqual([]);
  });

  test.each([
    ['a fetch without CORS', (url, body) => void fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body })],
    ['a beacon', (url, body) => void navigator.sendBeacon(url, body)],
    [
      'a form',
      (url, body) => {
        const form = document.createElement('form');
        Object.assign(form, { method: 'post', action: url, enctype: 'text/plain', target: '_blank' });
        const input = document.createElement('input');
        Object.assign(input, { name: body.slice(0, -1), value: '}' });
        form.append(input);
        document.body.append(form);
        form.submit();
      },
    ],
    [
      'a preflighted fetch',
      (url, body) =>
        void fetch(url, { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body }).catch(() => {}),
    ],
  ] as readonly (readonly [string, (url: string, body: string) => void])[])('[T44] causes nothing with %s', async (_way, send) => {
    const dir = own.path('work', 'stolen.stemma');
    const url = `${host.origin}/api/project/create`;
    const refused = hostile.context().waitForEvent('requestfinished', (request) => request.url() === url);
    const failed = hostile.context().waitForEvent('requestfailed', (request) => request.url() === url);
    await hostile.evaluate(`(${send})(${JSON.stringify(url)}, ${JSON.stringify(JSON.stringify({ dir }))})`);
    await Promise.race([refused, failed]);
    refused.catch(() => {});
    failed.catch(() => {});
    // The host answers in order: after this answer, it has dealt with the attack.
    await fetch(host.origin);
    expect(existsSync(dir)).toBe(false);
  });

  test('[T44] embeds nothing: no frame, script, image or event stream', async () => {
    const loaded = await hostile.evaluate((origin) => {
      const tries = [
        ['iframe', 'src', '/'],
        ['script', 'src', '/api/openapi.json'],
        ['img', 'src', '/favicon.ico'],
        ['embed', 'src', '/'],
        ['object', 'data', '/'],
      ].map(
        ([tag = '', attribute = '', path]) =>
          new Promise<string>((resolve) => {
            const element = document.createElement(tag);
            element.onload = () => resolve(`${tag} ${(element as HTMLIFrameElement).contentDocument?.title ?? 'loaded'}`);
            element.onerror = () => resolve('refused');
            element.setAttribute(attribute, origin + path);
            document.body.append(element);
            setTimeout(() => resolve('nothing'), 2_000);
          }),
      );
      const events = new Promise<string>((resolve) => {
        const source = new EventSource(`${origin}/api/project/changes`, { withCredentials: true });
        source.onopen = () => resolve('event stream');
        source.onerror = () => resolve('refused');
      });
      return Promise.all([...tries, events]);
    }, host.origin);
    // A frame "loads" the browser's own error page, which has no document for us.
    expect(loaded.filter((result) => !['refused', 'nothing', 'iframe loaded', 'embed loaded', 'object loaded'].includes(result))).toEqual([]);
  });

  test('[T44] gets no hold of a window that it opens', { tags: 'long' }, async () => {
    const popup = hostile.context().waitForEvent('page');
    const reach = await hostile.evaluate(async (url) => {
      const opened = window.open(url);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      try {
        return opened?.closed ? 'cut off' : String(opened?.document.title);
      } catch {
        return 'cross-origin';
      }
    }, host.origin);
    await (await popup).close();
    expect(['cut off', 'cross-origin']).toContain(reach);
  });

  test('[T44] leaves the window of the person as it was', async () => {
    const [signedIn] = hostile.context().pages();
    await signedIn?.reload();
    await signedIn?.getByRole('button', { name: 'Open the sample project' }).waitFor({ timeout: 120_000 });
    expect(host.said()).not.toContain('the engine ended');
  });
});
