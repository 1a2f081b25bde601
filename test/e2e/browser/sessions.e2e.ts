import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import { commits, complaints, entries, highlightedWords, place, sessionRow, sheet } from '../../support/window.js';

/** A history with half of a character in it, which a model refuses. */
const lone = 'test/fixtures/cases/lone-surrogate/5b903727-4af8-42c3-a02d-f796d54b645e.jsonl';

test('[W5] rename, pin, tag, archive and delete with undo, and the file of the agent stays', async ({ page, machine }) => {
  const met = complaints(page);
  const folder = machine.giveHistory();
  const file = join(folder, '9dec3024-c217-4237-8dba-1d670b433c80.jsonl');
  const bytes = readFileSync(file);
  const broken = join(folder, basename(lone));
  cpSync(join(root, lone), broken);
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: /^Import \d+ new$/ }).click();
  await expect(page.getByRole('button', { name: 'Up to date' })).toBeVisible();
  const choose = async (row: RegExp, item: string): Promise<void> => {
    await sessionRow(page, row).click({ button: 'right' });
    await page.getByRole('menuitem', { name: item }).click();
  };

  const rename = async (): Promise<void> => {
    await choose(/Jam that is gone/, 'Rename…');
    await sheet(page).getByRole('textbox', { name: 'Title' }).fill('The jam');
    await sheet(page).getByRole('button', { name: 'Save' }).click();
    await expect(sessionRow(page, /The jam/)).toBeVisible();
  };
  await rename();
  // The key undoes the last action of the window.
  await page.keyboard.press('ControlOrMeta+z');
  await expect(sessionRow(page, /The jam/)).toHaveCount(0);
  await rename();
  await choose(/The jam/, 'Tags…');
  await sheet(page).getByRole('textbox', { name: 'Tags' }).fill('dates, june');
  await sheet(page).getByRole('button', { name: 'Save' }).click();
  await expect(sessionRow(page, /The jam/)).toContainText('june');
  await choose(/An overview of larder/, 'Pin');
  await expect(page.getByRole('row', { name: /^Pinned 1/ })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(page.getByRole('row', { name: /^Pinned/ })).toHaveCount(0);
  await expect(sessionRow(page, /The jam/)).toContainText('june');

  await choose(/The jam/, 'Archive');
  await expect(sessionRow(page, /The jam/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(sessionRow(page, /The jam/)).toBeVisible();
  await choose(/The jam/, 'Delete from the project');
  await expect(sessionRow(page, /The jam/)).toHaveCount(0);
  expect(readFileSync(file)).toEqual(bytes);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(sessionRow(page, /The jam/)).toBeVisible();

  // A session that a model would refuse: each change is shown before it is made, and the fork is handed to the agent.
  await choose(/The jam/, 'Repair & continue…');
  await expect(sheet(page)).toContainText('Nothing in this session would be refused by a model.');
  await expect(sheet(page).getByRole('button', { name: 'Repair & continue' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await choose(/ask me/, 'Repair & continue…');
  await expect(sheet(page)).toContainText('The fork gets 1 change. The session itself stays as it is.');
  await expect(sheet(page).getByRole('listitem')).toContainText('Half of a character');
  await sheet(page).getByRole('button', { name: 'Repair & continue' }).click();
  await expect(page.getByRole('dialog', { name: /^Resume/ })).toBeVisible();
  expect(readFileSync(broken)).toEqual(readFileSync(join(root, lone)));
  expect(met).toEqual([]);
});

test('[W8] the filter finds content before the import, and a grown session says Update', { tag: '@long' }, async ({ page, machine }) => {
  const folder = machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' });
  await filter.fill('damson');
  await expect(sessionRow(page, /Jam that is gone/)).toContainText('not imported');
  await expect(sessionRow(page, /An overview of larder/)).toHaveCount(0);
  await filter.fill('no such words anywhere');
  await expect(page.getByText('No matching sessions')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByRole('button', { name: /^Import \d+ new$/ }).click();
  await expect(page.getByRole('button', { name: 'Up to date' })).toBeVisible();
  await filter.fill('damson');
  await expect(sessionRow(page, /Jam that is gone/)).toBeVisible();
  await filter.fill('');

  const file = join(folder, '9dec3024-c217-4237-8dba-1d670b433c80.jsonl');
  const last = readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
  appendFileSync(file, `${last.replace(/"uuid":"[^"]*"/, '"uuid":"00000000-0000-4000-8000-000000000001"')}\n`);
  await page.getByRole('button', { name: 'Up to date' }).click();
  await page.getByRole('button', { name: 'Update 1' }).click();
  await expect(page.getByRole('button', { name: 'Up to date' })).toBeVisible();
  await expect(sessionRow(page, /Jam that is gone/)).toHaveCount(1);
});

test('[W8] a hit opens at its words, before and after the import', { tag: '@long' }, async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' });
  for (const words of ['damson', 'midnight']) {
    await filter.fill(words);
    await expect(sessionRow(page, /Jam that is gone/)).toContainText(new RegExp(words, 'i'));
    await sessionRow(page, /Jam that is gone/).click();
    await expect(page).toHaveURL(/context.*entry=/);
    await expect.poll(() => highlightedWords(page)).toContain(words);
    await place(page, 'Sessions').click();
  }
});

test('[W9] the breadcrumb leads from a turn to its session, branch and project', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await place(page, 'Sessions').click();
  await sessionRow(page, /Jam that is gone/).click();
  await expect(commits(page).first()).toBeVisible();
  const crumbs = page.getByRole('list', { name: 'You are here' });
  await expect(crumbs.getByRole('link')).toHaveText([/larder/, /Jam that is gone/, /main/, 'Turn 6 of 6']);
  await expect(page).toHaveTitle(/^Turn 6 of 6 – main – Jam that is gone on its last day – larder – Stemma$/);
  await crumbs.getByRole('button', { name: 'Switch turn' }).click();
  await page.getByRole('menuitem', { name: /^Turn 1:/ }).click();
  await expect(crumbs.getByRole('link').last()).toHaveText(/^Turn 1 of /);
  // Two sessions begin with this turn. It is named after the one that was chosen.
  await expect(crumbs.getByRole('link').nth(1)).toHaveText('Jam that is gone on its last day');
  await expect(page).toHaveTitle(/^Turn 1 of .* – Jam that is gone on its last day/);
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Context', exact: true }).click();
  await expect(page).toHaveTitle(/Jam that is gone on its last day/);
  await crumbs.getByRole('button', { name: 'Switch session' }).click();
  await page.getByRole('menuitem', { name: /An overview of larder/ }).click();
  await expect(crumbs).toContainText('An overview of larder');
  await crumbs.getByRole('link', { name: /^Turn \d+ of \d+$/ }).click();
  await expect(entries(page)).toBeVisible();
  await crumbs.getByRole('link', { name: 'An overview of larder' }).click();
  await expect(commits(page).first()).toBeVisible();
  // The chain has the same titles, with a search.
  await page.getByRole('button', { name: /^Session: An overview of larder/ }).click();
  const find = page.getByRole('searchbox', { name: 'Find a session' });
  await find.fill('jam gone');
  await expect(page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').nth(1)).toContainText('Jam that is gone');
  await find.press('Enter');
  await expect(crumbs).toContainText('Jam that is gone');
});

test('[W12] Chain, Context, Calls and the breadcrumb give a turn the same number', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await place(page, 'Sessions').click();
  await sessionRow(page, /Jam that is gone/).click();
  // After a compaction, the context has fewer turns than the branch.
  await page.getByRole('option', { name: /^Now write the changelog entry.* turn 5/ }).click();
  await expect(page.getByRole('list', { name: 'You are here' }).getByRole('link').last()).toHaveText('Turn 5 of 6');
  await place(page, 'Context').click();
  await expect(page.getByRole('button', { name: /^Turn 5 of 6 Now write/ })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Turns', exact: true }).getByRole('button').last()).toHaveText(/^5Now write/);
  await place(page, 'Calls').click();
  await expect(page.getByRole('complementary', { name: 'Call' })).toContainText('turn 5');
});
