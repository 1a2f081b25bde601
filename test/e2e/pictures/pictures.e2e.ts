import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import { commits, entries, view } from '../../support/window.js';

/** Where the pictures of README and docs lie. */
const folder = join(root, 'docs', 'pictures');

test.use({ viewport: { width: 1200, height: 750 } });

/** Shows a view of the open project with what is selected. */
async function open(page: Page, name: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await page.evaluate(
    ([to, changes]) => {
      const query = new URLSearchParams(location.hash.split('?')[1]);
      for (const [key, value] of Object.entries(changes as Record<string, string>)) value ? query.set(key, value) : query.delete(key);
      location.hash = `#/${to as string}?${query.toString()}`;
    },
    [name, more] as const,
  );
  await expect(view(page)).not.toBeEmpty();
}

/** Saves a picture once nothing moves or loads any more. */
async function shoot(page: Page, name: string): Promise<void> {
  await expect(page.locator('.skeleton, .placeholder, [aria-busy="true"]')).toHaveCount(0);
  await page.mouse.move(0, 0);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}

test('pictures of the window for README and docs', async ({ page, machine }) => {
  mkdirSync(folder, { recursive: true });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Open the sample project' }).click();
  await expect(commits(page).first()).toBeVisible();
  await open(page, 'sessions');
  await page.getByRole('button', { name: 'Not now' }).click();
  await shoot(page, 'sessions');

  await open(page, 'chain');
  const fixed = page.getByRole('option', { name: /^Fix it, please/ });
  await fixed.click();
  await expect(page.getByText(/counted, 7% of/).first()).toBeVisible();
  await shoot(page, 'chain');
  const tip = page.getByRole('option', { name: /^Call it 1\.2\.1/ });
  const commit = (await tip.getAttribute('data-commit')) ?? '';

  await open(page, 'context');
  await expect(page.getByText(/counted, 7% of/)).toHaveCount(2);
  await shoot(page, 'context');
  const block = entries(page).locator('.block', { hasText: 'Fix it, please. Test first.' });
  await block.hover();
  await block.getByRole('button', { name: 'Edit & fork' }).click();
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Fix it, please. Write the failing test first, and run it.');
  await shoot(page, 'edit-and-fork');

  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await open(page, 'calls', { commit });
  await shoot(page, 'calls');
  await open(page, 'replay');
  await shoot(page, 'replay');
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await open(page, 'reviews');
  await shoot(page, 'reviews');
});
