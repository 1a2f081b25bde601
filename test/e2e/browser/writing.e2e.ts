import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import type { SharedHost } from '../../support/shared-host.js';
import { commits, confirmWrite, openContext, sheet } from '../../support/window.js';

async function openExport(page: Page, shared: SharedHost): Promise<void> {
  await shared.open(page, 'Sample');
  await openContext(page, commits(page).first());
  await page.getByRole('button', { name: 'Export', exact: true }).first().click();
}

const question = (page: Page) => page.getByRole('alertdialog', { name: 'Write this file?' });

async function write(page: Page, file: string): Promise<void> {
  await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
}

test('[T47] the window asks before it first writes to a folder, and writes nothing when refused', { tag: '@long' }, async ({
  page,
  machine,
  shared,
}) => {
  await openExport(page, shared);
  const file = machine.path('work', 'first.jsonl');
  await write(page, file);
  await expect(question(page)).toContainText(file);
  expect(existsSync(file)).toBe(false);
  // A second Enter after the path must not confirm it.
  await expect(question(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(sheet(page).getByRole('alert')).toContainText(`You did not allow Stemma to write ${file}`);
  expect(existsSync(file)).toBe(false);

  await write(page, file);
  await confirmWrite(page, file);
  await expect(sheet(page).getByText(/of Claude Code/)).toBeVisible();
  expect(readFileSync(file, 'utf8')).not.toBe('');
});

test('[T47] an allowed folder is not asked for again; other folders and hidden files are', { tag: '@long' }, async ({ page, machine, shared }) => {
  await openExport(page, shared);
  mkdirSync(machine.path('work', 'below'));
  await write(page, machine.path('work', 'first.jsonl'));
  await confirmWrite(page, machine.path('work', 'first.jsonl'));
  await expect(sheet(page).getByText(/of Claude Code/)).toBeVisible();
  await write(page, machine.path('work', 'second.jsonl'));
  await expect.poll(() => existsSync(machine.path('work', 'second.jsonl'))).toBe(true);
  for (const other of [machine.path('work', 'below', 'third.jsonl'), machine.path('work', '.profile'), machine.path('outside.jsonl')]) {
    await write(page, other);
    await expect(question(page)).toContainText(other);
    await question(page).getByRole('button', { name: 'Cancel' }).click();
    await expect(question(page)).toHaveCount(0);
    expect(existsSync(other)).toBe(false);
  }
});
