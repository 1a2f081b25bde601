import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { answer, prompt } from './claude-lines.js';
import type { Machine } from './machine.js';
import { entries, place, sessionRow } from './window.js';

/** Counts what a person clicks from now on, wherever it is. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counter = window as unknown as { clicks: number };
    const isFirst = !('clicks' in window);
    counter.clicks = 0;
    if (isFirst) addEventListener('click', (event) => event.isTrusted && counter.clicks++, true);
  });
  return () => page.evaluate(() => (window as unknown as { clicks: number }).clicks);
}

/** The id of the session that `giveRunnableSession` writes. */
export const sessionOfShop = '22222222-2222-4222-8222-222222222222';

/** A session of Claude Code in a folder that exists, and a terminal that writes down what it is asked to run. */
export function giveRunnableSession(machine: Machine): { readonly folder: string; readonly file: string; readonly ran: string } {
  const folder = machine.path('work', 'shop');
  mkdirSync(folder, { recursive: true });
  const history = join(machine.claude, 'projects', '-work-shop');
  mkdirSync(history, { recursive: true });
  const extra = { cwd: folder, sessionId: sessionOfShop };
  const file = join(history, `${sessionOfShop}.jsonl`);
  writeFileSync(
    file,
    prompt('u1', 'Why does the shop sell what it does not have?', { extra }) +
      answer('a1', 'Two buyers read the same stock.', { parent: 'u1', extra }) +
      prompt('u2', 'Fix it with a lock.', { parent: 'a1', extra }) +
      answer('a2', 'Done: the stock is locked while it is read.', { parent: 'u2', extra }),
  );
  const ran = machine.path('ran.txt');
  const terminal = machine.path('terminal.sh');
  writeFileSync(terminal, `#!/bin/sh\nprintf '%s\\n' "$@" > ${ran}\n`, { mode: 0o755 });
  Object.assign(machine.env, { TERMINAL: terminal });
  return { folder, file, ran };
}

/** From the list of sessions to the agent at work on an edited prompt. Returns the number of clicks. */
export async function runEditedPrompt(page: Page, { folder, ran }: ReturnType<typeof giveRunnableSession>): Promise<number> {
  await expect(sessionRow(page, /Why does the shop sell/)).toBeVisible();
  const clicks = await countClicks(page);
  await sessionRow(page, /Why does the shop sell/).click();
  await page.getByRole('region', { name: 'Inspector' }).getByRole('button', { name: 'Edit & fork' }).click();
  const field = page.getByRole('textbox', { name: 'Prompt' });
  await expect(field).toHaveValue('Fix it with a lock.');
  await field.fill('Fix it without a lock.');
  await page.getByRole('button', { name: 'Continue in Claude Code' }).click();
  await page.getByRole('alertdialog', { name: 'Write this file?' }).getByRole('button', { name: 'Allow and write' }).click();
  // The terminal makes the file before it writes the command.
  await expect
    .poll(() => (existsSync(ran) ? readFileSync(ran, 'utf8') : ''))
    .toMatch(new RegExp(`cd ${folder} && claude --resume \\S+ 'Fix it without a lock\\.'`));
  await expect(field).toHaveCount(0);
  return clicks();
}

/**
 * From the chain of the sample's history: the costliest miss with cause and price in two clicks, what a compaction lost in two, and what
 * filled the window in one.
 */
export async function findInFewClicks(page: Page): Promise<void> {
  await page.getByRole('option', { name: /^Call it 1\.2\.1/ }).click();
  const toMiss = await countClicks(page);
  await place(page, 'Calls').click();
  await page.getByRole('button', { name: 'Costliest miss' }).click();
  await expect(page.getByRole('complementary', { name: 'Call' })).toContainText(/changed|expired/);
  await expect(page.getByRole('complementary', { name: 'Call' })).toContainText(/\$\d/);
  expect(await toMiss()).toBeLessThanOrEqual(2);
  await place(page, 'Chain').click();
  const toLoss = await countClicks(page);
  const compaction = page.getByRole('option', { name: /compaction/ });
  await expect(compaction).toContainText(/Not mentioned: \d/);
  await compaction.click();
  const losses = page.getByRole('region', { name: 'Lost in this compaction' });
  await losses.getByRole('button', { name: /^Not mentioned/ }).click();
  await expect(losses.getByRole('listitem').first()).toBeVisible();
  expect(await toLoss()).toBeLessThanOrEqual(2);

  await page.getByRole('option', { name: /^Call it 1\.2\.1/ }).click();
  const toCulprit = await countClicks(page);
  await place(page, 'Calls').click();
  const fillers = page.getByRole('region', { name: 'What filled it' });
  await expect(fillers).toBeVisible();
  expect(await toCulprit()).toBe(1);
  await fillers
    .getByRole('button', { name: / result / })
    .first()
    .click();
  await expect(page.getByRole('region', { name: 'Inspector' })).toContainText(/Tool result \d+ of \d+/);
  await expect(
    entries(page)
      .getByText(/✖ what expires today is good until midnight/)
      .first(),
  ).toBeInViewport();
}
