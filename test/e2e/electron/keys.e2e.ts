import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type App, expect, test } from '../../support/electron.js';
import { hasKeyring, openKeyring } from '../../support/keyring.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { confirmWrite, importAll, openRunAgain, sheet } from '../../support/window.js';

const key = 'sk-ant-a-key-that-nobody-may-see-0123456789';

/** The files below a folder that contain the text, as UTF-8 or UTF-16. */
function holders(dir: string, text: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .filter((path) => {
      const bytes = readFileSync(path);
      return bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le'));
    });
}

/** Opens Run again for a turn, and the sheet with the providers. */
async function openProviders(page: Page): Promise<void> {
  await importAll(page);
  await page.getByRole('option', { name: /^Fix it, please\. Test first\./ }).click();
  await openRunAgain(page);
  await page.getByRole('button', { name: 'Providers and keys' }).click();
}

async function setKey(page: Page, url: string): Promise<void> {
  const form = sheet(page).getByRole('form', { name: 'Add a provider' });
  await form.getByRole('combobox').selectOption('anthropic');
  await form.getByRole('textbox', { name: 'Name' }).fill('Ours');
  await form.getByRole('textbox', { name: 'Address' }).fill(url);
  await form.getByLabel('Key').fill(key);
  await form.getByRole('button', { name: 'Add provider' }).click();
}

/** All strings of the window's memory. */
async function memoryOf({ page }: App): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  return chunks.join('');
}

test.describe('with a keyring', () => {
  test.use({ switches: ['--password-store=gnome-libsecret'] });

  test('a sealed key works and is in no file, log, project, export or window memory', { tag: '@long' }, async ({ launch, machine }) => {
    test.skip(!hasKeyring(), 'dbus-daemon and gnome-keyring-daemon are not installed');
    const server = await modelServer((response) => stream(response, messageEvents({ text: 'Nothing needs to be fixed.' })));
    const keyring = await openKeyring(machine);
    machine.giveHistory();
    const app = await launch();
    const { page } = app;
    await openProviders(page);
    await setKey(page, server.url);
    await expect(sheet(page).getByRole('listitem').filter({ hasText: 'Ours' })).toContainText('has a key');
    await page.keyboard.press('Escape');
    // The form offers the provider at once.
    await page.getByRole('combobox', { name: 'Provider' }).selectOption({ label: 'Ours' });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.getByRole('article', { name: 'Reply', exact: true })).toContainText('Nothing needs to be fixed.');
    expect(server.asked.at(-1)?.headers['x-api-key']).toBe(key);

    const written = JSON.parse(readFileSync(machine.path('stemma', 'providers.json'), 'utf8')) as { sealed?: string }[];
    expect(written[0]?.sealed).toMatch(/^[A-Za-z0-9+/=]{40,}$/);
    expect(Buffer.from(written[0]?.sealed ?? '', 'base64').includes(key)).toBe(false);
    const file = machine.path('comparison.md');
    const reply = page.getByRole('article', { name: 'Reply', exact: true });
    await reply.getByRole('button', { name: 'Open branch' }).click();
    await page.getByRole('button', { name: 'Export', exact: true }).first().click();
    await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
    await sheet(page).getByRole('button', { name: 'Write file' }).click();
    await confirmWrite(page, file);
    await expect(
      sheet(page)
        .getByText(/Wrote|as recorded|translated/)
        .first(),
    ).toBeVisible();
    expect(holders(machine.dir, key)).toEqual([]);
    expect(app.said()).not.toContain(key);
    const memory = await memoryOf(app);
    expect(memory).not.toContain(key);
    // The search itself works: it finds text that is there.
    expect(memory).toContain('Nothing needs to be fixed.');
    expect(holders(machine.dir, 'Nothing needs to be fixed.')).toContain(file);
    await keyring.close();
    server.close();
  });
});

test.describe('without a keyring', () => {
  test.use({ switches: ['--password-store=basic'] });

  test('a key is refused with a hint; a server without a key is accepted', { tag: '@long' }, async ({ launch, machine }) => {
    machine.giveHistory();
    const app = await launch();
    await openProviders(app.page);
    await expect(sheet(app.page).getByText(/cannot store secrets here/)).toBeVisible();
    await expect(sheet(app.page).getByText(/ANTHROPIC_API_KEY/)).toBeVisible();
    // There is no field for a key, but a server without a key can be added.
    await expect(sheet(app.page).getByLabel('Key')).toHaveCount(0);
    const form = sheet(app.page).getByRole('form', { name: 'Add a provider' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Local');
    await form.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/v1');
    await form.getByRole('button', { name: 'Add provider' }).click();
    await expect(sheet(app.page).getByRole('listitem').filter({ hasText: 'Local' })).toContainText('no key');
    expect(JSON.parse(readFileSync(machine.path('stemma', 'providers.json'), 'utf8'))).toMatchObject([{ title: 'Local', wire: 'openai' }]);
  });
});
