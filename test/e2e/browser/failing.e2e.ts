import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { toView, withSample } from '../../support/views.js';
import { place, sessionRow, view } from '../../support/window.js';

/** Procedures that fail in the window of a page, those whose answers wait, and those that have answered. The first two can change at any time. */
async function troubled(page: Page) {
  const failing = new Set<string>();
  const held = new Map<string, Promise<void>>();
  const answered = new Set<string>();
  await page.routeWebSocket('**/rpc', (socket) => {
    const server = socket.connectToServer();
    const names = new Map<string, string>();
    socket.onMessage(async (message) => {
      const [, id = '', name = ''] = /^\{"i":"(\w+)","p":\{"u":"\/([\w/]+)"/.exec(message.toString()) ?? [];
      names.set(id, name);
      await held.get(name);
      if (!failing.has(name)) return server.send(message);
      const json = { defined: false, code: 'INTERNAL_SERVER_ERROR', status: 500, message: 'Internal server error' };
      socket.send(JSON.stringify({ i: id, p: { s: 500, b: { json } } }));
    });
    server.onMessage((message) => {
      answered.add(names.get(/^\{"i":"(\w+)"/.exec(message.toString())?.[1] ?? '') ?? '');
      socket.send(message);
    });
  });
  return { failing, held, answered };
}

test('Sessions says that histories could not be read, never that all are imported', async ({ page, shared }) => {
  const { failing, held } = await troubled(page);
  failing.add('library/sources');
  await withSample(page, shared);
  await place(page, 'Sessions').click();
  await expect(sessionRow(page, /Jam that is gone/)).toBeVisible();
  const alert = view(page).getByRole('alert').filter({ hasText: 'The histories on this machine could not be read' });
  await expect(alert).toBeVisible();
  await expect(view(page).getByRole('button', { name: 'Up to date' })).toHaveCount(0);

  // While they are looked for, the window does not know yet.
  const { promise, resolve: release } = Promise.withResolvers<void>();
  held.set('library/sources', promise);
  failing.clear();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(view(page).getByRole('button', { name: 'Looking…' })).toBeDisabled();
  release();
  await expect(view(page).getByRole('button', { name: /^(Up to date|Import|Update)/ })).toBeEnabled();
  await expect(alert).toHaveCount(0);
});

test('Sessions shows no list before it knows the sessions of the project', async ({ page, shared }) => {
  const { held, answered } = await troubled(page);
  const dir = await shared.open(page, 'Sample');
  const { promise, resolve: release } = Promise.withResolvers<void>();
  held.set('session/list', promise);
  await shared.show(page, `/sessions?project=${encodeURIComponent(dir)}`);
  answered.clear();
  await page.reload();
  await expect.poll(() => answered.has('library/sessions')).toBe(true);
  await expect(view(page).getByRole('status', { name: 'Looking for sessions' })).toBeVisible();
  await expect(sessionRow(page, /./)).toHaveCount(0);
  release();
  await expect(sessionRow(page, /Jam that is gone/)).toBeVisible();
});

test('Compare and the runs of agents say what could not be read, and read it again', async ({ page, shared }) => {
  const { failing } = await troubled(page);
  const query = await withSample(page, shared);
  failing.add('context/entries').add('runner/list');
  await toView(page, query, 'compare');
  const entries = view(page).getByRole('alert').filter({ hasText: 'Some entries could not be read' });
  await expect(entries).toBeVisible();
  await toView(page, query, 'handover');
  const runs = page.getByRole('complementary', { name: 'Agents' }).getByRole('alert');
  await expect(runs).toContainText('The runs could not be read');
  failing.clear();
  await runs.getByRole('button', { name: 'Try again' }).click();
  await expect(runs).toHaveCount(0);
  await toView(page, query, 'compare');
  await view(page).getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await expect(view(page).getByRole('article').first()).toBeVisible();
  await expect(view(page).getByRole('alert')).toHaveCount(0);
});
