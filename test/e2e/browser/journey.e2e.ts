import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '../../support/e2e.js';
import { commits, complaints, entries, openContext, sheet, shownKeys } from '../../support/window.js';

test('open, browse, read, fork in the middle of a turn, export, import the export and find the same entries', async ({ page, machine }) => {
  const met = complaints(page);
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);

  // Open: what is on this machine is found, and comes in with one button.
  await expect(page.getByRole('treeitem', { name: /larder/ }).first()).toBeVisible();
  await page.getByRole('button', { name: 'Import all' }).click();

  // Browse: branches, a compaction, a subagent.
  await expect(commits(page).first()).toBeVisible();
  await expect(page.getByRole('option', { name: /compaction/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /subagent/ })).toBeVisible();
  const fixed = page.getByRole('option', { name: /^Fix it, please\. Test first\./ });
  await expect(fixed).toBeVisible();

  // Read.
  await openContext(page, fixed);
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
  const before = await shownKeys(page);
  expect(before.length).toBeGreaterThan(6);

  // Fork in the middle of the turn: after its first tool call that has a result, which is not the turn's last entry.
  await entries(page).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
  const cut = before.at(-4) ?? '';
  const block = page.locator(`[data-entry="${cut}"]`);
  await block.hover();
  await block.getByRole('button', { name: 'Fork from here' }).click();
  const keepResults = sheet(page).getByRole('button', { name: 'Keep the results too' });
  if (await keepResults.isVisible()) await keepResults.click();
  await sheet(page).getByRole('textbox', { name: 'Name' }).fill('Another way to fix it');
  await sheet(page).getByRole('button', { name: 'Make the fork' }).click();
  await expect(sheet(page)).toContainText('The fork is made');
  await sheet(page).getByRole('button', { name: 'Open the fork' }).click();
  await expect(page).not.toHaveURL(/entry=/);
  const forked = await shownKeys(page);
  expect(forked).toEqual(before.slice(0, before.indexOf(cut) + 1));

  // The chain shows it as what it is.
  await page.getByRole('tab', { name: 'Chain' }).click();
  await expect(page.getByRole('option', { name: /^Another way to fix it.*fork made here/ })).toBeVisible();

  // Export.
  await page.getByRole('tab', { name: 'Context' }).click();
  await page.getByRole('button', { name: 'Export', exact: true }).first().click();
  const file = machine.path('forked.jsonl');
  await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Write the file' }).click();
  await expect(sheet(page).getByText(/of Claude Code.*as it was recorded/)).toBeVisible();
  expect(existsSync(file)).toBe(true);
  const written = readFileSync(file, 'utf8');

  // Never over a file.
  await sheet(page).getByRole('button', { name: 'Write the file' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('Nothing was written');
  expect(readFileSync(file, 'utf8')).toBe(written);

  // What would be taken out is listed before it is.
  await sheet(page)
    .getByRole('checkbox', { name: /Take out secrets/ })
    .check();
  await expect(sheet(page).getByRole('list', { name: 'What is taken out' }).or(sheet(page).getByText('Nothing was found'))).toBeVisible();
  await page.keyboard.press('Escape');

  // Import the export into a project of its own, and find the same entries.
  await page.getByRole('tab', { name: 'Library' }).click();
  await page.getByRole('button', { name: 'New project…' }).click();
  await page.getByRole('textbox', { name: 'Folder of the new project' }).fill(machine.path('again'));
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('again', { exact: true }).first()).toBeVisible();
  await page.getByRole('tab', { name: 'Library' }).click();
  await page.getByRole('textbox', { name: 'Path to import or open' }).fill(file);
  await page.getByRole('region', { name: 'Open a path' }).getByRole('button', { name: 'Open' }).click();
  await expect(commits(page).first()).toBeVisible();
  await openContext(page, commits(page).first());
  expect(await shownKeys(page)).toEqual(forked);

  expect(met).toEqual([]);
});

test('resume in Claude Code: the session is where the agent looks, and the command is shown', async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await sheet(page).getByRole('button', { name: 'Write the session' }).click();
  await expect(sheet(page)).toContainText('claude --resume');
  await expect(sheet(page)).toContainText(machine.claude);
});

test('an empty machine has the sample, one click away', async ({ page, machine }) => {
  const { url } = await machine.web();
  await page.goto(url);
  await expect(page.getByText('No agent histories were found on this machine')).toBeVisible();
  await page.getByRole('button', { name: 'Open the sample project' }).click();
  await expect(commits(page).first()).toBeVisible();
  expect(await commits(page).count()).toBeGreaterThan(8);
});

test('paths of the command line are opened: a project, and a session to import', async ({ page, machine }) => {
  const place = machine.giveHistory();
  const dir = machine.path('named.stemma');
  expect((await machine.run('init', dir)).code).toBe(0);
  const { url } = await machine.web(dir, `${place}/4b9013ed-af4c-4d72-987c-ac3ad36a4dba.jsonl`);
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await expect(page).toHaveURL(/named\.stemma/);
});
